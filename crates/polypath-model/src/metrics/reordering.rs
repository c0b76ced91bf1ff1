//! Reorder density (RFC 5236).

use std::collections::{BTreeMap, BTreeSet};

/// The distribution of displacements: how much later (positive) or earlier (negative) packets came
/// than in order.
///
/// Arrivals get receive indices 1, 2, ... which skip the sequence numbers of lost packets;
/// duplicates get none. A packet that is later than the threshold counts as lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReorderDensity {
    counts: BTreeMap<i64, u64>,
    arrivals: u64,
}

impl ReorderDensity {
    /// The density of a sequence of arrivals, by sequence number. A packet whose displacement is
    /// beyond `threshold` (3 for what TCP sees) counts as lost, as do those that are missing below
    /// the largest.
    pub fn of(arrivals: &[u64], threshold: u64) -> Self {
        let mut lost = missing(arrivals);
        loop {
            let density = Self::with_lost(arrivals, &lost);
            match density.1.iter().find(|(_, displacement)| *displacement > threshold as i64) {
                Some(&(late, _)) => lost.insert(late),
                None => return density.0,
            };
        }
    }

    /// The density, and the displacement of each packet in order of arrival.
    fn with_lost(arrivals: &[u64], lost: &BTreeSet<u64>) -> (Self, Vec<(u64, i64)>) {
        let (mut seen, mut index) = (BTreeSet::new(), 0);
        let mut displacements = Vec::new();
        for &sequence in arrivals {
            if lost.contains(&sequence) || !seen.insert(sequence) {
                continue;
            }
            index += 1;
            while lost.contains(&index) {
                index += 1;
            }
            displacements.push((sequence, index as i64 - sequence as i64));
        }
        let mut density = Self { counts: BTreeMap::new(), arrivals: displacements.len() as u64 };
        for (_, displacement) in &displacements {
            *density.counts.entry(*displacement).or_default() += 1;
        }
        (density, displacements)
    }

    /// The share of packets with this displacement.
    pub fn share(&self, displacement: i64) -> f64 {
        let count = self.counts.get(&displacement).copied().unwrap_or(0);
        if self.arrivals == 0 { 0.0 } else { count as f64 / self.arrivals as f64 }
    }

    /// Displacements that occur, ascending, with their shares; they sum to 1.
    pub fn iter(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        self.counts.keys().map(|&displacement| (displacement, self.share(displacement)))
    }
}

/// Sequence numbers from 1 below the largest that never came.
fn missing(arrivals: &[u64]) -> BTreeSet<u64> {
    let came: BTreeSet<_> = arrivals.iter().copied().collect();
    let largest = came.last().copied().unwrap_or(0);
    (1..largest).filter(|sequence| !came.contains(sequence)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_rd_1() {
        let density = ReorderDensity::of(&[1, 2, 3, 5, 4], 3);
        let shares: Vec<_> = density.iter().collect();
        assert_eq!(shares, [(-1, 0.2), (0, 0.6), (1, 0.2)]);
    }

    #[test]
    fn t_rd_2() {
        let density = ReorderDensity::of(&[1, 4, 3, 5, 3, 8, 7, 6], 3);
        // Displacements 0, -1, +1, 0, -2, 0, +2 of seven packets.
        let shares: Vec<_> = density.iter().map(|(d, share)| (d, (share * 7.0).round())).collect();
        assert_eq!(shares, [(-2, 1.0), (-1, 1.0), (0, 3.0), (1, 1.0), (2, 1.0)]);
    }

    #[test]
    fn a_packet_beyond_the_threshold_counts_as_lost() {
        // 1 comes fifth: displacement 4.
        let density = ReorderDensity::of(&[2, 3, 4, 5, 1], 3);
        assert_eq!(density.iter().collect::<Vec<_>>(), [(0, 1.0)]);
        assert_eq!(ReorderDensity::of(&[2, 3, 4, 5, 1], 4).share(4), 0.2);
        assert_eq!(ReorderDensity::of(&[], 3).share(0), 0.0);
    }
}

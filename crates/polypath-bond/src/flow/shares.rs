//! What each path has carried of a flow in proportion to its weight.

use polypath_units::PathId;
use std::collections::BTreeMap;

/// Virtual times as of start-time fair queueing (Goyal, Vin and Cheng, IEEE/ACM Transactions on
/// Networking 5(5), 1997): a path advances by the bytes that it carries over its weight. The one
/// that is furthest behind carries the next. One that could carry nothing for a while does not
/// catch up.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    /// Where the path began that carried the last.
    now: f64,
    /// Where each path has come to.
    reached: BTreeMap<PathId, f64>,
}

impl Shares {
    fn start(&self, path: PathId) -> f64 {
        self.reached.get(&path).map_or(self.now, |reached| reached.max(self.now))
    }

    /// Of these paths the one that has had the least of its share.
    pub(crate) fn furthest_behind(&self, paths: impl Iterator<Item = PathId>) -> Option<PathId> {
        paths.min_by(|a, b| self.start(*a).total_cmp(&self.start(*b)))
    }

    /// A path of this weight, above 0, carries so many bytes.
    pub(crate) fn on_sent(&mut self, path: PathId, bytes: u64, weight: f64) {
        let start = self.start(path);
        self.now = self.now.max(start);
        self.reached.insert(path, start + bytes.max(1) as f64 / weight);
    }

    pub(crate) fn forget_path(&mut self, path: PathId) {
        self.reached.remove(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1_000;

    /// How often each path is taken for so many payloads, where these are those with room.
    fn taken(shares: &mut Shares, weights: &[f64], count: usize, open: &[usize]) -> Vec<usize> {
        let path = |number: usize| PathId::new(number as u8).unwrap();
        let mut taken = vec![0; weights.len()];
        for _ in 0..count {
            let chosen = shares.furthest_behind(open.iter().map(|&number| path(number))).unwrap();
            taken[chosen.index()] += 1;
            shares.on_sent(chosen, SIZE, weights[chosen.index()]);
        }
        taken
    }

    #[test]
    fn paths_carry_in_proportion_to_their_weights() {
        for (weights, expected) in [
            (&[80.0, 20.0][..], &[80, 20][..]),
            (&[1.0, 1.0, 2.0], &[25, 25, 50]),
            (&[1e6, 3e6], &[25, 75]),
        ] {
            let open: Vec<_> = (0..weights.len()).collect();
            let taken = taken(&mut Shares::default(), weights, 100, &open);
            let near = taken.iter().zip(expected).all(|(got, wanted)| got.abs_diff(*wanted) <= 1);
            assert!(near, "{weights:?}: {taken:?}");
        }
    }

    #[test]
    fn a_path_that_had_no_room_does_not_catch_up() {
        let mut shares = Shares::default();
        assert_eq!(taken(&mut shares, &[1.0, 1.0], 1_000, &[0]), [1_000, 0]);
        let after = taken(&mut shares, &[1.0, 1.0], 100, &[0, 1]);
        assert!(after[0].abs_diff(50) <= 1, "{after:?}");
    }
}

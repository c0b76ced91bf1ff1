//! What a transfer looks like from outside while it runs.

use std::time::Duration;

use polypath_bond::{BondStatus, PathState};
use polypath_units::{Bandwidth, ByteCount, Timestamp};

use crate::report::Sample;
use polypath::progress::{PathProgress, PathState as Shown};

/// Length of a throughput sample.
const BIN: Duration = Duration::from_millis(100);

/// Watches the hub's side of a bond.
#[derive(Debug)]
pub(super) struct Sampler {
    start: Timestamp,
    delivered: u64,
    last_delivery: Option<Timestamp>,
    longest_gap: Duration,
    bin_began: Timestamp,
    bin_bytes: Vec<u64>,
    /// Samples of each path.
    pub(super) samples: Vec<Vec<Sample>>,
    rates: Vec<Bandwidth>,
}

impl Sampler {
    pub(super) fn new(paths: usize, start: Timestamp) -> Self {
        Self {
            start,
            delivered: 0,
            last_delivery: None,
            longest_gap: Duration::ZERO,
            bin_began: start,
            bin_bytes: vec![0; paths],
            samples: vec![Vec::new(); paths],
            rates: vec![Bandwidth::ZERO; paths],
        }
    }

    /// Bytes delivered in order so far.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The longest time without delivery between the first and the last byte.
    pub(super) fn longest_gap(&self) -> Duration {
        self.longest_gap
    }

    /// From the start to the last delivery.
    pub(super) fn elapsed(&self) -> Duration {
        self.last_delivery.map_or(Duration::ZERO, |at| at.since(self.start))
    }

    /// Takes a look at the hub's bond.
    pub(super) fn look(&mut self, status: &BondStatus, now: Timestamp) {
        if status.counters.bytes_read > self.delivered {
            if let Some(last) = self.last_delivery {
                self.longest_gap = self.longest_gap.max(now.since(last));
            }
            self.delivered = status.counters.bytes_read;
            self.last_delivery = Some(now);
        }
        if now >= self.bin_began + BIN {
            self.close_bin(status, now);
        }
    }

    fn close_bin(&mut self, status: &BondStatus, now: Timestamp) {
        let length = now.since(self.bin_began);
        for path in &status.paths {
            let index = path.id.index();
            let (Some(before), Some(samples)) =
                (self.bin_bytes.get_mut(index), self.samples.get_mut(index))
            else {
                continue;
            };
            let bytes = path.counters.bytes_received;
            let rate = Bandwidth::from_transfer(bytes.saturating_sub(*before), length);
            let rate = rate.unwrap_or(Bandwidth::ZERO);
            *before = bytes;
            let t = now.since(self.start).as_secs_f64();
            samples.push(Sample { t, mbit_s: rate.mbit_per_sec() });
            self.rates[index] = rate;
        }
        self.bin_began = now;
    }

    /// What the progress display shows.
    pub(super) fn progress(&self, edge: &BondStatus) -> Vec<PathProgress> {
        let shown = |state| match state {
            PathState::Active => Shown::Up,
            PathState::Failed => Shown::Failed,
        };
        (0..self.rates.len())
            .map(|index| {
                let path = edge.paths.iter().find(|path| path.id.index() == index);
                PathProgress {
                    state: path.map_or(Shown::Joining, |path| shown(path.state)),
                    rate: self.rates[index],
                    carried: ByteCount::new(self.bin_bytes[index]),
                }
            })
            .collect()
    }
}

//! HRRN: the block of data with the highest response ratio next, on the path that serves it
//! soonest.
//!
//! Source: highest response ratio next (P. Brinch Hansen, "Operating System Principles", 1973),
//! which J. Lu et al., J. ICT Standardization 12(1), 2024, section 2, name as a scheduler of
//! Multipath TCP without specifying it; the rule is Polypath's own
//! (`docs/algorithms/scheduler/hrrn.md`).
//!
//! The unsent data is a queue of blocks: what arrived between two picks, cut into blocks of
//! `block_size`. With the size `z` of a block, the path `p` with room that minimises the service
//! time, and `x_p` its rate: `S = srtt_p / 2 + z / x_p`, `W` the time since the block was seen, `R
//! = (W + S) / S`. The block of largest `R` is sent, ties to the oldest, and none other before its
//! end. So short blocks and those that have waited long go first, and none starves.
//!
//! Limits: the scheduler does not know messages; what comes between two picks counts as one, and a
//! bulk transfer is cut into blocks where it stands. 256 blocks are looked at, the data behind them
//! when they are sent. A reinjection takes the path that serves it soonest.

use super::candidates::{Candidates, estimated_rate, place};
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::Timestamp;
use std::collections::VecDeque;

/// Blocks that are looked at.
const MAX_BLOCKS: usize = 256;

parameters! {
    /// Parameters of [`Hrrn`].
    pub struct HrrnParameters {
        /// The largest block, in bytes.
        pub block_size: u64 = 64 << 10, "block_size", "bytes",
            "the largest block of data that is served without interruption", 1.0 to 1e9;
    }
}

/// Highest response ratio next.
#[derive(Clone, Debug, Default)]
pub struct Hrrn {
    parameters: HrrnParameters,
    blocks: Blocks,
}

/// Data that is served without interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    seen: Timestamp,
    /// Unsent bytes.
    left: u64,
    /// Whether it is being sent.
    is_served: bool,
}

/// The unsent data as blocks, in its order.
#[derive(Clone, Debug, Default)]
struct Blocks {
    blocks: VecDeque<Block>,
    bytes: u64,
}

impl Blocks {
    /// Takes note of how much is unsent.
    fn look(&mut self, unsent: u64, size: u64, now: Timestamp) {
        while self.bytes > unsent {
            // Data was withdrawn, or sent in longer segments than expected.
            let Some(last) = self.blocks.back_mut() else { break };
            let gone = last.left.min(self.bytes - unsent);
            last.left -= gone;
            self.bytes -= gone;
            if last.left == 0 {
                self.blocks.pop_back();
            }
        }
        while self.bytes < unsent && self.blocks.len() < MAX_BLOCKS {
            let left = size.max(1).min(unsent - self.bytes);
            self.blocks.push_back(Block { seen: now, left, is_served: false });
            self.bytes += left;
        }
    }

    /// Each block with the bytes before it.
    fn iter(&self) -> impl Iterator<Item = (u64, &Block)> {
        self.blocks.iter().scan(0, |before, block| {
            let at = *before;
            *before += block.left;
            Some((at, block))
        })
    }

    /// This many bytes were sent, of the block with `skip` bytes before it and of those behind.
    fn on_sent(&mut self, skip: u64, bytes: u64) {
        let (mut before, mut left) = (0, bytes);
        for block in &mut self.blocks {
            before += block.left;
            if before > skip && left > 0 {
                let sent = block.left.min(left);
                block.left -= sent;
                block.is_served = true;
                left -= sent;
                self.bytes -= sent;
            }
        }
        self.blocks.retain(|block| block.left > 0);
    }
}

impl Hrrn {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "hrrn",
        purpose: "short blocks of data, and those that have waited long, first",
        source: "highest response ratio next; named in Lu et al., J. ICT Standardization 12(1), 2024",
        parameters: HrrnParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: HrrnParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(HrrnParameters::of(values)))
    }

    /// The blocks in the order in which to serve them, by the bytes before each, and the path.
    fn ranked<'a>(&self, candidates: Candidates<'a>, now: Timestamp) -> Vec<(u64, &'a PathView)> {
        if let Some((skip, served)) = self.blocks.iter().find(|(_, block)| block.is_served) {
            return soonest(candidates, served.left)
                .map(|(path, _)| (skip, path))
                .into_iter()
                .collect();
        }
        let mut ranked: Vec<_> = self
            .blocks
            .iter()
            .filter_map(|(skip, block)| {
                let (path, service) = soonest(candidates, block.left)?;
                Some((response_ratio((now - block.seen).as_secs_f64(), service), skip, path))
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().map(|(_, skip, path)| (skip, path)).collect()
    }
}

impl Scheduler for Hrrn {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        if !queue.reinjection {
            self.blocks.look(queue.unsent, self.parameters.block_size, now);
        }
        let Some(lowest) = candidates.lowest_rtt() else { return candidates.wait(now) };
        if queue.reinjection {
            let soonest = soonest(candidates, queue.segment);
            return Pick::Send(soonest.map_or(lowest.id, |(path, _)| path.id));
        }
        let ranked = self.ranked(candidates, now).into_iter();
        let placed = ranked.filter_map(|(skip, path)| Some((skip, place(path, skip, queue)?)));
        // Where no rate is known, or the window does not reach to the block that is served.
        let (skip, pick) = placed.into_iter().next().unwrap_or((0, Pick::Send(lowest.id)));
        self.blocks.on_sent(skip, queue.segment);
        pick
    }
}

/// `R` of a block that has waited for and takes these times.
fn response_ratio(waiting: f64, service: f64) -> f64 {
    (waiting + service) / service
}

/// The path with room that serves this many bytes soonest, and how long it takes, in seconds.
fn soonest<'a>(candidates: Candidates<'a>, bytes: u64) -> Option<(&'a PathView, f64)> {
    let service = |path: &'a PathView| {
        let secs = path.srtt?.as_secs_f64() / 2.0 + bytes as f64 / estimated_rate(path)?;
        Some((path, secs))
    };
    candidates.available().filter_map(service).min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, id, path, queue, reinjection};

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    /// 1 MB/s and 1 ms one way: a block of n segments of 1000 bytes is served in n + 1 ms.
    fn one() -> [PathView; 1] {
        [PathView { rate: 1e6, ..path(0, 2, 99) }]
    }

    fn ahead(segments: u64) -> Pick {
        Pick::Ahead { path: id(0), skip: segments * 1_000 }
    }

    /// Blocks that have waited for 30, 10 and 50 ms and are served in 10, 2 and 40 ms.
    #[test]
    fn t_hrrn_1() {
        let ratios = [(30.0, 10.0), (10.0, 2.0), (50.0, 40.0)].map(|(w, s)| response_ratio(w, s));
        assert_eq!(ratios, [4.0, 6.0, 2.25]);
        let mut hrrn = Hrrn::default();
        for (seen, left) in [(20, 9), (40, 1), (0, 39)] {
            hrrn.blocks.blocks.push_back(Block {
                seen: at(seen),
                left: left * 1_000,
                is_served: false,
            });
            hrrn.blocks.bytes += left * 1_000;
        }
        let views = one();
        let candidates = Candidates::new(&views, &bulk(), at(50));
        let order: Vec<_> = hrrn.ranked(candidates, at(50)).iter().map(|&(skip, _)| skip).collect();
        assert_eq!(order, [9_000, 0, 10_000], "B, A, C");
    }

    /// After 10 ms nine segments, 10 ms of service, have R = 2; the one that has waited for 5 ms,
    /// and takes 2, has 3.5.
    #[test]
    fn a_short_block_overtakes_a_long_one() {
        let mut hrrn = Hrrn::default();
        for (unsent, ms) in [(9, 0), (10, 5)] {
            let wait = hrrn.pick(&[full(one()[0])], &queue(unsent, 99), at(ms));
            assert_eq!(wait, Pick::Wait(Timestamp::MAX));
        }
        assert_eq!(hrrn.pick(&one(), &queue(10, 99), at(10)), ahead(9));
        assert_eq!(hrrn.pick(&one(), &queue(9, 99), at(10)), Pick::Send(id(0)));
    }

    #[test]
    fn a_block_is_served_to_its_end() {
        let mut hrrn = Hrrn::new(HrrnParameters { block_size: 9_000 });
        let mut pick = |unsent, ms| hrrn.pick(&one(), &queue(unsent, 99), at(ms));
        assert_eq!(pick(18, 0), Pick::Send(id(0)), "two blocks of nine; equals go by age");
        for unsent in (10..=17).rev() {
            assert_eq!(pick(unsent, 1), Pick::Send(id(0)));
        }
        // The second block has waited for 5 ms, R = 1.5; the new one for none.
        assert_eq!(pick(10, 5), Pick::Send(id(0)), "it is served to its end");
        assert_eq!((0..8).map(|n| pick(9 - n, 5)).last(), Some(Pick::Send(id(0))));
        assert_eq!(pick(1, 5), Pick::Send(id(0)));
    }

    #[test]
    fn a_block_in_the_middle_is_sent_ahead_to_its_end() {
        let mut hrrn = Hrrn::default();
        for (seen, left) in [(0, 9), (0, 2), (0, 9)] {
            hrrn.blocks.blocks.push_back(Block {
                seen: at(seen),
                left: left * 1_000,
                is_served: false,
            });
            hrrn.blocks.bytes += left * 1_000;
        }
        let mut pick = |unsent, window| hrrn.pick(&one(), &queue(unsent, window), at(10));
        assert_eq!(pick(20, 99), ahead(9));
        assert_eq!(pick(19, 99), ahead(9));
        assert_eq!(pick(18, 99), Pick::Send(id(0)), "the first of equals");
    }

    #[test]
    fn a_window_that_does_not_reach_the_block_lets_the_head_go() {
        let mut hrrn = Hrrn::default();
        for (seen, left) in [(0, 9), (0, 2)] {
            hrrn.blocks.blocks.push_back(Block {
                seen: at(seen),
                left: left * 1_000,
                is_served: false,
            });
            hrrn.blocks.bytes += left * 1_000;
        }
        assert_eq!(hrrn.pick(&one(), &queue(11, 9), at(10)), Pick::Send(id(0)));
    }

    /// A block goes where it is served soonest, not where the RTT is lowest; a path without a known
    /// rate is passed over while there is another.
    #[test]
    fn the_path_minimises_the_service_time() {
        let views = [
            PathView { rate: 1e5, ..path(0, 2, 99) },
            PathView { rate: 1e7, ..path(1, 20, 99) },
            PathView { srtt: None, ..path(2, 1, 99) },
        ];
        let pick = |unsent| Hrrn::default().pick(&views, &queue(unsent, 99), at(0));
        assert_eq!(pick(1), Pick::Send(id(1)), "11 ms in place of 10.1");
        assert_eq!(Hrrn::default().pick(&views[2..], &queue(1, 9), at(0)), Pick::Send(id(2)));
        assert_eq!(Hrrn::default().pick(&views, &reinjection(&[1]), at(0)), Pick::Send(id(0)));
    }

    #[test]
    fn what_is_withdrawn_is_no_block() {
        let mut blocks = Blocks::default();
        blocks.look(10_000, 4_000, at(0));
        let left = |blocks: &Blocks| blocks.blocks.iter().map(|b| b.left).collect::<Vec<_>>();
        assert_eq!(left(&blocks), [4_000, 4_000, 2_000]);
        blocks.look(5_000, 4_000, at(1));
        assert_eq!((left(&blocks), blocks.bytes), (vec![4_000, 1_000], 5_000));
        blocks.look(u64::MAX, 4_000, at(1));
        assert_eq!(blocks.blocks.len(), MAX_BLOCKS);
    }
}

//! The transfers that models are held against.

use super::striping::Case;
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_lab::trial::Trial;
use polypath_link::RunSeed;
use polypath_model::{ModelPath, TunnelControl, TunnelTransfer};
use polypath_units::Bandwidth;
use std::time::Duration;

/// S1's rates, in Mbit/s.
const RATES: [f64; 8] = [35.9, 18.4, 33.3, 14.7, 14.8, 4.4, 22.5, 12.5];
/// Groups of delays, for each number of links.
const GROUPS: usize = 36;
/// RTT of the nearest link, in ms: S1 does not tell its delays.
const NEAREST: f64 = 20.0;

/// Numbers of a seed.
struct Draw {
    seed: RunSeed,
    drawn: u64,
}

impl Draw {
    const fn new(seed: u64) -> Self {
        Self { seed: RunSeed::new(seed, 0), drawn: 0 }
    }

    /// A number from 0 to below 1.
    fn unit(&mut self) -> f64 {
        self.drawn += 1;
        (self.seed.stream(self.drawn) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Evenly spread over the orders of magnitude.
    fn scaled(&mut self, least: f64, most: f64) -> f64 {
        (least.ln() + (most.ln() - least.ln()) * self.unit()).exp()
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[(self.unit() * values.len() as f64) as usize]
    }

    /// Puts values in any order.
    fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, (self.unit() * (last + 1) as f64) as usize);
        }
    }
}

/// Three digits after the point: what a scenario file says.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// S1's rates, the RTTs evenly spaced from 20 ms on in any order, so that their Average Delay
/// Asymmetry is 0, 1, ... 35 ms: 36 groups for each number of links from 2 to 8.
pub(crate) fn s1() -> Vec<Case> {
    let mut draw = Draw::new(5);
    let case = |(n, group): (usize, usize)| {
        // The mean difference between any two of n evenly spaced numbers is (n + 1) / 3 spaces.
        let space = group as f64 * 3.0 / (n + 1) as f64;
        let mut rtts: Vec<f64> = (0..n).map(|nth| rounded(NEAREST + space * nth as f64)).collect();
        draw.shuffle(&mut rtts);
        let links = RATES.into_iter().zip(rtts).map(|(rate, rtt)| (rate, rtt, 0.0)).collect();
        Case { links, transfer: TunnelTransfer::default() }
    };
    groups().map(case).collect()
}

/// S1's TCP over links of 2 to 50 Mbit/s, RTTs from 10 to 80 ms on and up to 120 ms apart.
pub(crate) fn narrow(seed: u64) -> Vec<Case> {
    let mut draw = Draw::new(seed);
    let case = |(n, group)| {
        let links = links(&mut draw, n, group, 0.0);
        Case { links, transfer: TunnelTransfer::default() }
    };
    groups().map(case).collect()
}

/// The same links, a third of the sets with losses of up to 1 %; NewReno and CUBIC, segments of 536
/// and 1460 bytes, receive buffers of 64 kB to 1 MB, transfers of 0.3 to 10 MB.
pub(crate) fn wide(seed: u64) -> Vec<Case> {
    let mut draw = Draw::new(seed ^ 0x5745);
    let case = |(n, group)| {
        let loss = if draw.unit() < 1.0 / 3.0 { 0.01 } else { 0.0 };
        let links = links(&mut draw, n, group, loss);
        let transfer = TunnelTransfer {
            bytes: draw.scaled(300e3, 10e6) as u64,
            segment_bytes: draw.one_of(&[536, 1_460]),
            receive_buffer: draw.one_of(&[65_535, 262_144, 1_048_576]),
            initial_window_segments: draw.one_of(&[1, 10]),
            control: draw.one_of(&[TunnelControl::NewReno, TunnelControl::Cubic]),
            ..TunnelTransfer::default()
        };
        Case { links, transfer }
    };
    groups().map(case).collect()
}

fn groups() -> impl Iterator<Item = (usize, usize)> {
    (2..=8).flat_map(|n| (0..GROUPS).map(move |group| (n, group)))
}

fn links(draw: &mut Draw, n: usize, group: usize, most_loss: f64) -> Vec<(f64, f64, f64)> {
    let nearest = draw.between(10.0, 80.0);
    let spread = 120.0 * group as f64 / (GROUPS - 1) as f64;
    let mut link = |_| {
        let (rate, apart) = (draw.scaled(2.0, 50.0), draw.between(0.0, spread));
        let loss = most_loss * draw.unit();
        (rounded(rate), rounded(nearest + apart), (loss * 1e5).round() / 1e5)
    };
    (0..n).map(&mut link).collect()
}

/// A bond over links.
#[derive(Clone, Debug)]
pub(crate) struct Bonded {
    pub(crate) paths: Vec<ModelPath>,
    pub(crate) receive_buffer: u64,
}

impl Bonded {
    /// Rates in Mbit/s, RTTs in ms, losses; queues of a BDP.
    fn new(links: &[(f64, f64, f64)], receive_buffer: f64) -> Self {
        let path = |&(rate, rtt, loss): &(f64, f64, f64)| ModelPath {
            rate: Bandwidth::from_mbit_per_sec(rate),
            rtt: Duration::from_secs_f64(rtt / 1e3),
            loss,
            queue_bytes: rate * 1e6 / 8.0 * rtt / 1e3,
        };
        Self { paths: links.iter().map(path).collect(), receive_buffer: receive_buffer as u64 }
    }

    /// Eight seconds, of which three are for the start.
    pub(crate) fn trial(&self, scheduler: SchedulerKind) -> Trial {
        Trial {
            links: self.paths.clone(),
            congestion: CongestionKind::Polypath,
            scheduler,
            receive_buffer: self.receive_buffer,
            warm_up_secs: 3,
            measured_secs: 5,
        }
    }
}

/// 2 to 8 links of 1 to 500 Mbit/s, RTTs of 5 to 200 ms, half of them with losses of up to 2 %,
/// receive buffers of 0.2 to 16 MB.
pub(crate) fn bonded(seed: u64) -> Vec<Bonded> {
    let mut draw = Draw::new(seed ^ 0x626f_6e64);
    (0..21).map(|index| drawn(&mut draw, 2 + index % 7, 500.0, [5.0, 200.0])).collect()
}

/// The same with delays one way of 5 to 200 ms, and with another highest rate in Mbit/s.
pub(crate) fn advised(seed: u64, count: usize, highest: f64) -> Vec<Bonded> {
    let mut draw = Draw::new(seed ^ 0x6164_7669);
    (0..count).map(|index| drawn(&mut draw, 2 + index % 7, highest, [10.0, 400.0])).collect()
}

fn drawn(draw: &mut Draw, links: usize, highest: f64, rtts: [f64; 2]) -> Bonded {
    let link = |draw: &mut Draw| {
        let (rate, rtt) = (draw.scaled(1.0, highest), draw.scaled(rtts[0], rtts[1]));
        let loss = if draw.unit() < 0.5 { draw.between(0.0, 0.02) } else { 0.0 };
        (rounded(rate), rounded(rtt), (loss * 1e5).round() / 1e5)
    };
    let links: Vec<_> = (0..links).map(|_| link(draw)).collect();
    Bonded::new(&links, draw.scaled(0.2e6, 16e6))
}

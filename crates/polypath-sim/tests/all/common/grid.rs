//! A grid of two-link profiles.

use super::{Link, goodput, link, parallel};
use polypath_bond::BondConfig;
use polypath_units::Timestamp;

/// Two links and a receive buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) links: [Link; 2],
    pub(crate) receive_buffer: u64,
}

/// Rates in Mbit/s and one-way delays in ms: from alike to as unlike as links come.
const PAIRS: [[Link; 2]; 16] = [
    [link(10.0, 10.0), link(10.0, 10.0)],
    [link(10.0, 2.0), link(10.0, 150.0)],
    [link(20.0, 30.0), link(10.0, 60.0)],
    [link(50.0, 10.0), link(50.0, 50.0)],
    [link(50.0, 20.0), link(10.0, 100.0)],
    [link(100.0, 20.0), link(100.0, 20.0)],
    [link(100.0, 5.0), link(20.0, 80.0)],
    [link(100.0, 2.0), link(100.0, 150.0)],
    [link(100.0, 50.0), link(50.0, 10.0)],
    [link(200.0, 10.0), link(40.0, 40.0)],
    [link(200.0, 20.0), link(200.0, 25.0)],
    [link(300.0, 10.0), link(80.0, 30.0)],
    [link(300.0, 2.0), link(10.0, 150.0)],
    [link(500.0, 5.0), link(80.0, 30.0)],
    [link(500.0, 2.0), link(500.0, 2.0)],
    [link(500.0, 50.0), link(20.0, 10.0)],
];
/// Bytes.
const RECEIVE_BUFFERS: [u64; 4] = [300_000, 1_000_000, 4_000_000, 16_000_000];
/// Percent on the first and on the second link.
const LOSSES: [[f64; 2]; 4] = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.1, 0.5]];
/// Bandwidth-delay products.
const QUEUES: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
/// How long the best path takes, start-up excluded.
const SECONDS: f64 = 3.0;
/// What has not come by then counts no more: paths much worse than the best are not waited for.
const LIMIT: Timestamp = Timestamp::from_millis(8 * SECONDS as u64 * 1000);
/// Where losses are drawn, runs are repeated until the standard error of their mean is this share
/// of it: a quarter of what the mark allows. Runs vary by up to 4 % of their mean, which would take
/// 64 of them; the most leaves such a cell 0.7 %.
const STANDARD_ERROR: f64 = 0.005;
const LEAST_RUNS: usize = 4;
const MOST_RUNS: usize = 32;

/// Every pair with every receive buffer; losses and queues take turns so that each meets each
/// buffer.
pub(crate) fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (p, pair) in PAIRS.iter().enumerate() {
        for (b, &receive_buffer) in RECEIVE_BUFFERS.iter().enumerate() {
            let losses = LOSSES[(p + b) % 4];
            let queue_bdp = QUEUES[(p / 4 + b) % 4];
            let with = |i: usize| Link { loss_percent: losses[i], queue_bdp, ..pair[i] };
            cells.push(Cell { links: [with(0), with(1)], receive_buffer });
        }
    }
    cells
}

/// What a cell gave, in Mbit/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) bond: f64,
    /// The better path alone.
    pub(crate) best: f64,
}

impl Outcome {
    pub(crate) fn ratio(&self) -> f64 {
        self.bond / self.best
    }
}

impl Cell {
    /// What a path carries at most, in bytes/s: a receive buffer in each RTT.
    fn bound(&self, link: &Link) -> f64 {
        (link.mbit_s * 1e6 / 8.0).min(self.receive_buffer as f64 / link.rtt_secs())
    }

    /// What the better path carries in [`SECONDS`].
    fn bytes(&self) -> u64 {
        (self.links.iter().map(|l| self.bound(l)).fold(0.0, f64::max) * SECONDS) as u64
    }

    fn is_lossy(&self) -> bool {
        self.links.iter().any(|link| link.loss_percent > 0.0)
    }

    /// What its measurement may take, in bytes that are sent.
    fn cost(&self) -> f64 {
        let runs = if self.is_lossy() { MOST_RUNS } else { 1 };
        (self.bytes() * runs as u64) as f64
    }

    fn over(&self, links: &[Link], bond: &BondConfig) -> f64 {
        let run = |run| goodput(links, bond, self.bytes(), LIMIT, run);
        if links.iter().all(|link| link.loss_percent == 0.0) {
            return run(0);
        }
        let mut values = Vec::new();
        while !is_settled(&values) {
            values.push(run(values.len() as u64));
        }
        mean(&values)
    }

    /// The goodput of the better path; one that cannot be better is not measured.
    fn best(&self, bond: &BondConfig) -> f64 {
        let mut links = self.links;
        links.sort_by(|a, b| self.bound(b).total_cmp(&self.bound(a)));
        let first = self.over(&links[..1], bond);
        if self.bound(&links[1]) * 8e-6 <= first {
            return first;
        }
        first.max(self.over(&links[1..], bond))
    }

    fn measure(&self, bond: &BondConfig) -> Outcome {
        let bond = BondConfig { receive_buffer: self.receive_buffer, ..bond.clone() };
        Outcome { bond: self.over(&self.links, &bond), best: self.best(&bond) }
    }

    /// One line of the table.
    pub(crate) fn row(&self, outcome: &Outcome) -> String {
        let link = |l: &Link| format!("{:>6} {:>5} {:>4}", l.mbit_s, l.delay_ms, l.loss_percent);
        format!(
            "{} | {} | {:>5} | {:>6} | {:>8} | {:>8} | {:>5}",
            link(&self.links[0]),
            link(&self.links[1]),
            self.links[0].queue_bdp,
            self.receive_buffer / 1000,
            digits(outcome.best),
            digits(outcome.bond),
            digits(outcome.ratio())
        )
    }
}

/// What all cells give, in their order. The dearest are measured first, so that none of them is
/// begun last, by one core alone.
pub(crate) fn measure_all(cells: &[Cell], bond: &BondConfig) -> Vec<Outcome> {
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by(|&a, &b| cells[b].cost().total_cmp(&cells[a].cost()));
    let done = parallel(&order, |&index| cells[index].measure(bond));
    let mut results: Vec<_> = order.into_iter().zip(done).collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Whether the mean of the runs is known well enough. Their values alone, not how they compare
/// with another measurement, may end them.
fn is_settled(values: &[f64]) -> bool {
    let (count, mean) = (values.len(), mean(values));
    if count < LEAST_RUNS {
        return false;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / (count - 1) as f64;
    count >= MOST_RUNS || (variance / count as f64).sqrt() <= STANDARD_ERROR * mean
}

/// Three significant digits.
fn digits(value: f64) -> String {
    let decimals = 2 - value.log10().floor() as i32;
    format!("{value:.*}", decimals.max(0) as usize)
}

/// The columns of [`Cell::row`].
pub(crate) fn header() -> String {
    let link = "Mbit/s    ms    %";
    format!(
        "{link} | {link} | {:>5} | {:>6} | {:>8} | {:>8} | {:>5}",
        "queue", "buffer", "best", "bond", "ratio"
    )
}

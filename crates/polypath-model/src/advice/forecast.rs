//! What some of the links carry with a scheduler.
//!
//! What EDPF carries is what [`multipath_rate`](crate::multipath_rate) predicts for
//! schedulers that send ahead. For the others there are bounds on what links of goodput `x_i` and
//! holes `h_i` carry through a buffer `B`:
//!
//! ```text
//! K(B) = max sum y_i,  y_i <= x_i,  sum y_i h_i <= B      Little's law: what is under way fits in
//! P(B) = max over prefixes S by hole of min(sum x_i, 0.9 B / max h_i)
//! A(B) = min(sum x_i, B / max h_i)                        the slowest link holds all others up
//!
//! fps     = P(B)^0.5 K(B / 2)^0.5
//! low_rtt = 1.28 K(B / 2)^0.7 A(B / 2)^0.3, at most sum x_i
//! ```
//!
//! `P` and `A` are those of buffer blocking protection (Oh and Lee, ToN 24(6), 2016;
//! `docs/algorithms/models.md`). The exponents and the factor are fits to simulations
//! (`docs/advise.md`): late copies fill holes, so that the truth lies between the bounds. Where the
//! buffer is no limit all three are equal to the sum.

use super::link_set::LinkSet;
use super::{AdviceLink, AdviceQuestion, Limit, PathControl};
use crate::multipath::{AheadPath, MultipathOptions, USED_OF_WINDOW, ahead, taken};
use crate::{ModelError, ModelPath};
use polypath_core::scheduler::SchedulerKind;

/// A hole may be at most this likely if the 99th percentile of the delay is not to contain the wait
/// for it.
const RARE: f64 = 0.01;
/// What stands in the queue of a busy link, in propagation times there and back: the quanta and the
/// allowance for ACK aggregation of the bond's own control.
const STANDING: f64 = 0.1;
/// A receive buffer of this many times what the links carry while the longest hole stands is
/// enough. With 2, losses of small links still held up a large one: 2 and 3 Mbit/s beside 87
/// Mbit/s, 240 ms carried 81 Mbit/s through 8.4 MB, 86 through 10.2.
const ENOUGH: f64 = 3.0;

/// A link with what a control makes of it; bytes and seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    pub(super) rate: f64,
    /// How long a hole that it causes stands.
    pub(super) hole: f64,
    /// Share of packets lost.
    pub(super) loss: f64,
    pub(super) cost: Option<f64>,
    /// What the link could carry of payload.
    pub(super) most: f64,
    rtt: f64,
    /// How long a packet takes to be sent.
    packet: f64,
    limit: Limit,
}

/// What is expected of links with a scheduler; bytes and seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forecast {
    pub(super) bytes_per_sec: f64,
    pub(super) limit: Limit,
    /// Time until data is delivered in order, in the 99th percentile.
    pub(super) delay: f64,
    /// Per GB.
    pub(super) cost: Option<f64>,
    /// The smallest buffer that is no limit.
    pub(super) enough: f64,
}

impl Prepared {
    pub(super) fn new(link: &AdviceLink, control: PathControl) -> Result<Self, ModelError> {
        let ModelPath { rate, rtt, loss, .. } = link.path;
        let options = MultipathOptions { control, ..MultipathOptions::BOND };
        let (carrying, limit) = taken(&link.path, &options)?;
        Ok(Self {
            rate: carrying.bytes_per_sec,
            hole: carrying.rtt_secs,
            loss,
            cost: link.cost_per_gb,
            most: options.payload_of(rate),
            rtt: rtt.as_secs_f64(),
            packet: f64::from(options.segment_bytes + options.header_bytes) / rate.bytes_per_sec(),
            limit,
        })
    }

    /// The one-way delay, the queue included.
    fn one_way(&self) -> f64 {
        self.rtt * (0.5 + STANDING) + self.packet
    }

    /// The time until the acknowledgement of a packet is back: at least as long as sending it
    /// takes.
    fn round(&self) -> f64 {
        self.rtt + self.packet
    }

    /// How many times the packets of a round are sent again, with this share lost each time, until
    /// all but one in a hundred rounds are there.
    fn repairs(&self, loss: f64) -> f64 {
        let packets = self.rate * self.round() / f64::from(MultipathOptions::BOND.segment_bytes);
        // 1 - (1 - loss^sent)^packets = RARE
        let rare = -libm::expm1(libm::log1p(-RARE) / packets);
        let sent = (libm::log(rare) / libm::log(loss)).ceil();
        (sent - 1.0).max(0.0)
    }
}

impl Forecast {
    /// The receive buffer to have: what is enough, to the next power of two, within what may be.
    pub(super) fn buffer(&self, most: u64) -> u64 {
        // Beyond 2^63 bytes the conversion saturates.
        let least = AdviceQuestion::LEAST_RECEIVE_BUFFER;
        let enough = (self.enough as u64).max(least).checked_next_power_of_two();
        enough.map_or(most, |enough| enough.min(most))
    }
}

/// The 10th and the 90th percentile of the simulated over the predicted rate: for EDPF over the
/// choices for 200 held-out sets, for the others over many choices for the 42 sets of the fit. Not
/// measured for copies on all links.
pub(super) const fn measured(scheduler: SchedulerKind) -> Option<[f64; 2]> {
    match scheduler {
        SchedulerKind::Edpf => Some([0.92, 1.06]),
        SchedulerKind::Fps => Some([0.89, 1.30]),
        SchedulerKind::LowRtt => Some([0.71, 1.60]),
        _ => None,
    }
}

/// The forecast for these links with this scheduler through a buffer of this many bytes.
pub(super) fn forecast(
    links: &[Prepared],
    set: LinkSet,
    scheduler: SchedulerKind,
    buffer: f64,
) -> Forecast {
    let mut used = set.links().map(|link| links[link]).collect::<Vec<_>>();
    used.sort_by(|a, b| a.hole.total_cmp(&b.hole));
    match scheduler {
        SchedulerKind::Redundant => copies(&used, buffer),
        _ => spread(&used, scheduler, buffer),
    }
}

/// Each byte on one link.
fn spread(used: &[Prepared], scheduler: SchedulerKind, buffer: f64) -> Forecast {
    let sum: f64 = used.iter().map(|link| link.rate).sum();
    let half = || little_bound(used, buffer / 2.0);
    let mixed = |a: f64, share: f64, b: f64| libm::pow(a, share) * libm::pow(b, 1.0 - share);
    let found = match (scheduler, used) {
        (SchedulerKind::Edpf, _) | (_, [_]) => edpf(used, buffer),
        (SchedulerKind::Fps, _) => mixed(prefix_bound(used, buffer), 0.5, half()),
        _ => 1.28 * mixed(half(), 0.7, slowest_bound(used, buffer / 2.0)),
    };
    let bytes_per_sec = found.min(sum);
    // Weighted by what they could carry: links that losses hold down carry little.
    let could = |link: &Prepared| link.most;
    let lossy: f64 = used.iter().filter(|link| link.limit == Limit::Loss).map(could).sum();
    let all: f64 = used.iter().map(could).sum();
    let delay = used.iter().map(|link| link.one_way() + link.repairs(link.loss) * link.round());
    Forecast {
        bytes_per_sec,
        limit: limit(bytes_per_sec < 0.99 * sum, lossy > 0.5 * all),
        delay: delay.fold(0.0, f64::max),
        cost: mean_cost(used, sum),
        enough: ENOUGH * sum * used.iter().map(|link| link.hole).fold(0.0, f64::max),
    }
}

/// Cost per GB, with each link carrying in proportion to its rate, `sum` together. It is computed
/// as the excess over the least cost, so that the mean of equal costs is exactly theirs.
fn mean_cost(used: &[Prepared], sum: f64) -> Option<f64> {
    let least = used.iter().try_fold(f64::INFINITY, |least, link| Some(link.cost?.min(least)))?;
    let beyond = |link: &Prepared| link.cost.map(|cost| (cost - least) * link.rate / sum);
    Some(least + used.iter().filter_map(beyond).sum::<f64>())
}

/// Each byte on every link. The first copy counts, so that the rate is one that all links bear, up
/// to the first link whose copy is unlikely to be lost together with all before it.
fn copies(used: &[Prepared], buffer: f64) -> Forecast {
    let mut ranked = used.to_vec();
    ranked.sort_by(|a, b| a.rtt.total_cmp(&b.rtt));
    let joint = ranked.iter().scan(1.0, |lost, link| {
        *lost *= link.loss;
        Some(link.repairs(*lost))
    });
    let repairs: Vec<_> = joint.take_while(|&repairs| repairs > 0.0).collect();
    let needed = repairs.len() + 1;
    let again = repairs.last().filter(|_| needed > ranked.len());
    let repair = again.map_or(0.0, |again| again * ranked[0].round());
    let needed = &ranked[..needed.min(ranked.len())];
    let alone = |link: &Prepared| spread(&[*link], SchedulerKind::Edpf, buffer);
    let slower = |a: Forecast, b: Forecast| if b.bytes_per_sec < a.bytes_per_sec { b } else { a };
    let slowest = needed[1..].iter().map(alone).fold(alone(&needed[0]), slower);
    let first = if repair > 0.0 { &ranked[0] } else { &needed[needed.len() - 1] };
    Forecast {
        delay: first.one_way() + repair,
        cost: used.iter().map(|link| link.cost).sum(),
        ..slowest
    }
}

const fn limit(buffer: bool, loss: bool) -> Limit {
    match (buffer, loss) {
        (true, _) => Limit::ReceiveBuffer,
        (false, true) => Limit::Loss,
        (false, false) => Limit::Rate,
    }
}

/// What EDPF carries.
fn edpf(used: &[Prepared], buffer: f64) -> f64 {
    let beside = |link: &Prepared| AheadPath { rate: link.rate, loss: link.loss, rtt: link.rtt };
    let beside: Vec<_> = used.iter().map(beside).collect();
    ahead(&beside, buffer, f64::from(MultipathOptions::BOND.segment_bytes)).bytes_per_sec
}

/// `P`, of links in the order of their holes.
fn prefix_bound(used: &[Prepared], buffer: f64) -> f64 {
    let sums = used.iter().scan(0.0, |sum, link| {
        *sum += link.rate;
        Some(sum.min(USED_OF_WINDOW * buffer / link.hole))
    });
    sums.fold(0.0, f64::max)
}

/// `K`, of links in the order of their holes.
fn little_bound(used: &[Prepared], buffer: f64) -> f64 {
    let fill = |(carried, left): (f64, f64), link: &Prepared| {
        let rate = link.rate.min(left / link.hole);
        (carried + rate, (left - rate * link.hole).max(0.0))
    };
    used.iter().fold((0.0, buffer), fill).0
}

/// `A`, of links in the order of their holes.
fn slowest_bound(used: &[Prepared], buffer: f64) -> f64 {
    let sum: f64 = used.iter().map(|link| link.rate).sum();
    used.last().map_or(sum, |link| sum.min(buffer / link.hole))
}

//! What a bond or Multipath TCP carries in steady state: what the congestion control takes of each
//! path, the sum, and what the receive buffer leaves of it.
//!
//! ```text
//! x_i = min(b_i u(queue_i) (1 - p_i), W(p_i) / RTT_i)    of loss-based control
//! x_i = that of `bbr_rate` or `polypath_rate`            of BBR and polypath
//! hole_i = RTT_i (1 + P(a packet of a round is lost))
//! ```
//!
//! `u` is the share of a link that a sawtooth fills whose top is BDP and queue and whose foot is
//! `beta` of that. Sources: `docs/algorithms/models.md`; the hole of a lossy path is Polypath's own
//! rule: its repair takes another round trip. Assumes that links are constant, not shared with each
//! other or with other traffic, alike in both directions, that losses are independent, and that
//! transfers are long; controls are uncoupled.

mod ahead;

use super::bbr::{bbr_rate, polypath_rate};
use super::error::{ModelError, loss, positive};
use super::receive_buffer::{Carried, CarryingPath, all_paths, best_prefix};
use super::response::{cubic_window, reno_window};
use super::tunnel::{Limit, MOST_LINKS};
use polypath_core::scheduler::stops::Used;
use polypath_units::Bandwidth;
use std::time::Duration;

pub(super) use self::ahead::{AheadPath, ahead};

/// A bound that is below the sum of rates only by rounding does not count.
const EQUAL: f64 = 1e-9;
/// A path that holds fewer packets than this, under way and in its queue, is cramped: the smallest
/// window of four is most of that, and overflows the queue all the time.
const CRAMPED_BELOW: u32 = 8;
/// The least share of the prediction that such links gave alone.
const CRAMPED: f64 = 0.6;
/// The share of the receive buffer that bonds with waiting schedulers use: a stream may have
/// fifteen sixteenths.
pub(super) const USED_OF_WINDOW: f64 = 0.9;

/// A path, alike in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPath {
    /// Its rate.
    pub rate: Bandwidth,
    /// Its propagation delay there and back.
    pub rtt: Duration,
    /// The share of packets that it loses, from 0 to below 1.
    pub loss: f64,
    /// Bytes that may wait for it; infinite for any number.
    pub queue_bytes: f64,
}

/// The congestion control of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathControl {
    /// The bond's own.
    #[default]
    Polypath,
    /// Version 1.
    Bbr,
    /// RFC 9438.
    Cubic,
    /// RFC 5681.
    NewReno,
}

impl PathControl {
    /// What a loss leaves of a window.
    const fn beta(self) -> f64 {
        match self {
            Self::Polypath | Self::Bbr => 1.0,
            Self::Cubic => 0.7,
            Self::NewReno => 0.5,
        }
    }
}

/// How a scheduler treats a path that would make the others wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerFamily {
    /// It sends ahead on it what will be next in order on arrival, or leaves the path out: edpf.
    Ahead,
    /// It waits for a better path or leaves the path out: blest, ecf, stms and their like.
    Selective,
    /// It sends on every path that has room: low_rtt, round_robin, weighted.
    Greedy,
    /// It sends everything on every path.
    Redundant,
}

impl SchedulerFamily {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ahead, Self::Selective, Self::Greedy, Self::Redundant];

    /// The name: `ahead`, `selective`, `greedy`, `redundant`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ahead => "ahead",
            Self::Selective => "selective",
            Self::Greedy => "greedy",
            Self::Redundant => "redundant",
        }
    }

    /// The 10th and the 90th percentile of the simulated over the predicted rate of bonds with
    /// `polypath` (edpf, blest and low_rtt; `docs/models.md`). Not measured for redundant
    /// schedulers.
    pub const fn measured(self) -> Option<[f64; 2]> {
        match self {
            Self::Ahead => Some([0.95, 1.12]),
            Self::Selective => Some([0.81, 1.13]),
            Self::Greedy => Some([0.80, 1.87]),
            Self::Redundant => None,
        }
    }
}

/// A connection over paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultipathOptions {
    /// The congestion control of each path.
    pub control: PathControl,
    /// Payload of a packet in bytes.
    pub segment_bytes: u32,
    /// What its headers add.
    pub header_bytes: u32,
    /// The receive buffer in bytes.
    pub receive_buffer: u64,
}

impl MultipathOptions {
    /// A bond as it ships, over an MTU of 1500: `polypath`, 16 MiB of receive buffer.
    pub const BOND: Self = Self {
        control: PathControl::Polypath,
        segment_bytes: 1_400,
        header_bytes: 72,
        receive_buffer: 16 << 20,
    };

    /// Multipath TCP as Linux has it: CUBIC, 6 MiB of receive buffer.
    pub const MPTCP: Self = Self {
        control: PathControl::Cubic,
        segment_bytes: 1_428,
        header_bytes: 72,
        receive_buffer: 6 << 20,
    };

    /// The least share of the prediction that paths may give: 1 unless they are so short and slow
    /// that they hold fewer than eight packets, under way and in the queue. Such links alone gave
    /// 0.60 to 0.87 of it in the simulator (1 to 20 Mbit/s, RTTs of 0 to 20 ms, queues of one BDP).
    pub fn least_of_cramped(&self, paths: impl IntoIterator<Item = ModelPath>) -> f64 {
        let holds = f64::from(CRAMPED_BELOW) * f64::from(self.segment_bytes + self.header_bytes);
        let (mut cramped, mut all) = (0.0, 0.0);
        for path in paths {
            let rate = path.rate.bytes_per_sec();
            all += rate;
            if rate * path.rtt.as_secs_f64() + path.queue_bytes < holds {
                cramped += rate;
            }
        }
        1.0 - (1.0 - CRAMPED) * cramped / all
    }

    /// What a link of this rate could carry of payload, in bytes/s.
    pub fn payload_of(&self, rate: Bandwidth) -> f64 {
        let payload = f64::from(self.segment_bytes);
        rate.bytes_per_sec() * payload / (payload + f64::from(self.header_bytes))
    }
}

/// The prediction for a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct MultipathPrediction {
    /// Goodput in bytes/s.
    pub bytes_per_sec: f64,
    /// The paths that carry it, by their positions in what was given.
    pub paths: Vec<usize>,
    /// What keeps it from being faster.
    pub limit: Limit,
}

/// The goodput of a long transfer over one path.
///
/// # Errors
/// A rate or size of 0, a loss that is not from 0 to below 1, a queue that is no number.
pub fn path_rate(
    path: &ModelPath,
    options: &MultipathOptions,
) -> Result<MultipathPrediction, ModelError> {
    multipath_rate(core::slice::from_ref(path), options, SchedulerFamily::Greedy)
}

/// The goodput of a long transfer over several paths.
///
/// # Errors
/// No path or more than 64, and as [`path_rate`].
pub fn multipath_rate(
    paths: &[ModelPath],
    options: &MultipathOptions,
    family: SchedulerFamily,
) -> Result<MultipathPrediction, ModelError> {
    match paths.len() {
        0 => return Err(ModelError::NoLink { most: MOST_LINKS }),
        given if given > MOST_LINKS => {
            return Err(ModelError::TooManyLinks { given, most: MOST_LINKS });
        }
        _ => {}
    }
    let taken = paths.iter().map(|path| taken(path, options)).collect::<Result<Vec<_>, _>>()?;
    let carrying: Vec<_> = taken.iter().map(|(carrying, _)| *carrying).collect();
    let buffer = options.receive_buffer as f64;
    let carried = match family {
        SchedulerFamily::Ahead => carry_ahead(paths, &carrying, options)?,
        SchedulerFamily::Selective => best_prefix(&carrying, USED_OF_WINDOW * buffer)?,
        SchedulerFamily::Greedy => greedy(&carrying, buffer)?,
        SchedulerFamily::Redundant => carry_copies(&carrying, buffer)?,
    };
    let lossy: f64 = lossy_share(&carried, paths, &taken);
    let limit = match (carried.buffer_limited, lossy > 0.5) {
        (true, _) => Limit::ReceiveBuffer,
        (false, true) => Limit::Loss,
        (false, false) => Limit::Rate,
    };
    let Carried { bytes_per_sec, paths, .. } = carried;
    Ok(MultipathPrediction { bytes_per_sec, paths, limit })
}

/// With a scheduler that sends ahead.
fn carry_ahead(
    paths: &[ModelPath],
    taken: &[CarryingPath],
    options: &MultipathOptions,
) -> Result<Carried, ModelError> {
    let buffer = positive("the receive buffer in bytes", options.receive_buffer as f64)?;
    let beside = |(path, taken): (&ModelPath, &CarryingPath)| AheadPath {
        rate: taken.bytes_per_sec,
        loss: path.loss,
        rtt: path.rtt.as_secs_f64(),
    };
    let beside: Vec<_> = paths.iter().zip(taken).map(beside).collect();
    let segment = f64::from(options.segment_bytes);
    let Used { paths, bytes_per_sec } = ahead(&beside, buffer, segment);
    let sum: f64 = paths.iter().map(|&path| beside[path].rate).sum();
    let buffer_limited = bytes_per_sec < sum * (1.0 - EQUAL);
    Ok(Carried { bytes_per_sec: bytes_per_sec.min(sum), paths, buffer_limited })
}

/// With copies on all paths the fastest one counts.
fn carry_copies(paths: &[CarryingPath], buffer: f64) -> Result<Carried, ModelError> {
    let alone = |path: &CarryingPath| all_paths(&[*path], buffer);
    let each = paths.iter().map(alone).collect::<Result<Vec<_>, _>>()?;
    let faster = |a: &(usize, Carried), b: &(usize, Carried)| {
        a.1.bytes_per_sec.total_cmp(&b.1.bytes_per_sec)
    };
    let best = each.into_iter().enumerate().max_by(faster);
    let (index, best) = best.ok_or(ModelError::NoLink { most: MOST_LINKS })?;
    Ok(Carried { paths: vec![index], ..best })
}

/// Every path is used, and the slowest one delays the others; but what blocks the window is sent
/// again on a fast path, so that the truth lies between that bound and the best prefix. The
/// geometric mean is a fit, to the sets of links of seed 1 in the validation.
fn greedy(paths: &[CarryingPath], buffer: f64) -> Result<Carried, ModelError> {
    let (all, best) = (all_paths(paths, buffer)?, best_prefix(paths, buffer)?);
    Ok(Carried { bytes_per_sec: (all.bytes_per_sec * best.bytes_per_sec).sqrt(), ..all })
}

/// The share of paths limited by their losses in the possible rates of the used paths, not in what
/// is carried, of which they have little.
fn lossy_share(carried: &Carried, paths: &[ModelPath], taken: &[(CarryingPath, Limit)]) -> f64 {
    let rate = |&index: &usize| paths[index].rate.bytes_per_sec();
    let lossy = carried.paths.iter().filter(|&&index| taken[index].1 == Limit::Loss);
    lossy.map(rate).sum::<f64>() / carried.paths.iter().map(rate).sum::<f64>()
}

/// What the congestion control takes of a path, and what limits it.
pub(super) fn taken(
    path: &ModelPath,
    options: &MultipathOptions,
) -> Result<(CarryingPath, Limit), ModelError> {
    let payload = positive("the payload of a packet in bytes", f64::from(options.segment_bytes))?;
    let packet = payload + f64::from(options.header_bytes);
    let rate = positive("the rate of a link in bytes/s", path.rate.bytes_per_sec())? / packet;
    let arrives = 1.0 - loss(path.loss)?;
    // A round lasts at least as long as a packet takes.
    let rtt = path.rtt.as_secs_f64() + 1.0 / rate;
    let queue = queue_in_bdp(path, rate * packet * rtt)?;
    let round = Duration::from_secs_f64(rtt);
    let of_model = |found| (found, if found < 0.5 * rate { Limit::Loss } else { Limit::Rate });
    let (packets, limit) = match options.control {
        PathControl::Polypath => of_model(polypath_rate(rate, round, path.loss)?),
        PathControl::Bbr => of_model(bbr_rate(rate, round, path.loss)?),
        control => {
            let filled = rate * filled_by_sawtooth(control.beta(), queue) * arrives;
            let lossy = lossy_rate(control, path.loss, rtt)? * arrives;
            if lossy < filled { (lossy, Limit::Loss) } else { (filled, Limit::Rate) }
        }
    };
    let hole = rtt * (1.0 + lost_in_a_round(path.loss, packets * rtt));
    Ok((CarryingPath { bytes_per_sec: packets * payload, rtt_secs: hole }, limit))
}

fn queue_in_bdp(path: &ModelPath, bdp: f64) -> Result<f64, ModelError> {
    match path.queue_bytes >= 0.0 {
        true => Ok(path.queue_bytes / bdp),
        false => Err(ModelError::Number {
            what: "the queue in bytes",
            given: path.queue_bytes,
            allowed: "from 0",
        }),
    }
}

/// Packets/s of a window that losses hold down.
fn lossy_rate(control: PathControl, loss: f64, rtt: f64) -> Result<f64, ModelError> {
    let window = match control {
        PathControl::Cubic => cubic_window(loss, Duration::from_secs_f64(rtt))?,
        _ => reno_window(loss)?,
    };
    Ok(window.max(1.0) / rtt)
}

/// The share of a link that a window fills which grows evenly from `beta` of its top to its top,
/// BDP and queue.
fn filled_by_sawtooth(beta: f64, queue_in_bdp: f64) -> f64 {
    let top = 1.0 + queue_in_bdp;
    let foot = beta * top;
    if foot >= 1.0 {
        return 1.0;
    }
    let below = (1.0 - foot) / (top - foot);
    below * (1.0 + foot) / 2.0 + (1.0 - below)
}

fn lost_in_a_round(loss: f64, packets: f64) -> f64 {
    -libm::expm1(packets * libm::log1p(-loss))
}

#[cfg(test)]
mod tests;

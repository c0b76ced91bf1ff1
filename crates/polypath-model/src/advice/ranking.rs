//! Which of several choices is the best for a goal.

use super::forecast::{Forecast, Prepared};
use super::link_set::LinkSet;
use super::{Goal, control_of};
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;

/// Rates that differ by less are equal.
const EQUAL_RATES: f64 = 1.005;
/// Delays that differ by less are equal: the faster choice is better then.
const EQUAL_DELAYS: f64 = 1.05;

/// Two choices with one scheduler are alike if the links in which they differ carry no more than
/// this share of the rate.
const LIKE: f64 = 0.05;
/// How many choices with one scheduler are worth a look if the rate matters.
const WITH_A_SCHEDULER: usize = 3;
/// A single link that is predicted to give this share of the best choice may well give more: the
/// effect of a small buffer on several links is predicted less well than that on one.
const NEARLY_AS_GOOD: f64 = 0.75;

/// A choice that is considered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) set: LinkSet,
    pub(super) scheduler: SchedulerKind,
    pub(super) congestion: CongestionKind,
    pub(super) forecast: Forecast,
    /// Bytes/s that are left when the most important link dies.
    pub(super) surviving: f64,
}

impl Candidate {
    /// The faster one, the first of equals.
    pub(super) fn faster(self, other: Self) -> Self {
        if other.forecast.bytes_per_sec > self.forecast.bytes_per_sec { other } else { self }
    }

    /// Whether it is the same scheduler over links that differ by little, with this one's control.
    fn is_like(&self, other: &Self, links: &[Vec<Prepared>; 2]) -> bool {
        let links = &links[control_of(self.congestion)];
        let rate = |set: LinkSet| set.links().map(|link| links[link].rate).sum::<f64>();
        self.scheduler == other.scheduler
            && rate(self.set.difference(other.set)) <= LIKE * rate(self.set)
    }

    /// The larger, number by number, the better. The order is total and does not depend on caps, so
    /// that a cap never leads to something more expensive.
    fn merit(&self, goal: Goal) -> [f64; 5] {
        let Forecast { bytes_per_sec, delay, cost, .. } = self.forecast;
        let (many, rate) = (self.set.len() as f64, step(bytes_per_sec, EQUAL_RATES));
        let few = -many;
        // The other schedulers are predicted too badly to be preferred without a simulation, except
        // copies for the sake of the delay.
        let ships = f64::from(self.scheduler == SchedulerKind::Edpf);
        match goal {
            // A link that is left out here cannot help EDPF, which would leave it out itself.
            Goal::Throughput => [ships, rate, many, 0.0, bytes_per_sec],
            Goal::Latency => [-step(delay, EQUAL_DELAYS), ships, rate, few, bytes_per_sec],
            Goal::Reliability => {
                [ships, step(self.surviving, EQUAL_RATES), rate, few, bytes_per_sec]
            }
            Goal::Cost => [-cost.unwrap_or(f64::INFINITY), ships, rate, few, bytes_per_sec],
        }
    }
}

/// EDPF leaves out itself what costs more than it brings: over more links it is no slower.
pub(super) fn no_slower_with_more(choices: &mut [Candidate]) {
    let ships = |choice: &&Candidate| choice.scheduler == SchedulerKind::Edpf;
    let rates = choices.iter().filter(ships).map(|it| (it.set, it.forecast.bytes_per_sec));
    let rates: Vec<_> = rates.collect();
    for choice in choices.iter_mut().filter(|choice| ships(&&**choice)) {
        let within = rates.iter().filter(|(set, _)| set.is_within(choice.set));
        let rate = &mut choice.forecast.bytes_per_sec;
        *rate = within.map(|&(_, rate)| rate).fold(*rate, f64::max);
    }
}

/// Values in one step are within this ratio.
fn step(value: f64, ratio: f64) -> f64 {
    (libm::log(value) / libm::log(ratio)).floor()
}

/// The best one, the first of equals.
pub(super) fn best<'c>(
    goal: Goal,
    choices: impl IntoIterator<Item = &'c Candidate>,
) -> Option<&'c Candidate> {
    let better = |best: (&'c Candidate, [f64; 5]), next: (&'c Candidate, [f64; 5])| {
        let order = next.1.iter().zip(&best.1).map(|(next, best)| next.total_cmp(best));
        if order.fold(core::cmp::Ordering::Equal, core::cmp::Ordering::then).is_gt() {
            next
        } else {
            best
        }
    };
    let all = choices.into_iter().map(|choice| (choice, choice.merit(goal)));
    all.reduce(better).map(|(choice, _)| choice)
}

/// The best one, then the next best that is not like any before. For throughput three with each
/// scheduler, and links that may be better alone; otherwise two in all.
pub(super) fn finalists(
    goal: Goal,
    choices: &[Candidate],
    links: &[Vec<Prepared>; 2],
) -> Vec<Candidate> {
    let mut left = choices.to_vec();
    let mut found: Vec<Candidate> = Vec::new();
    while let Some(&next) = best(goal, &left) {
        found.push(next);
        if goal != Goal::Throughput && found.len() == 2 {
            break;
        }
        let same = found.iter().filter(|other| other.scheduler == next.scheduler).count();
        left.retain(|other| match other.scheduler == next.scheduler {
            true => same < WITH_A_SCHEDULER && !next.is_like(other, links),
            false => true,
        });
    }
    if goal == Goal::Throughput {
        found.extend(promising_alone(choices, &found));
    }
    found
}

/// The links that may be better alone than the first of `found`, except those already found.
fn promising_alone(choices: &[Candidate], found: &[Candidate]) -> Vec<Candidate> {
    let Some(best) = found.first() else { return Vec::new() };
    let least = NEARLY_AS_GOOD * best.forecast.bytes_per_sec;
    let is_promising = |it: &&Candidate| {
        let is_known = found.iter().any(|other| other.set == it.set);
        it.set.len() == 1 && it.forecast.bytes_per_sec >= least && !is_known
    };
    choices.iter().filter(is_promising).copied().collect()
}

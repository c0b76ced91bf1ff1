//! Which links to use, and how: a prediction is made for every set of links of interest with every
//! scheduler of interest, and the best for a goal is taken.
//!
//! The congestion control is the bond's own, or BBR where losses are above what that bears. Rates
//! are those of long transfers; assumptions are those of [`multipath_rate`](super::multipath_rate).
//! How good the advice is: `docs/advise.md`.

mod error;
mod explanation;
mod forecast;
mod goal;
mod link_set;
mod ranking;

use super::error::ModelError;
use super::tunnel::MOST_LINKS;
use super::{Limit, ModelPath, MultipathOptions, PathControl};
pub use error::AdviceError;
use forecast::{Forecast, Prepared, forecast};
pub use goal::Goal;
use link_set::{LinkSet, candidates};
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;
use ranking::{Candidate, best, finalists, no_slower_with_more};
use std::time::Duration;

/// The schedulers that are considered for several links, beginning with the default. The last one,
/// copies of everything on every link, is for latency alone.
const SCHEDULERS: [SchedulerKind; 4] =
    [SchedulerKind::Edpf, SchedulerKind::Fps, SchedulerKind::LowRtt, SchedulerKind::Redundant];
/// The congestion controls, beginning with the default, which is taken unless another one gives
/// clearly more.
const CONTROLS: [(PathControl, CongestionKind); 2] =
    [(PathControl::Polypath, CongestionKind::Polypath), (PathControl::Bbr, CongestionKind::Bbr)];

/// Another congestion control must give this many times as much as the default: predictions are no
/// more exact.
const CLEARLY: f64 = 1.05;
/// A link that brings less than this share adds nothing that a measurement would show.
const NOTHING: f64 = 0.005;

/// A link that may be used.
#[derive(Clone, Debug, PartialEq)]
pub struct AdviceLink {
    /// What it is called in explanations.
    pub name: String,
    /// What it does.
    pub path: ModelPath,
    /// What a GB over it costs, in any currency.
    pub cost_per_gb: Option<f64>,
}

/// What advice is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct AdviceQuestion {
    /// The links, 1 to 64.
    pub links: Vec<AdviceLink>,
    /// The largest receive buffer that may be, in bytes, from [`Self::LEAST_RECEIVE_BUFFER`] on.
    pub receive_buffer: u64,
    /// What is wanted most.
    pub goal: Goal,
    /// The most that a GB may cost.
    pub cap_per_gb: Option<f64>,
}

impl AdviceQuestion {
    /// The least receive buffer that a bond may have (`docs/protocol.md`, 2.3), in bytes.
    pub const LEAST_RECEIVE_BUFFER: u64 = 64 << 10;
}

/// Some links, how they are used, and what is expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The links, by their positions in the question, ascending.
    pub links: Vec<usize>,
    /// Which path the next segment takes.
    pub scheduler: SchedulerKind,
    /// Congestion control of each path.
    pub congestion: CongestionKind,
    /// In bytes: what is predicted to suffice, rounded up, and at most what is allowed.
    pub receive_buffer: u64,
    /// Goodput of a long transfer.
    pub bytes_per_sec: f64,
    /// The 10th and the 90th percentile of what simulations gave for such a prediction, at most
    /// what the links can carry. `None` where nothing was simulated: with copies on all links.
    pub interval: Option<[f64; 2]>,
    /// What keeps it from being faster.
    pub limit: Limit,
    /// Until data is delivered in order, in the 99th percentile.
    pub delay: Duration,
    /// The goodput that is left when the most important link dies; 0 with one link.
    pub surviving_bytes_per_sec: f64,
    /// What a GB costs, if that is known of all links that are used.
    pub cost_per_gb: Option<f64>,
    /// Those of the links that can be left out together without a lower prediction.
    pub spare: Vec<usize>,
}

/// Advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What to do.
    pub choice: Choice,
    /// The next best choices, the runner-up first: with another scheduler, or with links that
    /// differ by more than a twentieth of the rate. For throughput there are three with each
    /// scheduler, and links that alone may be as fast: a simulation may well find one of them to be
    /// the best.
    pub others: Vec<Choice>,
    /// The fastest link alone.
    pub alone: Choice,
    /// Why, in one paragraph.
    pub explanation: String,
}

/// What one more link would bring.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// The best choice with it; its position is the one after the last link.
    pub choice: Choice,
    /// Whether it would be used, and leaving it out would cost something.
    pub used: bool,
    /// Goodput beyond what is advised without it; below 0 where the goal is another one.
    pub gain_bytes_per_sec: f64,
    /// The same in a sentence.
    pub explanation: String,
}

/// Advises.
///
/// # Errors
/// No link, more than 64, impossible numbers, a cap or the goal of cost without the cost of each
/// link, a cap below every choice.
pub fn advise(question: &AdviceQuestion) -> Result<Advice, AdviceError> {
    let advisor = Advisor::new(question)?;
    let choices = advisor.allowed()?;
    let finalists = finalists(question.goal, &choices, &advisor.prepared);
    let mut finalists = finalists.iter().map(|candidate| advisor.describe(candidate));
    let choice = finalists.next().ok_or_else(no_link)?;
    let others: Vec<_> = finalists.collect();
    let alone = advisor.describe(&advisor.alone()?);
    let explanation = explanation::paragraph(&advisor, &choice, others.first(), &alone);
    Ok(Advice { choice, others, alone, explanation })
}

/// What one more link would bring.
///
/// # Errors
/// As [`advise`], also for the link.
pub fn added(question: &AdviceQuestion, link: &AdviceLink) -> Result<Added, AdviceError> {
    let without = Advisor::new(question)?;
    let before = without.describe(&without.best()?);
    let links = question.links.iter().chain([link]).cloned().collect();
    let wider = AdviceQuestion { links, ..question.clone() };
    let advisor = Advisor::new(&wider)?;
    let choice = advisor.describe(&advisor.best()?);
    let link = question.links.len();
    let used = choice.links.contains(&link) && !choice.spare.contains(&link);
    let gain_bytes_per_sec = choice.bytes_per_sec - before.bytes_per_sec;
    let explanation = explanation::added(&advisor, &choice, used, &before);
    Ok(Added { choice, used, gain_bytes_per_sec, explanation })
}

/// A question, and what its links carry.
struct Advisor<'a> {
    question: &'a AdviceQuestion,
    /// For each control of [`CONTROLS`].
    prepared: [Vec<Prepared>; 2],
}

/// Its position in [`CONTROLS`].
fn control_of(congestion: CongestionKind) -> usize {
    usize::from(congestion != CONTROLS[0].1)
}

impl<'a> Advisor<'a> {
    fn new(question: &'a AdviceQuestion) -> Result<Self, AdviceError> {
        check(question)?;
        let with = |(control, _): (PathControl, CongestionKind)| {
            let prepared = |link: &AdviceLink| {
                let of_link = |error| AdviceError::Link { link: link.name.clone(), error };
                Prepared::new(link, control).map_err(of_link)
            };
            question.links.iter().map(prepared).collect::<Result<Vec<_>, AdviceError>>()
        };
        let [own, other] = CONTROLS.map(with);
        Ok(Self { question, prepared: [own?, other?] })
    }

    fn choices(&self) -> Vec<Candidate> {
        let with = |set: LinkSet| {
            let count = match (set.len(), self.question.goal) {
                (1, _) => 1,
                (_, Goal::Latency) => SCHEDULERS.len(),
                (_, Goal::Throughput | Goal::Reliability | Goal::Cost) => SCHEDULERS.len() - 1,
            };
            let schedulers = &SCHEDULERS[..count];
            schedulers.iter().map(move |&scheduler| self.candidate(set, scheduler))
        };
        // Whether there is a cap must not matter: the same choices must be considered with it and
        // without.
        let free = self.question.links.iter().all(|link| link.cost_per_gb.is_none());
        let only_rate = free && self.question.goal == Goal::Throughput;
        let sets = candidates(&self.better(), only_rate);
        let mut choices: Vec<_> = sets.into_iter().flat_map(with).collect();
        no_slower_with_more(&mut choices);
        choices
    }

    /// Each link with the control that is better for it alone.
    fn better(&self) -> Vec<Prepared> {
        let [own, other] = &self.prepared;
        let better = |(own, other): (&Prepared, &Prepared)| match other.rate > CLEARLY * own.rate {
            true => *other,
            false => *own,
        };
        own.iter().zip(other).map(better).collect()
    }

    /// The choices that the cap allows; at least one.
    fn allowed(&self) -> Result<Vec<Candidate>, AdviceError> {
        let choices = self.choices();
        let Some(cap) = self.question.cap_per_gb else { return Ok(choices) };
        let cost = |candidate: &Candidate| candidate.forecast.cost.unwrap_or(f64::INFINITY);
        let cheapest = choices.iter().map(cost).fold(f64::INFINITY, f64::min);
        let allowed: Vec<_> = choices.into_iter().filter(|choice| cost(choice) <= cap).collect();
        match allowed.is_empty() {
            true => Err(AdviceError::TooDear { cap, cheapest }),
            false => Ok(allowed),
        }
    }

    fn best(&self) -> Result<Candidate, AdviceError> {
        best(self.question.goal, &self.allowed()?).copied().ok_or_else(no_link)
    }

    fn alone(&self) -> Result<Candidate, AdviceError> {
        let links = 0..self.question.links.len();
        let alone = links.map(|link| self.candidate(LinkSet::of(link), SCHEDULERS[0]));
        alone.reduce(Candidate::faster).ok_or_else(no_link)
    }

    /// These links with this scheduler, and the control that gives more.
    fn candidate(&self, set: LinkSet, scheduler: SchedulerKind) -> Candidate {
        let [own, other] = [0, 1].map(|control| Candidate {
            set,
            scheduler,
            congestion: CONTROLS[control].1,
            forecast: self.forecast(control, set, scheduler),
            surviving: self.surviving(control, set, scheduler),
        });
        let clearly = other.forecast.bytes_per_sec > CLEARLY * own.forecast.bytes_per_sec;
        if clearly { other } else { own }
    }

    fn forecast(&self, control: usize, set: LinkSet, scheduler: SchedulerKind) -> Forecast {
        forecast(&self.prepared[control], set, scheduler, self.question.receive_buffer as f64)
    }

    fn surviving(&self, control: usize, set: LinkSet, scheduler: SchedulerKind) -> f64 {
        let left = set.links().map(|link| set.without(link));
        let rate = |left: LinkSet| match left.is_empty() {
            true => 0.0,
            false => self.forecast(control, left, scheduler).bytes_per_sec,
        };
        left.map(rate).fold(f64::INFINITY, f64::min)
    }

    fn describe(&self, candidate: &Candidate) -> Choice {
        let Candidate { set, scheduler, congestion, forecast, surviving } = candidate;
        let rate = forecast.bytes_per_sec;
        Choice {
            links: set.links().collect(),
            scheduler: *scheduler,
            congestion: *congestion,
            receive_buffer: forecast.buffer(self.question.receive_buffer),
            bytes_per_sec: rate,
            interval: self.interval(*set, *scheduler, rate),
            limit: forecast.limit,
            delay: Duration::try_from_secs_f64(forecast.delay).unwrap_or(Duration::MAX),
            surviving_bytes_per_sec: *surviving,
            cost_per_gb: forecast.cost,
            spare: self.spare(candidate),
        }
    }

    /// The range of simulated rates for such a prediction, at most what the links can carry.
    fn interval(&self, set: LinkSet, scheduler: SchedulerKind, rate: f64) -> Option<[f64; 2]> {
        let most: f64 = set.links().map(|link| self.prepared[0][link].most).sum();
        let [from, to] = forecast::measured(scheduler)?;
        let paths = set.links().map(|link| self.question.links[link].path);
        let least = from * MultipathOptions::BOND.least_of_cramped(paths);
        Some([least, to].map(|ratio| (ratio * rate).min(most)))
    }

    /// The links that add nothing, beginning with the slowest: neither goodput nor, where that is
    /// the goal, what is left when a link dies.
    fn spare(&self, candidate: &Candidate) -> Vec<usize> {
        let &Candidate { set, scheduler, congestion, forecast, surviving } = candidate;
        if scheduler == SchedulerKind::Redundant {
            return Vec::new();
        }
        let control = control_of(congestion);
        let mut links: Vec<_> = set.links().collect();
        let rate = |link: &usize| self.prepared[control][*link].rate;
        links.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        let mut needed = set;
        for link in links {
            let rest = needed.without(link);
            let is_enough = |rate: f64, all: f64| rate >= all * (1.0 - NOTHING);
            let rate = || self.forecast(control, rest, scheduler).bytes_per_sec;
            let left = || self.surviving(control, rest, scheduler);
            if !rest.is_empty()
                && is_enough(rate(), forecast.bytes_per_sec)
                && (self.question.goal != Goal::Reliability || is_enough(left(), surviving))
            {
                needed = rest;
            }
        }
        set.difference(needed).links().collect()
    }

    /// The fastest choice with these links and another one.
    fn fastest_with(&self, links: &[usize], another: usize) -> Forecast {
        let set = links.iter().fold(LinkSet::of(another), |set, &link| set.with(link));
        let each = SCHEDULERS[1..].iter().map(|&scheduler| self.candidate(set, scheduler));
        each.fold(self.candidate(set, SCHEDULERS[0]), Candidate::faster).forecast
    }

    /// The same choice through as much buffer as it can use.
    fn unbuffered(&self, choice: &Choice) -> Forecast {
        let set = choice.links.iter().fold(LinkSet::EMPTY, |set, &link| set.with(link));
        let question = AdviceQuestion { receive_buffer: u64::MAX, ..self.question.clone() };
        let wider = Advisor { question: &question, prepared: self.prepared.clone() };
        wider.candidate(set, choice.scheduler).forecast
    }

    fn name(&self, link: usize) -> &str {
        &self.question.links[link].name
    }

    /// `lte, wifi and sat`
    fn names(&self, links: &[usize]) -> String {
        let Some((&last, others)) = links.split_last() else { return String::new() };
        let others: Vec<_> = others.iter().map(|&link| self.name(link)).collect();
        match others.is_empty() {
            true => self.name(last).to_owned(),
            false => format!("{} and {}", others.join(", "), self.name(last)),
        }
    }
}

fn check(question: &AdviceQuestion) -> Result<(), AdviceError> {
    match question.links.len() {
        0 => return Err(no_link()),
        given if given > MOST_LINKS => {
            return Err(ModelError::TooManyLinks { given, most: MOST_LINKS }.into());
        }
        _ => {}
    }
    let (given, least) = (question.receive_buffer, AdviceQuestion::LEAST_RECEIVE_BUFFER);
    if given < least {
        return Err(AdviceError::ReceiveBuffer { given, least });
    }
    if let Some(given) = question.cap_per_gb.filter(|&cap| !is_cost(cap)) {
        return Err(AdviceError::Cap { given });
    }
    let wanted = match (question.cap_per_gb, question.goal) {
        (Some(_), _) => Some("a cap"),
        (None, Goal::Cost) => Some("the goal cost"),
        _ => None,
    };
    question.links.iter().try_for_each(|link| match (link.cost_per_gb, wanted) {
        (Some(given), _) if !is_cost(given) => {
            Err(AdviceError::Cost { link: link.name.clone(), given })
        }
        (None, Some(wanted)) => Err(AdviceError::NoCost { wanted, link: link.name.clone() }),
        _ => Ok(()),
    })
}

const fn no_link() -> AdviceError {
    AdviceError::Model(ModelError::NoLink { most: MOST_LINKS })
}

fn is_cost(cost: f64) -> bool {
    cost.is_finite() && cost >= 0.0
}

#[cfg(test)]
mod tests;

//! Where the rate of a link comes from: a value, a file, the generator, or a model of radio.

use super::ScenarioError;
use super::declare::Located;
use super::generate::GenerateKeys;
use super::link_keys::{BlockageKeys, LinkKeys, RateStepKeys};
use super::radio::RadioKeys;
use super::read::Reader;
use super::trace_file::TraceFile;
use polypath_config::DocumentError;
use polypath_link::{Blackout, Rate, RateStep};
use polypath_units::Bandwidth;

/// What a link without any of these lacks.
pub(super) const NO_RATE: &str = "one of `rate`, `trace`, `generate`, `radio`";

/// What the keys of the rate give: the rate, and what handovers lose.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) rate: Rate,
    pub(super) blackouts: Vec<Blackout>,
}

impl From<Rate> for Service {
    fn from(rate: Rate) -> Self {
        Self { rate, blackouts: Vec::new() }
    }
}

/// The one of these keys that a link has.
enum Source<'a> {
    Rate(&'a Located<Bandwidth>),
    Trace(&'a Located<TraceFile>),
    Generate(&'a Located<GenerateKeys>),
    Radio(&'a Located<RadioKeys>),
}

impl Source<'_> {
    const fn key(&self) -> &'static str {
        match self {
            Self::Rate(_) => "rate",
            Self::Trace(_) => "trace",
            Self::Generate(_) => "generate",
            Self::Radio(_) => "radio",
        }
    }

    fn wrong(&self, problem: &str) -> DocumentError {
        match self {
            Self::Rate(key) => key.wrong(problem),
            Self::Trace(key) => key.wrong(problem),
            Self::Generate(key) => key.wrong(problem),
            Self::Radio(key) => key.wrong(problem),
        }
    }
}

impl LinkKeys {
    /// What serves the packets of a link with these keys, if they tell.
    pub(super) fn service(
        &self,
        default_seed: u64,
        reader: &mut Reader<'_>,
    ) -> Result<Option<Service>, ScenarioError> {
        let source = self.source()?;
        self.refuse_beside(source.as_ref())?;
        let service = |source| -> Result<Service, ScenarioError> {
            Ok(match source {
                Source::Rate(rate) => self.with_changes(rate.value)?.into(),
                Source::Trace(trace) => {
                    let repeat = self.trace_loop.as_ref().is_none_or(|repeat| repeat.value);
                    Rate::Trace { trace: reader.trace(trace)?, repeat }.into()
                }
                Source::Generate(keys) => GenerateKeys::rate(keys, default_seed, reader)?.into(),
                Source::Radio(keys) => RadioKeys::service(keys, default_seed, reader)?,
            })
        };
        source.map(service).transpose()
    }

    fn source(&self) -> Result<Option<Source<'_>>, DocumentError> {
        let given = [
            self.rate.as_ref().map(Source::Rate),
            self.trace.as_ref().map(Source::Trace),
            self.generate.as_ref().map(Source::Generate),
            self.radio.as_ref().map(Source::Radio),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(first), Some(second)) => Err(second
                .wrong(&format!("a link has only {NO_RATE}, and here is `{}` too", first.key()))),
            (only, _) => Ok(only),
        }
    }

    /// Refuses what goes with another source.
    fn refuse_beside(&self, source: Option<&Source<'_>>) -> Result<(), DocumentError> {
        if !matches!(source, Some(Source::Rate(_))) {
            let problem = match source {
                Some(other) => format!("goes with `rate` only, not with `{}`", other.key()),
                None => "needs a `rate` beside it".to_owned(),
            };
            refuse(&self.rate_schedule, &problem)?;
            refuse(&self.blockage, &problem)?;
        }
        match source {
            Some(Source::Trace(_)) => Ok(()),
            _ => refuse(&self.trace_loop, "goes with `trace` only"),
        }
    }

    /// A rate with its schedule and blockage.
    fn with_changes(&self, rate: Bandwidth) -> Result<Rate, DocumentError> {
        let steps = self.rate_schedule.as_ref().map_or(Ok(Vec::new()), schedule)?;
        let blockage = self.blockage.as_ref().map(checked_blockage).transpose()?;
        Ok(with_blockage(rate, steps, blockage))
    }
}

fn refuse<T>(value: &Option<Located<T>>, problem: &str) -> Result<(), DocumentError> {
    value.as_ref().map_or(Ok(()), |value| Err(value.wrong(problem)))
}

fn schedule(keys: &Located<Vec<RateStepKeys>>) -> Result<Vec<RateStep>, DocumentError> {
    let steps = keys.value.iter().map(|&RateStepKeys { at, rate }| RateStep { at, rate });
    let steps: Vec<_> = steps.collect();
    match steps.windows(2).find(|pair| pair[1].at <= pair[0].at) {
        Some(pair) => Err(keys.wrong(format_args!(
            "the step at {} does not come after the one at {}; times must ascend",
            pair[1].at, pair[0].at
        ))),
        None => Ok(steps),
    }
}

fn checked_blockage(keys: &Located<BlockageKeys>) -> Result<&BlockageKeys, DocumentError> {
    if keys.value.until.is_some_and(|until| until <= keys.value.at) {
        return Err(keys.wrong("`until` must be later than `at`"));
    }
    Ok(&keys.value)
}

/// The schedule with a blockage laid over it; after it the schedule holds again.
fn with_blockage(
    initial: Bandwidth,
    steps: Vec<RateStep>,
    blockage: Option<&BlockageKeys>,
) -> Rate {
    let Some(&BlockageKeys { at, rate, until }) = blockage else {
        return match steps.is_empty() {
            true => Rate::Constant(initial),
            false => Rate::Schedule { initial, steps },
        };
    };
    let mut merged: Vec<_> = steps.iter().copied().filter(|step| step.at < at).collect();
    merged.push(RateStep { at, rate });
    if let Some(until) = until {
        let before = steps.iter().rev().find(|step| step.at <= until);
        merged.push(RateStep { at: until, rate: before.map_or(initial, |step| step.rate) });
        merged.extend(steps.iter().filter(|step| step.at > until));
    }
    Rate::Schedule { initial, steps: merged }
}

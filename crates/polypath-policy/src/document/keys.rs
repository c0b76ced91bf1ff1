//! The keys of a rule that say how its traffic is steered.

use std::fmt;
use std::time::Duration;

use polypath_config::{DocumentError, Table, Value};
use polypath_units::{Bandwidth, parse_duration};

use super::wrong_at;
use crate::{
    MAX_COPIES, MAX_RTT_ABOVE, MAX_WEIGHT, Redundancy, RuleError, Steering, SteeringMode,
    SteeringPath, Treatment,
};

/// All of them.
pub(super) const KEYS: [&str; 10] =
    [MODE, PATHS, WEIGHTS, COPIES, RTT_ABOVE, LOSS_ABOVE, COPY_SHARE, RESEND, IN_ORDER, RATE];

pub(super) const MODE: &str = "mode";
pub(super) const PATHS: &str = "paths";
pub(super) const WEIGHTS: &str = "weights";
const COPIES: &str = "copies";
const RTT_ABOVE: &str = "rtt_above";
const LOSS_ABOVE: &str = "loss_above";
const COPY_SHARE: &str = "copy_share";
const RESEND: &str = "resend";
const IN_ORDER: &str = "in_order";
const RATE: &str = "rate";

/// A millionth.
const LEAST_COPY_SHARE: f64 = 1e-6;

pub(super) fn read_treatment(table: &Table<'_>) -> Result<Treatment, DocumentError> {
    let mode = table.get(MODE).ok_or_else(|| table.missing("`mode`"))?;
    let treatment = mode.parse_with(str::parse)?;
    let keys = Keys { table, treatment: &treatment };
    let steering = treatment.steering().map(|steering| steering.mode);
    keys.refuse_unless(steering.is_some(), &[PATHS], "every mode but drop")?;
    let balances = steering == Some(SteeringMode::LoadBalancing);
    keys.refuse_unless(balances, &[WEIGHTS], "load_balancing")?;
    let copies = steering == Some(SteeringMode::Redundant);
    keys.refuse_unless(copies, &[COPIES, RTT_ABOVE, LOSS_ABOVE], "redundant")?;
    let quick = steering == Some(SteeringMode::SmallestDelay);
    keys.refuse_unless(quick, &[COPY_SHARE], "smallest_delay")?;
    let once = steering.is_some() && !copies;
    keys.refuse_unless(once, &[RESEND], "every mode but redundant and drop")?;
    let orders = steering.is_some_and(SteeringMode::puts_in_order);
    keys.refuse_unless(orders, &[IN_ORDER], "aggregate, priority_based and load_balancing")?;
    let Some(mode) = steering else { return Ok(treatment) };
    let (paths, redundancy) = (read_paths(table)?, read_redundancy(table)?);
    let boolean = |key| table.get(key).map(|value| value.boolean()).transpose();
    let (resend, in_order) = (boolean(RESEND)?, boolean(IN_ORDER)?);
    let copy_share = table.get(COPY_SHARE).map(|value| read_copy_share(&value)).transpose()?;
    let copy_share = copy_share.unwrap_or(0);
    Ok(Treatment::Steer(Steering { mode, paths, redundancy, resend, in_order, copy_share }))
}

/// The limit of a rule's rate, if it has one.
pub(super) fn read_rate(
    table: &Table<'_>,
    treatment: &Treatment,
) -> Result<Option<Bandwidth>, DocumentError> {
    let keys = Keys { table, treatment };
    keys.refuse_unless(treatment.steering().is_some(), &[RATE], "every mode but drop")?;
    table.get(RATE).map(|value| value.parse_with(str::parse)).transpose()
}

/// A rule whose mode is known.
struct Keys<'a, 'b> {
    table: &'b Table<'a>,
    treatment: &'b Treatment,
}

impl Keys<'_, '_> {
    /// Refuses these keys where they say nothing.
    fn refuse_unless(
        &self,
        allowed: bool,
        keys: &[&'static str],
        modes: impl fmt::Display,
    ) -> Result<(), DocumentError> {
        let given = keys.iter().filter(|_| !allowed).find_map(|key| self.table.get(key));
        given.map_or(Ok(()), |value| {
            let name = self.treatment.name();
            Err(value.wrong(format_args!("says nothing of mode {name}; allowed: with {modes}")))
        })
    }
}

fn read_paths(table: &Table<'_>) -> Result<Vec<SteeringPath>, DocumentError> {
    let items = |key, what| table.get(key).map(|value| value.items(what)).transpose();
    let names = items(PATHS, "a list of names of paths")?;
    let weights = items(WEIGHTS, "a list of weights, one for each of `paths`")?;
    if let (Some(value), Some([])) = (table.get(PATHS), names.as_deref()) {
        return Err(value.wrong("an empty list carries nothing; allowed: a path, or no key"));
    }
    let names: Vec<_> = names.iter().flatten().map(Value::text).collect::<Result<_, _>>()?;
    let weights: Option<Vec<_>> =
        weights.map(|items| items.iter().map(read_weight).collect()).transpose()?;
    if let Some(weights) = &weights
        && weights.len() != names.len()
    {
        let error = RuleError::Weights { weights: weights.len(), paths: names.len() };
        return Err(wrong_at(table, WEIGHTS, error));
    }
    let weight = |at: usize| weights.as_ref().map(|weights| weights[at]);
    let path = |(at, name): (usize, &str)| SteeringPath { name: name.into(), weight: weight(at) };
    Ok(names.into_iter().enumerate().map(path).collect())
}

fn read_weight(value: &Value<'_>) -> Result<u8, DocumentError> {
    whole_number(value, 1, MAX_WEIGHT)
}

fn read_redundancy(table: &Table<'_>) -> Result<Redundancy, DocumentError> {
    Ok(Redundancy {
        copies: table.get(COPIES).map(|value| whole_number(&value, 2, MAX_COPIES)).transpose()?,
        rtt_above: table.get(RTT_ABOVE).map(|value| read_rtt(&value)).transpose()?,
        loss_above: table.get(LOSS_ABOVE).map(|value| read_loss(&value)).transpose()?,
    })
}

fn whole_number(value: &Value<'_>, least: u8, most: u8) -> Result<u8, DocumentError> {
    let bounds = f64::from(least)..=f64::from(most);
    let allowed = format!("a whole number from {least} to {most}");
    let number =
        value.number(&allowed, |number| number.fract() == 0.0 && bounds.contains(&number))?;
    Ok(number as u8)
}

fn read_rtt(value: &Value<'_>) -> Result<Duration, DocumentError> {
    let rtt = value.parse_with(parse_duration)?;
    let in_range = (Duration::from_micros(1)..=MAX_RTT_ABOVE).contains(&rtt);
    let problem = || value.wrong(format_args!("{rtt:?} is not from 1 us to {MAX_RTT_ABOVE:?}"));
    in_range.then_some(rtt).ok_or_else(problem)
}

/// In millionths.
fn read_loss(value: &Value<'_>) -> Result<u32, DocumentError> {
    let share = value.number("a share from 0 to below 1", |share| (0.0..1.0).contains(&share))?;
    Ok((share * 1e6).floor() as u32)
}

/// In millionths.
fn read_copy_share(value: &Value<'_>) -> Result<u32, DocumentError> {
    let share = value
        .number("a share from 0.000001 to 1", |share| (LEAST_COPY_SHARE..=1.0).contains(&share))?;
    Ok((share * 1e6).round() as u32)
}

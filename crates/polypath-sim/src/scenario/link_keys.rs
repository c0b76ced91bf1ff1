//! The keys that describe a link, for a path or for one of its directions.

use super::ScenarioError;
use super::read::Reader;
use super::table::{Table, Value};
use polypath_link::{Blackout, LinkConfig, Loss, QueueLimit, Rate, RateStep};
use polypath_units::{Bandwidth, ByteCount, Timestamp, parse_duration};
use std::time::Duration;

/// What a table says about a link; what it does not say is `None`.
#[derive(Clone, Default)]
pub(super) struct LinkKeys {
    rate: Option<Rate>,
    delay: Option<Duration>,
    jitter: Option<Duration>,
    reorder: Option<bool>,
    queue: Option<QueueLimit>,
    loss: Option<Loss>,
    mtu: Option<u32>,
    blackouts: Option<Vec<Blackout>>,
}

impl LinkKeys {
    /// Reads the keys of a link from a table that may have others.
    pub(super) fn read(
        table: &mut Table<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<Self, ScenarioError> {
        Ok(Self {
            rate: read_rate(table, reader)?,
            delay: table.read("delay", |value| duration(&value))?,
            jitter: table.read("jitter", |value| duration(&value))?,
            reorder: table.read("reorder", |value| value.boolean())?,
            queue: table.read("queue", |value| value.parse_with(parse_queue))?,
            loss: table.read("loss", |value| read_loss(&value))?,
            mtu: table.read("mtu", |value| read_mtu(&value))?,
            blackouts: table.read("blackout", |value| value.tables("blackout", read_blackout))?,
        })
    }

    /// These keys, and those of `base` where there are none.
    pub(super) fn over(self, base: &Self) -> Self {
        let base = base.clone();
        Self {
            rate: self.rate.or(base.rate),
            delay: self.delay.or(base.delay),
            jitter: self.jitter.or(base.jitter),
            reorder: self.reorder.or(base.reorder),
            queue: self.queue.or(base.queue),
            loss: self.loss.or(base.loss),
            mtu: self.mtu.or(base.mtu),
            blackouts: self.blackouts.or(base.blackouts),
        }
    }

    /// The link; on failure the key that is missing.
    pub(super) fn into_config(self) -> Result<LinkConfig, &'static str> {
        let rate = self.rate.ok_or("`rate` or `trace`")?;
        let default = LinkConfig::new(rate, self.delay.ok_or("`delay`")?);
        Ok(LinkConfig {
            jitter: self.jitter.unwrap_or(default.jitter),
            reorder: self.reorder.unwrap_or(default.reorder),
            queue: self.queue.unwrap_or(default.queue),
            loss: self.loss.unwrap_or(default.loss),
            mtu: self.mtu.or(default.mtu),
            blackouts: self.blackouts.unwrap_or_default(),
            ..default
        })
    }
}

pub(super) fn duration(value: &Value<'_>) -> Result<Duration, ScenarioError> {
    value.parse_with(parse_duration)
}

pub(super) fn timestamp(value: &Value<'_>) -> Result<Timestamp, ScenarioError> {
    duration(value).map(|since_start| Timestamp::ZERO + since_start)
}

/// A rate for some time: from `at` until `until`.
struct Blockage {
    at: Timestamp,
    rate: Bandwidth,
    until: Option<Timestamp>,
}

fn read_rate(
    table: &mut Table<'_>,
    reader: &mut Reader<'_>,
) -> Result<Option<Rate>, ScenarioError> {
    let (rate, trace) = (table.get("rate"), table.get("trace"));
    let repeat = table.get("trace_loop");
    let (schedule, blockage) = (table.get("rate_schedule"), table.get("blockage"));
    match (rate, trace) {
        (Some(rate), None) => {
            refuse([&repeat], "goes with `trace` only")?;
            let initial = rate.parse::<Bandwidth>()?;
            let steps = schedule.map_or(Ok(Vec::new()), |value| read_schedule(&value))?;
            let blockage = blockage.map(|value| read_blockage(&value)).transpose()?;
            Ok(Some(with_blockage(initial, steps, blockage.as_ref())))
        }
        (None, Some(trace)) => {
            refuse([&schedule, &blockage], "goes with `rate` only, not with `trace`")?;
            let repeat = repeat.map_or(Ok(true), |value| value.boolean())?;
            Ok(Some(Rate::Trace { trace: reader.trace(&trace)?, repeat }))
        }
        (Some(_), Some(trace)) => Err(trace.wrong("a link has a `rate` or a `trace`, not both")),
        (None, None) => {
            refuse([&schedule, &blockage], "needs a `rate` beside it")?;
            refuse([&repeat], "goes with `trace` only").map(|()| None)
        }
    }
}

fn refuse<const N: usize>(
    values: [&Option<Value<'_>>; N],
    problem: &str,
) -> Result<(), ScenarioError> {
    values.into_iter().flatten().next().map_or(Ok(()), |value| Err(value.wrong(problem)))
}

fn read_schedule(value: &Value<'_>) -> Result<Vec<RateStep>, ScenarioError> {
    let steps = value.tables("rate_schedule", |mut table| {
        let at = table.read("at", |value| timestamp(&value))?;
        let rate = table.read("rate", |value| value.parse())?;
        table.finish()?;
        let at = at.ok_or_else(|| table.missing("`at`"))?;
        Ok(RateStep { at, rate: rate.ok_or_else(|| table.missing("`rate`"))? })
    })?;
    match steps.windows(2).find(|pair| pair[1].at <= pair[0].at) {
        Some(pair) => Err(value.wrong(format_args!(
            "the step at {} does not come after the one at {}; times must ascend",
            pair[1].at, pair[0].at
        ))),
        None => Ok(steps),
    }
}

fn read_blockage(value: &Value<'_>) -> Result<Blockage, ScenarioError> {
    let mut table = value.table("[path.blockage]")?;
    let at = table.read("at", |value| timestamp(&value))?;
    let rate = table.read("rate", |value| value.parse())?;
    let until = table.read("until", |value| timestamp(&value))?;
    table.finish()?;
    let at = at.ok_or_else(|| table.missing("`at`"))?;
    let rate = rate.ok_or_else(|| table.missing("`rate`"))?;
    if until.is_some_and(|until| until <= at) {
        return Err(value.wrong("`until` must be later than `at`"));
    }
    Ok(Blockage { at, rate, until })
}

/// The schedule with a blockage laid over it; after it the schedule holds again.
fn with_blockage(initial: Bandwidth, steps: Vec<RateStep>, blockage: Option<&Blockage>) -> Rate {
    let Some(&Blockage { at, rate, until }) = blockage else {
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

const QUEUE: &str = "a queue such as \"1 bdp\", \"1500 packets\" or \"1 MB\"";

fn parse_queue(text: &str) -> Result<QueueLimit, String> {
    let text = text.trim();
    let wrong = || format!("{text:?} is not {QUEUE}");
    if let Some(number) = text.strip_suffix("bdp") {
        let multiple = number.trim_end().parse::<f64>().map_err(|_| wrong())?;
        let allowed = multiple.is_finite() && multiple >= 0.0;
        return allowed.then_some(QueueLimit::Bdp { multiple, rtt: None }).ok_or_else(wrong);
    }
    if let Some(number) = text.strip_suffix("packets") {
        return number.trim_end().parse().map(QueueLimit::Packets).map_err(|_| wrong());
    }
    text.parse::<ByteCount>().map(|bytes| QueueLimit::Bytes(bytes.get())).map_err(|_| wrong())
}

fn read_loss(value: &Value<'_>) -> Result<Loss, ScenarioError> {
    if !value.is_table() {
        let probability = value.probability()?;
        return Ok(if probability == 0.0 { Loss::None } else { Loss::Bernoulli(probability) });
    }
    let mut table = value.table("loss")?;
    let model = table.read("gilbert_elliott", |value| read_gilbert_elliott(&value))?;
    table.finish()?;
    model.ok_or_else(|| table.missing("`gilbert_elliott`"))
}

fn read_gilbert_elliott(value: &Value<'_>) -> Result<Loss, ScenarioError> {
    let mut table = value.table("gilbert_elliott")?;
    let good_to_bad = table.read("good_to_bad", |value| value.probability())?;
    let bad_to_good = table.read("bad_to_good", |value| value.probability())?;
    let loss_good = table.read("loss_good", |value| value.probability())?;
    let loss_bad = table.read("loss_bad", |value| value.probability())?;
    table.finish()?;
    Ok(Loss::GilbertElliott {
        good_to_bad: good_to_bad.ok_or_else(|| table.missing("`good_to_bad`"))?,
        bad_to_good: bad_to_good.ok_or_else(|| table.missing("`bad_to_good`"))?,
        loss_good: loss_good.unwrap_or(0.0),
        loss_bad: loss_bad.unwrap_or(1.0),
    })
}

fn read_mtu(value: &Value<'_>) -> Result<u32, ScenarioError> {
    let bytes = value.parse::<ByteCount>()?.get();
    let mtu = u32::try_from(bytes).ok().filter(|&mtu| mtu > 0);
    mtu.ok_or_else(|| value.wrong(format_args!("{bytes} B; from 1 B to {} B is allowed", u32::MAX)))
}

fn read_blackout(mut table: Table<'_>) -> Result<Blackout, ScenarioError> {
    let from = table.read("from", |value| timestamp(&value))?;
    let end = table.get("to");
    let to = end.as_ref().map(timestamp).transpose()?;
    table.finish()?;
    let from = from.ok_or_else(|| table.missing("`from`"))?;
    match (to, end) {
        (Some(to), _) if to > from => Ok(Blackout { from, to }),
        (Some(_), Some(end)) => Err(end.wrong("must be later than `from`")),
        _ => Err(table.missing("`to`")),
    }
}

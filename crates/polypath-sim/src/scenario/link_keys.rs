//! The keys that describe a link, for both of its directions or for one.

use super::ScenarioError;
use super::declare::{Located, Probability, Readable, Shape, keys};
use super::generate::GenerateKeys;
use super::queue::Bytes;
use super::radio::RadioKeys;
use super::rate_source::{NO_RATE, Service};
use super::read::Reader;
use super::recovery::RecoveryChoice;
use super::seed::default_seed;
use super::trace_file::TraceFile;
use crate::network::PathLinks;
use core::num::NonZeroU64;
use polypath_config::{DocumentError, Table, Value};
use polypath_link::{Blackout, LinkConfig, Loss, QueueConfig};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

keys! {
    /// A link in one direction; what is not said is as in the table around it.
    #[derive(Clone, Default)]
    pub(super) struct LinkKeys {
        /// The rate. A link has one of `rate`, `trace`, `generate`, `radio`.
        rate: Option<Located<Bandwidth>>;
        /// A file of delivery opportunities in the format of Mahimahi, or a table of rates over
        /// time, relative to this file; or a table of the file and what it does not say itself.
        trace: Option<Located<TraceFile>>;
        /// Whether the trace starts over at its end (that is so if nothing is said).
        trace_loop: Option<Located<bool>>;
        /// A trace that is generated.
        generate: Option<Located<GenerateKeys>>;
        /// A rate over time as a model of radio has it.
        radio: Option<Located<RadioKeys>>;
        /// Changes of the rate, in order of time.
        rate_schedule: Option<Located<Vec<RateStepKeys>>>;
        /// A rate from one time on, or until another; after it the schedule holds again.
        blockage: Option<Located<BlockageKeys>>;
        /// The propagation delay, one way. Required.
        delay: Option<Duration> where "0 s" to "1 h";
        /// Each packet's delay varies by up to this, plus or minus, uniformly.
        jitter: Option<Duration> where "0 s" to "1 h";
        /// Whether jitter, and recovery that is not in order, may reorder packets.
        reorder: Option<bool>;
        /// The queue: how much may wait in a drop-tail queue, or a discipline. A BDP is the rate of
        /// the direction, the highest of a schedule or of `radio`, the mean of a trace, times the
        /// `queue_rtt`. If not given, `"1 bdp"`.
        queue: Option<QueueConfig>;
        /// The round-trip time that a queue in BDPs refers to; if not given, the delays of both
        /// directions of this link.
        queue_rtt: Option<Duration> where "0 s" to "1 h";
        /// Loss on the line: a probability for each packet, or a model.
        loss: Option<Loss>;
        /// Retransmission on the radio layer, which shows as delay. If not given, `"none"`.
        recovery: Option<RecoveryChoice>;
        /// Larger packets are dropped.
        mtu: Option<Bytes> where "1 B" to "4294967295 B";
        /// Outages that nobody is told of.
        blackout: Option<Vec<Located<BlackoutKeys>>>;
    }
}

keys! {
    /// A step of a rate schedule.
    #[derive(Clone)]
    pub(super) struct RateStepKeys {
        /// When.
        at: Timestamp;
        /// The rate from then on.
        rate: Bandwidth;
    }
}

keys! {
    /// A rate for some time.
    #[derive(Clone)]
    pub(super) struct BlockageKeys {
        /// When it begins.
        at: Timestamp;
        /// The rate during it.
        rate: Bandwidth;
        /// When it ends; without it, never.
        until: Option<Timestamp>;
    }
}

keys! {
    /// An outage.
    #[derive(Clone)]
    pub(super) struct BlackoutKeys {
        /// The first moment without the link.
        from: Timestamp;
        /// The first moment with it again.
        to: Located<Timestamp>;
    }
}

keys! {
    /// A model of loss: one of the two.
    struct LossKeys {
        /// Bursts: the two-state Markov chain of Gilbert and Elliott.
        gilbert_elliott: Option<GilbertElliottKeys>;
        /// Exactly every n-th packet is lost, retransmissions and handshakes counted: what
        /// response functions such as that of RFC 9438 assume.
        every: Option<u32> where 1 to 4294967295;
    }
}

keys! {
    /// A chain of a good and a bad state, which may change before each packet.
    struct GilbertElliottKeys {
        /// The probability of going from good to bad.
        good_to_bad: Probability;
        /// The probability of going from bad to good.
        bad_to_good: Probability;
        /// The probability of loss in the good state.
        loss_good: Probability = 0.0;
        /// The probability of loss in the bad state.
        loss_bad: Probability = 1.0;
    }
}

keys! {
    /// A pair of links, one for each direction.
    #[derive(Clone)]
    pub(super) struct PairKeys {
        /// What is different in the direction up: from the client to the server, or from the
        /// first to the second end.
        up: Option<LinkKeys>;
        /// What is different in the direction down.
        down: Option<LinkKeys>;
        ..both: LinkKeys;
    }
}

impl PairKeys {
    /// The links of these keys, which stand in the table `owner`. What is random and has no seed
    /// has one of the `name`.
    pub(super) fn links<T>(
        &self,
        name: &str,
        owner: &Located<T>,
        reader: &mut Reader<'_>,
    ) -> Result<PathLinks, ScenarioError> {
        let seed = default_seed(name);
        let common = self.both.service(seed, reader)?;
        let mut config = |direction: &Option<LinkKeys>| {
            let keys = direction.clone().unwrap_or_default();
            let service = keys.service(seed, reader)?.or_else(|| common.clone());
            let service = service.ok_or_else(|| owner.missing(NO_RATE))?;
            Ok::<_, ScenarioError>(keys.over(&self.both).into_config(service, owner)?)
        };
        let (mut up, mut down) = (config(&self.up)?, config(&self.down)?);
        let both_ways = up.delay.saturating_add(down.delay);
        for link in [&mut up, &mut down] {
            link.queue.set_rtt(both_ways);
            link.check().map_err(|problem| owner.wrong(problem))?;
        }
        Ok(PathLinks { up, down })
    }
}

impl LinkKeys {
    /// These keys, and those of `base` where there are none; the rate is no matter of this.
    fn over(self, base: &Self) -> Self {
        let base = base.clone();
        Self {
            delay: self.delay.or(base.delay),
            jitter: self.jitter.or(base.jitter),
            reorder: self.reorder.or(base.reorder),
            queue: self.queue.or(base.queue),
            queue_rtt: self.queue_rtt.or(base.queue_rtt),
            loss: self.loss.or(base.loss),
            recovery: self.recovery.or(base.recovery),
            mtu: self.mtu.or(base.mtu),
            blackout: self.blackout.or(base.blackout),
            ..self
        }
    }

    fn into_config<T>(
        self,
        Service { rate, blackouts: lost }: Service,
        owner: &Located<T>,
    ) -> Result<LinkConfig, DocumentError> {
        let delay = self.delay.ok_or_else(|| owner.missing("`delay`"))?;
        let default = LinkConfig::new(rate, delay);
        let mut queue = self.queue.unwrap_or(default.queue);
        if let Some(rtt) = self.queue_rtt {
            queue.set_rtt(rtt);
        }
        let given = self.blackout.unwrap_or_default();
        let mut blackouts = given.iter().map(blackout).collect::<Result<Vec<_>, _>>()?;
        blackouts.extend(lost);
        Ok(LinkConfig {
            jitter: self.jitter.unwrap_or(default.jitter),
            reorder: self.reorder.unwrap_or(default.reorder),
            queue,
            loss: self.loss.unwrap_or(default.loss),
            recovery: self.recovery.and_then(|recovery| recovery.0),
            mtu: self.mtu.map(Bytes::get),
            blackouts,
            ..default
        })
    }
}

fn blackout(keys: &Located<BlackoutKeys>) -> Result<Blackout, DocumentError> {
    let BlackoutKeys { from, to } = &keys.value;
    if to.value <= *from {
        return Err(to.wrong("must be later than `from`"));
    }
    Ok(Blackout { from: *from, to: to.value })
}

impl Readable for Loss {
    fn shape() -> Shape {
        Shape::OneOf(vec![Probability::shape(), LossKeys::shape()])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        if value.is_table() {
            let table = value.table()?;
            return LossKeys::read(value)?.model(&table);
        }
        let Probability(probability) = Probability::read(value)?;
        Ok(if probability == 0.0 { Self::None } else { Self::Bernoulli(probability) })
    }
}

impl LossKeys {
    fn model(self, table: &Table<'_>) -> Result<Loss, DocumentError> {
        let periodic = |every: u32| NonZeroU64::new(every.into());
        match (self.gilbert_elliott, self.every.and_then(periodic)) {
            (Some(bursts), None) => Ok(bursts.into()),
            (None, Some(every)) => Ok(Loss::Periodic { every }),
            _ => Err(table.missing("either `gilbert_elliott` or `every`")),
        }
    }
}

impl From<GilbertElliottKeys> for Loss {
    fn from(keys: GilbertElliottKeys) -> Self {
        Self::GilbertElliott {
            good_to_bad: keys.good_to_bad.0,
            bad_to_good: keys.bad_to_good.0,
            loss_good: keys.loss_good.0,
            loss_bad: keys.loss_bad.0,
        }
    }
}

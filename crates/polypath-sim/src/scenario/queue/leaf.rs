//! Queues without others in them.

use super::limit::{Bytes, Threshold};
use crate::scenario::declare::{Located, Probability, Refine, keys};
use polypath_config::{DocumentError, Table};
use polypath_link::{CoDelConfig, FqCoDelConfig, QueueLimit, RedConfig};
use std::time::Duration;

keys! {
    /// A drop-tail queue.
    pub(in crate::scenario) struct DropTailKeys {
        /// How much may wait.
        limit: QueueLimit;
    }
}

keys! {
    /// Random early detection.
    pub(in crate::scenario) struct RedKeys {
        /// The average queue from which packets are dropped, and both thresholds' unit. If neither
        /// threshold is given, 5 packets.
        min_threshold: Option<Threshold>;
        /// The average queue at which the probability has reached `max_probability`. If neither
        /// threshold is given, 15 packets. In bytes, large packets are dropped more often.
        max_threshold: Option<Located<Threshold>>;
        /// The probability of a drop at the upper threshold, above 0.
        max_probability: Probability = 0.1;
        /// The weight of a sample in the average, above 0.
        weight: Probability = 0.002;
        /// Whether the probability rises on to 1 at twice the upper threshold, or jumps.
        gentle: bool = true;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false;
        /// The mean packet, for idle time and for thresholds in bytes.
        mean_packet: Bytes = "1000 B" where "1 B" to "4294967295 B";
        /// How much may really wait.
        limit: QueueLimit = "100 packets";
    }
}

impl Refine for RedConfig {
    type Raw = RedKeys;

    fn refine(keys: RedKeys, table: &Table<'_>) -> Result<Self, DocumentError> {
        let thresholds = match (keys.min_threshold, keys.max_threshold) {
            (None, None) => Self::default().thresholds,
            (Some(min), Some(max)) => min.up_to(&max)?,
            (Some(_), None) => return Err(table.missing("`max_threshold` beside `min_threshold`")),
            (None, Some(_)) => return Err(table.missing("`min_threshold` beside `max_threshold`")),
        };
        Ok(Self {
            thresholds,
            max_probability: keys.max_probability.0,
            weight: keys.weight.0,
            gentle: keys.gentle,
            ecn: keys.ecn,
            mean_packet: keys.mean_packet.get(),
            limit: keys.limit,
        })
    }
}

keys! {
    /// Controlled delay.
    pub(in crate::scenario) struct CoDelKeys {
        /// The delay that may stay, up to the interval.
        target: Duration = "5 ms" where "0 s" to "1 h";
        /// How long the delay may stay above the target.
        interval: Duration = "100 ms" where "1 ns" to "1 h";
        /// How much may wait.
        limit: QueueLimit = "1000 packets";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false;
    }
}

impl Refine for CoDelConfig {
    type Raw = CoDelKeys;

    fn refine(keys: CoDelKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        let CoDelKeys { target, interval, limit, ecn } = keys;
        Ok(Self { target, interval, limit, ecn })
    }
}

keys! {
    /// Flow queues with controlled delay.
    pub(in crate::scenario) struct FqCoDelKeys {
        /// The delay that may stay, up to the interval.
        target: Duration = "5 ms" where "0 s" to "1 h";
        /// How long the delay may stay above the target.
        interval: Duration = "100 ms" where "1 ns" to "1 h";
        /// How much may wait in all flow queues together.
        limit: QueueLimit = "10240 packets";
        /// The number of flow queues.
        queues: u32 = 1024 where 1 to 65536;
        /// How much a flow queue may send in its turn.
        quantum: Bytes = "1514 B" where "1 B" to "1 GiB";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = true;
    }
}

impl Refine for FqCoDelConfig {
    type Raw = FqCoDelKeys;

    fn refine(keys: FqCoDelKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        let FqCoDelKeys { target, interval, limit, queues, quantum, ecn } = keys;
        Ok(Self { target, interval, limit, queues, quantum: quantum.get(), ecn })
    }
}

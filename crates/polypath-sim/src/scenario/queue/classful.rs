//! Queues with others in them.

use super::limit::Bytes;
use crate::scenario::declare::{Located, Refine, keys};
use polypath_config::{DocumentError, Table};
use polypath_link::{
    HtbClass, HtbConfig, HtbContent, LeafQueue, PeakRate, PriorityConfig, QueueLimit,
    TokenBucketConfig,
};
use polypath_units::Bandwidth;

keys! {
    /// Strict priority.
    pub(in crate::scenario) struct PriorityKeys {
        /// The queue of each band, the most urgent first, up to 256. Packets of class 0 go to the
        /// first one, and so on; those of classes without a band to the last.
        bands: Vec<LeafQueue> = ["1000 packets", "1000 packets", "1000 packets"];
    }
}

impl Refine for PriorityConfig {
    type Raw = PriorityKeys;

    fn refine(keys: PriorityKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        Ok(Self { bands: keys.bands })
    }
}

keys! {
    /// A token bucket filter.
    pub(in crate::scenario) struct TokenBucketKeys {
        /// The sustained rate.
        rate: Bandwidth where "1 bit/s" to "1000000 Gbit/s";
        /// How much may be sent at once after a pause. Larger packets are dropped.
        burst: Bytes where "1 B" to "4294967295 B";
        /// The rate of a burst, at least `rate`; if not given, that of the link.
        peak_rate: Option<Bandwidth>;
        /// How much may be sent faster than `peak_rate`. Larger packets are dropped.
        peak_burst: Option<Bytes> where "1 B" to "4294967295 B";
        /// What waits.
        queue: LeafQueue = "1000 packets";
    }
}

impl Refine for TokenBucketConfig {
    type Raw = TokenBucketKeys;

    fn refine(keys: TokenBucketKeys, table: &Table<'_>) -> Result<Self, DocumentError> {
        let TokenBucketKeys { rate, burst, peak_rate, peak_burst, queue } = keys;
        let peak = match (peak_rate, peak_burst) {
            (Some(rate), Some(burst)) => Some(PeakRate { rate, burst: burst.get() }),
            (None, None) => None,
            (Some(_), None) => return Err(table.missing("`peak_burst` beside `peak_rate`")),
            (None, Some(_)) => return Err(table.missing("`peak_rate` beside `peak_burst`")),
        };
        Ok(Self { rate, burst: burst.get(), peak, queue })
    }
}

keys! {
    /// A hierarchical token bucket.
    pub(in crate::scenario) struct HtbKeys {
        /// The classes at the top. They do not borrow, so usually it is one for the whole link.
        class: Vec<HtbClass>;
        /// Packets of classes that no leaf serves count as of this one.
        default: u8 = 0;
    }
}

impl Refine for HtbConfig {
    type Raw = HtbKeys;

    fn refine(keys: HtbKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        Ok(Self { classes: keys.class, default: keys.default })
    }
}

keys! {
    /// A class of HTB. It has classes in it, or is a leaf, which `serves` packets.
    pub(in crate::scenario) struct HtbClassKeys {
        /// A name for errors.
        name: String;
        /// What it gets at least. Those of the classes in it should not add up to more.
        rate: Bandwidth where "1 bit/s" to "1000000 Gbit/s";
        /// What it gets at most, at least `rate`; if not given, `rate`: it does not borrow.
        ceil: Option<Bandwidth>;
        /// How much it may send at once of its rate; if not given, 1 ms of it and 1600 B.
        burst: Option<Bytes> where "1 B" to "4294967295 B";
        /// How much it may send at once of its ceiling; if not given, 1 ms of it and 1600 B.
        ceil_burst: Option<Bytes> where "1 B" to "4294967295 B";
        /// Of a leaf: the lowest number is served, and borrows, first.
        priority: u8 = 0;
        /// Of a leaf: what is borrowed is shared in this proportion. If not given, a tenth of the
        /// rate in bytes per second, from 1500 B to 200 kB.
        quantum: Option<Bytes> where "1 B" to "4294967295 B";
        /// The classes in it.
        class: Option<Vec<HtbClass>>;
        /// Of a leaf: the classes of packets that it serves.
        serves: Option<Located<Vec<u8>>>;
        /// Of a leaf: what waits. If not given, `"1000 packets"`.
        queue: Option<Located<LeafQueue>>;
    }
}

impl Refine for HtbClass {
    type Raw = HtbClassKeys;

    fn refine(keys: HtbClassKeys, table: &Table<'_>) -> Result<Self, DocumentError> {
        let HtbClassKeys { name, rate, ceil, burst, ceil_burst, priority, quantum, .. } = keys;
        let content = content(keys.class, keys.serves, keys.queue, table)?;
        let class = Self::new(name, rate, content).with_ceil(ceil.unwrap_or(rate));
        Ok(Self {
            burst: burst.map_or(class.burst, Bytes::get),
            ceil_burst: ceil_burst.map_or(class.ceil_burst, Bytes::get),
            priority,
            quantum: quantum.map_or(class.quantum, Bytes::get),
            ..class
        })
    }
}

/// Classes inside a class, or the packets that it serves and their queue.
fn content(
    classes: Option<Vec<HtbClass>>,
    serves: Option<Located<Vec<u8>>>,
    queue: Option<Located<LeafQueue>>,
    table: &Table<'_>,
) -> Result<HtbContent, DocumentError> {
    match (classes, serves, queue) {
        (Some(_), Some(serves), _) => {
            Err(serves.wrong("a class has classes in it or `serves` packets"))
        }
        (Some(_), None, Some(queue)) => {
            Err(queue.wrong("goes with `serves`, in a class without classes"))
        }
        (Some(classes), None, None) => Ok(HtbContent::Classes(classes)),
        (None, Some(serves), queue) => {
            let queue = queue.map_or(QueueLimit::Packets(1000).into(), |queue| queue.value);
            Ok(HtbContent::Leaf { serves: serves.value, queue })
        }
        (None, None, _) => Err(table.missing("`serves`, or classes in it")),
    }
}

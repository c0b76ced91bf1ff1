//! The parameters of HTB.

use crate::config_error::ConfigError;
use crate::queue::check::require;
use crate::queue::{LeafQueue, QueueLimit};
use core::fmt;
use polypath_units::Bandwidth;
use std::collections::BTreeSet;
use std::time::Duration;

/// The parameters of HTB.
#[derive(Clone, Debug, PartialEq)]
pub struct HtbConfig {
    /// The classes at the top; they do not borrow from each other, so usually one that stands
    /// for the link.
    pub classes: Vec<HtbClass>,
    /// Packets of classes that no leaf serves count as of this one, which a leaf must serve.
    pub default: u8,
}

/// A class of HTB.
#[derive(Clone, Debug, PartialEq)]
pub struct HtbClass {
    /// A name for messages.
    pub name: String,
    /// What it gets at least while it has packets, even if that exceeds the ceiling of its
    /// parent: keep the sum of the rates in a class within that of the class. Above zero.
    pub rate: Bandwidth,
    /// What it gets at most, borrowing included; at least the rate. Equal to the rate, the
    /// default, it does not borrow.
    pub ceil: Bandwidth,
    /// How many bytes it may send at once after a pause, of its rate.
    pub burst: u32,
    /// The same of its ceiling.
    pub ceil_burst: u32,
    /// Who is served, or borrows, first; 0, the default, is the most urgent. Counts in leaves.
    pub priority: u8,
    /// Bytes that it may send in its turn among equals. Borrowed rate is shared in proportion to
    /// the quanta, so each should be at least the largest packet. Counts in leaves.
    pub quantum: u32,
    /// What is in it.
    pub content: HtbContent,
}

/// What is in a class.
#[derive(Clone, Debug, PartialEq)]
pub enum HtbContent {
    /// Other classes.
    Classes(Vec<HtbClass>),
    /// Packets.
    Leaf {
        /// The packet classes that it serves ([`Packet::class`](crate::Packet::class)).
        serves: Vec<u8>,
        /// Their queue.
        queue: LeafQueue,
    },
}

/// What a default burst holds in addition to a millisecond of the rate: a packet with headers, as
/// in tc.
const PACKET: u64 = 1600;

/// The default quantum is a tenth of a second of the rate in bytes (`r2q` 10 of tc), within these.
const QUANTA: core::ops::RangeInclusive<u64> = 1500..=200_000;

const NAME: &str = "htb";

impl HtbClass {
    /// A class of this rate that does not borrow, with the default bursts (1 ms of the rate and
    /// 1600 B) and quantum (a tenth of the rate in bytes/s, from 1500 B to 200 kB).
    pub fn new(name: impl Into<String>, rate: Bandwidth, content: HtbContent) -> Self {
        let quantum = rate.bytes_in(Duration::from_millis(100));
        Self {
            name: name.into(),
            rate,
            ceil: rate,
            burst: default_burst(rate),
            ceil_burst: default_burst(rate),
            priority: 0,
            quantum: quantum.clamp(*QUANTA.start(), *QUANTA.end()) as u32,
            content,
        }
    }

    /// A leaf with a queue of 1000 packets.
    pub fn leaf(name: impl Into<String>, rate: Bandwidth, serves: Vec<u8>) -> Self {
        let queue = QueueLimit::Packets(1000).into();
        Self::new(name, rate, HtbContent::Leaf { serves, queue })
    }

    /// The same with this ceiling and the default burst of it: the class borrows.
    #[must_use]
    pub fn with_ceil(self, ceil: Bandwidth) -> Self {
        Self { ceil, ceil_burst: default_burst(ceil), ..self }
    }

    fn check(&self, served: &mut BTreeSet<u8>) -> Result<(), ConfigError> {
        let &Self { rate, ceil, burst, ceil_burst, quantum, .. } = self;
        let allowed = "a rate above zero is allowed";
        require(rate > Bandwidth::ZERO, (NAME, "rate"), self.given(rate), allowed)?;
        require(ceil >= rate, (NAME, "ceil"), self.given(ceil), "at least the rate is allowed")?;
        for (name, size) in [("burst", burst), ("ceil_burst", ceil_burst), ("quantum", quantum)] {
            require(size > 0, (NAME, name), self.given(size), "from 1 B on is allowed")?;
        }
        match &self.content {
            HtbContent::Classes(classes) => {
                let (some, allowed) = (!classes.is_empty(), "at least one class in it is allowed");
                require(some, (NAME, "class"), self.given("none"), allowed)?;
                classes.iter().try_for_each(|class| class.check(served))
            }
            HtbContent::Leaf { serves, queue } => {
                for class in serves {
                    let allowed = "a packet class that no other leaf serves is allowed";
                    let once = served.insert(*class);
                    require(once, (NAME, "serves"), self.given(class), allowed)?;
                }
                queue.check()
            }
        }
    }

    /// A value of this class as errors show it.
    fn given(&self, value: impl fmt::Display) -> String {
        format!("{value} in class {:?}", self.name)
    }

    fn for_each_queue(&mut self, change: &mut dyn FnMut(&mut LeafQueue)) {
        match &mut self.content {
            HtbContent::Classes(classes) => {
                classes.iter_mut().for_each(|class| class.for_each_queue(change));
            }
            HtbContent::Leaf { queue, .. } => change(queue),
        }
    }
}

fn default_burst(rate: Bandwidth) -> u32 {
    let bytes = rate.bytes_in(Duration::from_millis(1)).saturating_add(PACKET);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl HtbConfig {
    pub(in crate::queue) fn for_each_queue(&mut self, change: &mut dyn FnMut(&mut LeafQueue)) {
        self.classes.iter_mut().for_each(|class| class.for_each_queue(change));
    }

    pub(in crate::queue) fn check(&self) -> Result<(), ConfigError> {
        let mut served = BTreeSet::new();
        self.classes.iter().try_for_each(|class| class.check(&mut served))?;
        let known = served.contains(&self.default);
        require(known, (NAME, "default"), self.default, "a class that a leaf serves is allowed")
    }
}

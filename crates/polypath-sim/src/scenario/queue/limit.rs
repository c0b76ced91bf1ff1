//! Quantities of queues.

use crate::scenario::declare::{Located, Readable, Shape, TextForm};
use polypath_config::{DocumentError, Value};
use polypath_link::{QueueLimit, RedThresholds};
use polypath_units::ByteCount;

const LIMIT: TextForm = TextForm {
    name: "queue",
    what: "a queue such as \"1 bdp\", \"1500 packets\" or \"1 MB\"",
    pattern: r"^\s*(([0-9]+\.?[0-9]*|\.[0-9]+)\s*(bdp|B|kB|MB|GB|KiB|MiB|GiB)|[0-9]+\s*packets)\s*$",
};

impl Readable for QueueLimit {
    fn shape() -> Shape {
        Shape::Text(&LIMIT)
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        value.parse_with(parse_limit)
    }
}

fn parse_limit(text: &str) -> Result<QueueLimit, String> {
    let text = text.trim();
    let wrong = || format!("{text:?} is not {}", LIMIT.what);
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

/// A threshold of RED.
#[derive(Clone, Copy)]
pub(in crate::scenario) enum Threshold {
    Packets(u64),
    Bytes(u64),
}

const THRESHOLD: TextForm = TextForm {
    name: "queue length",
    what: "a queue length such as \"15 packets\" or \"15 kB\"",
    pattern: r"^\s*(([0-9]+\.?[0-9]*|\.[0-9]+)\s*(B|kB|MB|GB|KiB|MiB|GiB)|[0-9]+\s*packets)\s*$",
};

impl Readable for Threshold {
    fn shape() -> Shape {
        Shape::Text(&THRESHOLD)
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        value.parse_with(|text| match parse_limit(text) {
            Ok(QueueLimit::Packets(packets)) => Ok(Self::Packets(packets)),
            Ok(QueueLimit::Bytes(bytes)) => Ok(Self::Bytes(bytes)),
            Ok(QueueLimit::Bdp { .. }) | Err(_) => {
                Err(format!("{:?} is not {}", text.trim(), THRESHOLD.what))
            }
        })
    }
}

impl Threshold {
    /// This as the lower threshold, and the upper one.
    pub(super) fn up_to(self, max: &Located<Self>) -> Result<RedThresholds, DocumentError> {
        match (self, max.value) {
            (Self::Packets(min), Self::Packets(max)) => Ok(RedThresholds::Packets { min, max }),
            (Self::Bytes(min), Self::Bytes(max)) => Ok(RedThresholds::Bytes { min, max }),
            _ => Err(max
                .wrong("both thresholds are in packets (\"15 packets\") or in bytes (\"15 kB\")")),
        }
    }
}

/// A size that a packet or burst can have.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(in crate::scenario) struct Bytes(u32);

impl Bytes {
    pub(in crate::scenario) const fn get(self) -> u32 {
        self.0
    }
}

impl Readable for Bytes {
    fn shape() -> Shape {
        ByteCount::shape()
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        let bytes = u32::try_from(ByteCount::read(value)?.get());
        bytes.map(Self).map_err(|_| {
            let (given, most) = (value.written(), u32::MAX);
            value.wrong(format_args!("{given} is out of range; up to {most} B is allowed"))
        })
    }

    fn within(&self, low: &Self, high: &Self) -> bool {
        (low..=high).contains(&self)
    }
}

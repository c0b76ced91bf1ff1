//! What advice is for.

use core::fmt;
use core::str::FromStr;

/// What is wanted most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The highest goodput of a long transfer.
    #[default]
    Throughput,
    /// The least time until data is delivered in order, in the 99th percentile.
    Latency,
    /// The highest goodput that is left when the most important link dies.
    Reliability,
    /// The least cost per GB.
    Cost,
}

/// The error for a name that no goal has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown goal {given:?}; allowed: throughput, latency, reliability, cost")]
pub struct UnknownGoal {
    given: String,
}

impl Goal {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Throughput, Self::Latency, Self::Reliability, Self::Cost];

    /// The name that chooses it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::Reliability => "reliability",
            Self::Cost => "cost",
        }
    }
}

impl FromStr for Goal {
    type Err = UnknownGoal;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|goal| goal.name() == text);
        found.ok_or_else(|| UnknownGoal { given: text.to_owned() })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

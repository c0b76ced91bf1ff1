//! How the datagrams of a flow get their paths.

use super::DecodeError;
use super::varint::Reader;
use core::fmt;
use core::str::FromStr;

/// How the datagrams of a flow use the paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FlowMode {
    /// Spread over all paths by the scheduler, for rate.
    #[default]
    Aggregate,
    /// Each on several paths, for certainty.
    Redundant,
    /// All on the best path, for delay.
    Best,
    /// Each on the path of smallest delay when it is sent.
    SmallestDelay,
    /// Each on the first path in their order that is not congested.
    PriorityBased,
    /// Spread over all paths in proportion to their weights.
    LoadBalancing,
}

impl FlowMode {
    /// All of them, by their numbers on the wire.
    pub const ALL: [Self; 6] = [
        Self::Aggregate,
        Self::Redundant,
        Self::Best,
        Self::SmallestDelay,
        Self::PriorityBased,
        Self::LoadBalancing,
    ];

    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aggregate => "aggregate",
            Self::Redundant => "redundant",
            Self::Best => "best",
            Self::SmallestDelay => "smallest_delay",
            Self::PriorityBased => "priority_based",
            Self::LoadBalancing => "load_balancing",
        }
    }

    /// Whether datagrams that follow each other take different paths as a rule, so that their order
    /// is lost.
    pub const fn spreads(self) -> bool {
        matches!(self, Self::Aggregate | Self::PriorityBased | Self::LoadBalancing)
    }

    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Aggregate => 0,
            Self::Redundant => 1,
            Self::Best => 2,
            Self::SmallestDelay => 3,
            Self::PriorityBased => 4,
            Self::LoadBalancing => 5,
        }
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let number = reader.bounded(5, "FLOW_OPEN mode", "0 to 5")?;
        Ok(Self::ALL[number as usize])
    }
}

impl fmt::Display for FlowMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is no mode of flows, or one that needs more than its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a way to carry datagrams; allowed: aggregate, redundant, best, smallest_delay, \
     load_balancing"
)]
pub struct ParseFlowModeError(String);

/// All but [`FlowMode::PriorityBased`], which says nothing without an order of paths.
impl FromStr for FlowMode {
    type Err = ParseFlowModeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let alone = |mode: &Self| *mode != Self::PriorityBased && mode.name() == text;
        Self::ALL.into_iter().find(alone).ok_or_else(|| ParseFlowModeError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_round_trip_and_the_error_has_all_that_stand_alone() {
        let error = "priority_based".parse::<FlowMode>().unwrap_err().to_string();
        for (number, mode) in FlowMode::ALL.into_iter().enumerate() {
            assert_eq!(mode.number(), number as u64);
            if mode != FlowMode::PriorityBased {
                assert_eq!(mode.to_string().parse(), Ok(mode));
                assert!(error.contains(mode.name()), "{error}");
            }
        }
    }
}

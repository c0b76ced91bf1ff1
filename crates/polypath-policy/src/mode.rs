//! What becomes of traffic.

use std::fmt;
use std::str::FromStr;

use crate::Steering;

/// How packets are spread over the paths, by the names of TS 23.501, clause 5.32.8, where there are
/// such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SteeringMode {
    /// Over all paths, as the scheduler of the bond says, for rate.
    #[default]
    Aggregate,
    /// Copies of each packet on several paths; the first counts.
    Redundant,
    /// All on one path, the active one, as long as it works. It is the first of the rule's paths
    /// that works. Of a rule without paths it is the one of lowest delay when the first packet is
    /// sent, or when the one before has failed.
    ActiveStandby,
    /// Each packet on the path that has the lowest delay when it is sent.
    SmallestDelay,
    /// On the first of the rule's paths, and while that is congested on the next.
    PriorityBased,
    /// Over the paths in proportion to their weights, or to what they carry.
    LoadBalancing,
}

impl SteeringMode {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] = [
        Self::Aggregate,
        Self::Redundant,
        Self::ActiveStandby,
        Self::SmallestDelay,
        Self::PriorityBased,
        Self::LoadBalancing,
    ];

    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aggregate => "aggregate",
            Self::Redundant => "redundant",
            Self::ActiveStandby => "active_standby",
            Self::SmallestDelay => "smallest_delay",
            Self::PriorityBased => "priority_based",
            Self::LoadBalancing => "load_balancing",
        }
    }

    /// Whether packets that follow each other take different paths as a rule, and are put in order
    /// at the other end.
    pub const fn puts_in_order(self) -> bool {
        matches!(self, Self::Aggregate | Self::PriorityBased | Self::LoadBalancing)
    }
}

impl fmt::Display for SteeringMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a rule does with the traffic that it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It is carried so.
    Steer(Steering),
    /// It is not carried: connections are refused, packets dropped.
    Drop,
}

/// Text that is no steering mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no steering mode; allowed: aggregate, redundant, active_standby, smallest_delay, \
     priority_based, load_balancing, drop"
)]
pub struct ParseTreatmentError(String);

impl Treatment {
    /// The name of its mode in texts.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Steer(steering) => steering.mode.name(),
            Self::Drop => "drop",
        }
    }

    /// How the traffic is carried; `None` if it is not.
    pub const fn steering(&self) -> Option<&Steering> {
        match self {
            Self::Steer(steering) => Some(steering),
            Self::Drop => None,
        }
    }
}

impl From<SteeringMode> for Treatment {
    fn from(mode: SteeringMode) -> Self {
        Self::Steer(mode.into())
    }
}

/// All that a rule says of it.
impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steer(steering) => steering.fmt(f),
            Self::Drop => f.write_str(self.name()),
        }
    }
}

/// From the name of its mode: on all paths, and with all copies.
impl FromStr for Treatment {
    type Err = ParseTreatmentError;

    fn from_str(text: &str) -> Result<Self, ParseTreatmentError> {
        let modes = SteeringMode::ALL.into_iter().map(Self::from);
        let named = modes.chain([Self::Drop]).find(|treatment| treatment.name() == text);
        named.ok_or_else(|| ParseTreatmentError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treatments_round_trip_and_the_error_has_all_of_them() {
        let error = "best".parse::<Treatment>().unwrap_err().to_string();
        let modes = SteeringMode::ALL.into_iter().map(Treatment::from);
        for treatment in modes.chain([Treatment::Drop]) {
            assert!(error.contains(treatment.name()), "{error}");
            assert_eq!(treatment.to_string().parse(), Ok(treatment));
        }
    }
}

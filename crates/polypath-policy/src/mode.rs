//! What becomes of traffic.

use std::fmt;
use std::str::FromStr;

/// How packets are spread over the paths, by the names of TS 23.501, clause 5.32.8, where there are
/// such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SteeringMode {
    /// Over all paths, as the scheduler of the bond says, for rate.
    #[default]
    Aggregate,
    /// Each packet on every path; the first copy counts.
    Redundant,
    /// All on one path, the active one, as long as it works. It is the one of lowest delay when
    /// the first packet is sent, or when the one before has failed.
    ActiveStandby,
    /// Each packet on the path that has the lowest delay when it is sent.
    SmallestDelay,
}

/// What a rule does with the traffic that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It is carried in this mode.
    Steer(SteeringMode),
    /// It is not carried: connections are refused, packets dropped.
    Drop,
}

/// Text that is no steering mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no steering mode; allowed: aggregate, redundant, active_standby, \
     smallest_delay, drop"
)]
pub struct ParseTreatmentError(String);

impl Treatment {
    const ALL: [Self; 5] = [
        Self::Steer(SteeringMode::Aggregate),
        Self::Steer(SteeringMode::Redundant),
        Self::Steer(SteeringMode::ActiveStandby),
        Self::Steer(SteeringMode::SmallestDelay),
        Self::Drop,
    ];

    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steer(SteeringMode::Aggregate) => "aggregate",
            Self::Steer(SteeringMode::Redundant) => "redundant",
            Self::Steer(SteeringMode::ActiveStandby) => "active_standby",
            Self::Steer(SteeringMode::SmallestDelay) => "smallest_delay",
            Self::Drop => "drop",
        }
    }

    /// Whether TCP connections can have it. They are streams of the bond, whose data its scheduler
    /// spreads over all paths.
    pub(crate) fn is_for_streams(self) -> bool {
        matches!(self, Self::Steer(SteeringMode::Aggregate) | Self::Drop)
    }
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Treatment {
    type Err = ParseTreatmentError;

    fn from_str(text: &str) -> Result<Self, ParseTreatmentError> {
        let named = Self::ALL.into_iter().find(|treatment| treatment.name() == text);
        named.ok_or_else(|| ParseTreatmentError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treatments_round_trip_and_the_error_has_all_of_them() {
        let error = "best".parse::<Treatment>().unwrap_err().to_string();
        for treatment in Treatment::ALL {
            assert_eq!(treatment.to_string().parse(), Ok(treatment));
            assert!(error.contains(treatment.name()), "{error}");
        }
    }
}

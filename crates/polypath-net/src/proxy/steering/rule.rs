//! One rule: a traffic descriptor and a steering mode.

use std::fmt;
use std::str::FromStr;

use polypath_bond::FlowMode;
use polypath_bond::codec::ParseFlowModeError;

use super::{ParseDscpError, Traffic, TrafficDescriptor};

/// `DESCRIPTOR: MODE`, such as `port 53: redundant`, `dscp ef: redundant` or
/// `port 27000-27100 dscp af41: best`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteeringRule {
    descriptor: TrafficDescriptor,
    mode: FlowMode,
}

/// Text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a rule for datagrams: {problem}; allowed: DESCRIPTOR: MODE, such as \
     \"port 53: redundant\", \"dscp ef: redundant\" or \"port 27000-27100 dscp af41: best\""
)]
pub struct SteeringRuleError {
    given: String,
    problem: SteeringRuleProblem,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SteeringRuleProblem {
    /// There is no `: MODE`.
    #[error("the : MODE is missing")]
    NoMode,
    /// MODE is none.
    #[error(transparent)]
    Mode(#[from] ParseFlowModeError),
    /// There is no DESCRIPTOR.
    #[error("it does not say for which datagrams it is")]
    NoDescriptor,
    /// DESCRIPTOR has another word.
    #[error("{0:?} describes no datagrams")]
    Word(String),
    /// DESCRIPTOR says the same twice.
    #[error("{0:?} stands twice")]
    Twice(String),
    /// Ports are neither a port nor a range.
    #[error("{0:?} is neither a port from 1 to 65535 nor FIRST-LAST")]
    Ports(String),
    /// A DSCP is none.
    #[error(transparent)]
    Dscp(#[from] ParseDscpError),
    /// It is not known of what is received.
    #[error("this system does not tell the DSCP of datagrams, as Linux does")]
    DscpUnknown,
}

impl SteeringRule {
    /// The mode of the datagrams that it matches.
    pub fn mode(&self) -> FlowMode {
        self.mode
    }

    pub(super) fn asks_for_dscp(&self) -> bool {
        self.descriptor.asks_for_dscp()
    }

    pub(super) fn matches(&self, traffic: Traffic) -> bool {
        self.descriptor.matches(traffic)
    }

    /// Whether it matches all that `other` does.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.descriptor.covers(&other.descriptor)
    }
}

impl fmt::Display for SteeringRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.descriptor, self.mode)
    }
}

impl FromStr for SteeringRule {
    type Err = SteeringRuleError;

    fn from_str(text: &str) -> Result<Self, SteeringRuleError> {
        parse(text).map_err(|problem| SteeringRuleError { given: text.to_owned(), problem })
    }
}

fn parse(text: &str) -> Result<SteeringRule, SteeringRuleProblem> {
    let (descriptor, mode) = text.rsplit_once(':').ok_or(SteeringRuleProblem::NoMode)?;
    Ok(SteeringRule {
        descriptor: TrafficDescriptor::parse(descriptor)?,
        mode: mode.trim().parse()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rules_round_trip() {
        for text in [
            "port 53: redundant",
            "port 1-65535: aggregate",
            "dscp ef: redundant",
            "port 27000-27100 dscp 47: best",
        ] {
            assert_eq!(text.parse::<SteeringRule>().unwrap().to_string(), text);
        }
        for (text, short) in [
            ("  port  53-53  :best ", "port 53: best"),
            ("dscp 46 port 1: best", "port 1 dscp ef: best"),
        ] {
            assert_eq!(text.parse::<SteeringRule>().unwrap().to_string(), short);
        }
    }

    #[test]
    fn errors_name_the_fault_and_what_is_allowed() {
        for (bad, reason) in [
            ("", "the : MODE is missing"),
            ("port 53", "the : MODE is missing"),
            ("port 53: worst", "allowed: aggregate, redundant, best"),
            ("port 53:", "allowed: aggregate, redundant, best"),
            (": best", "does not say for which datagrams"),
            ("53: best", "\"53\" describes no datagrams"),
            ("PORT 53: best", "\"PORT\" describes no datagrams"),
            ("port: best", "\"\" is neither a port"),
            ("port 0: best", "\"0\" is neither a port from 1 to 65535"),
            ("port 65536: best", "\"65536\" is neither a port"),
            ("port +1: best", "\"+1\" is neither a port"),
            ("port 9-1: best", "\"9-1\" is neither a port"),
            ("port 1-: best", "\"1-\" is neither a port"),
            ("port 1-2-3: best", "\"1-2-3\" is neither a port"),
            ("port 1, 2: best", "\"1,\" is neither a port"),
            ("port 1 port 2: best", "\"port\" stands twice"),
            ("dscp 1 dscp 2: best", "\"dscp\" stands twice"),
            ("dscp 64: best", "\"64\" is no DSCP; allowed: numbers from 0 to 63, cs0 to cs7"),
            ("dscp: best", "\"\" is no DSCP"),
        ] {
            let message = bad.parse::<SteeringRule>().unwrap_err().to_string();
            assert!(message.contains(reason), "{bad}: {message}");
            assert!(message.contains("allowed: DESCRIPTOR: MODE, such as"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_parses_to_what_it_prints_or_fails(
            text in "(port [0-9]{0,5}(-[0-9]{1,5})?)? ?(dscp [a-f0-9]{1,4}|\\PC{0,20})?: ?(best|\\PC{0,9})",
        ) {
            if let Ok(rule) = text.parse::<SteeringRule>() {
                prop_assert_eq!(rule.to_string().parse(), Ok(rule));
            }
        }
    }
}

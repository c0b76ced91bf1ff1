//! Rules for UDP in one line.

use std::fmt;
use std::str::FromStr;

use crate::{
    Criterion, ParseDscpError, ParsePortRangeError, ParseTreatmentError, Protocol, Rule, RuleError,
    SteeringMode, TrafficDescriptor,
};

/// A rule for UDP in one line, `DESCRIPTOR: MODE`, such as `port 53: redundant`, `dscp ef:
/// redundant` or `port 27000-27100 dscp af41: best`. `best` stands for `active_standby`. The rule
/// is called like its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpRule(Rule);

/// Text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a rule for datagrams: {problem}; allowed: DESCRIPTOR: MODE, such as \
     \"port 53: redundant\", \"dscp ef: redundant\" or \"port 27000-27100 dscp af41: best\""
)]
pub struct ParseUdpRuleError {
    given: String,
    problem: UdpRuleProblem,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UdpRuleProblem {
    /// There is no `: MODE`.
    #[error("the : MODE is missing")]
    NoMode,
    /// MODE is none.
    #[error(transparent)]
    Mode(#[from] ParseTreatmentError),
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
    #[error(transparent)]
    Ports(#[from] ParsePortRangeError),
    /// A DSCP is none.
    #[error(transparent)]
    Dscp(#[from] ParseDscpError),
    /// The parts make no rule.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

impl UdpRule {
    /// The rule.
    pub fn rule(&self) -> &Rule {
        &self.0
    }
}

impl fmt::Display for UdpRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl FromStr for UdpRule {
    type Err = ParseUdpRuleError;

    fn from_str(text: &str) -> Result<Self, ParseUdpRuleError> {
        parse(text).map_err(|problem| ParseUdpRuleError { given: text.to_owned(), problem })
    }
}

fn parse(text: &str) -> Result<UdpRule, UdpRuleProblem> {
    let (descriptor, mode) = text.rsplit_once(':').ok_or(UdpRuleProblem::NoMode)?;
    let descriptor = parse_descriptor(descriptor)?;
    let mode = mode.trim();
    let treatment = match mode {
        "best" => SteeringMode::ActiveStandby.into(),
        _ => mode.parse()?,
    };
    let asked = |criterion: Criterion| {
        let wanted = descriptor.wanted(criterion);
        (!wanted.is_empty()).then(|| format!("{criterion} {}", wanted.concat()))
    };
    let asked: Vec<_> = [Criterion::Port, Criterion::Dscp].into_iter().filter_map(asked).collect();
    let name = format!("{}: {mode}", asked.join(" "));
    Ok(UdpRule(Rule::new(name, descriptor, treatment)?))
}

/// Reads words and their values, each at most once: `port 53 dscp ef`.
fn parse_descriptor(text: &str) -> Result<TrafficDescriptor, UdpRuleProblem> {
    let mut descriptor =
        TrafficDescriptor { protocol: vec![Protocol::UDP], ..TrafficDescriptor::default() };
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        match word {
            "port" => once(&mut descriptor.port, word, value.parse()?)?,
            "dscp" => once(&mut descriptor.dscp, word, value.parse()?)?,
            _ => return Err(UdpRuleProblem::Word(word.to_owned())),
        }
    }
    if descriptor.port.is_empty() && descriptor.dscp.is_empty() {
        return Err(UdpRuleProblem::NoDescriptor);
    }
    Ok(descriptor)
}

fn once<T>(place: &mut Vec<T>, word: &str, value: T) -> Result<(), UdpRuleProblem> {
    if !place.is_empty() {
        return Err(UdpRuleProblem::Twice(word.to_owned()));
    }
    place.push(value);
    Ok(())
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
            "port 54: best",
            "port 27000-27100 dscp 47: active_standby",
            "port 25: drop",
        ] {
            assert_eq!(text.parse::<UdpRule>().unwrap().to_string(), text);
        }
        for (text, short) in [
            ("  port  53-53  :redundant ", "port 53: redundant"),
            ("dscp 46 port 1: best", "port 1 dscp ef: best"),
        ] {
            assert_eq!(text.parse::<UdpRule>().unwrap().to_string(), short);
        }
    }

    #[test]
    fn errors_name_the_fault_and_what_is_allowed() {
        for (bad, reason) in [
            ("", "the : MODE is missing"),
            ("port 53", "the : MODE is missing"),
            (
                "port 53: worst",
                "allowed: aggregate, redundant, active_standby, smallest_delay, priority_based",
            ),
            ("port 53:", "\"\" is no steering mode; allowed: aggregate, redundant, active_standby"),
            ("port 53: priority_based", "priority_based needs `paths`"),
            (": best", "does not say for which datagrams"),
            ("53: best", "\"53\" describes no datagrams"),
            ("PORT 53: best", "\"PORT\" describes no datagrams"),
            ("port: best", "\"\" is neither a port"),
            ("port 65536: best", "\"65536\" is neither a port from 1 to 65535"),
            ("port 1, 2: best", "\"1,\" is neither a port"),
            ("port 1 port 2: best", "\"port\" stands twice"),
            ("dscp 1 dscp 2: best", "\"dscp\" stands twice"),
            ("dscp 64: best", "\"64\" is no DSCP; allowed: numbers from 0 to 63, cs0 to cs7"),
            ("dscp: best", "\"\" is no DSCP"),
        ] {
            let message = bad.parse::<UdpRule>().unwrap_err().to_string();
            assert!(message.contains(reason), "{bad}: {message}");
            assert!(message.contains("allowed: DESCRIPTOR: MODE, such as"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_parses_to_what_it_prints_or_fails(
            text in "(port [0-9]{0,5}(-[0-9]{1,5})?)? ?(dscp [a-f0-9]{1,4}|\\PC{0,20})?: ?(best|\\PC{0,9})",
        ) {
            if let Ok(rule) = text.parse::<UdpRule>() {
                prop_assert_eq!(rule.to_string().parse(), Ok(rule));
            }
        }
    }
}

//! Which mode each datagram of a client has.
//!
//! The words are those of 3GPP ATSSS (TS 23.501, clause 5.32): an ordered list of rules, each a
//! traffic descriptor and a steering mode. The first rule that matches decides.

mod descriptor;
mod dscp;
mod rule;

use std::sync::Arc;

use polypath_bond::FlowMode;

pub use descriptor::TrafficDescriptor;
pub use dscp::{Dscp, ParseDscpError};
pub use rule::{SteeringRule, SteeringRuleError, SteeringRuleProblem};

/// Most rules of a list, which each datagram is compared with one after another.
const MAX_RULES: usize = 256;

/// The mode of each datagram: that of the first rule which matches it, or one for all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steering {
    rules: Arc<[SteeringRule]>,
    otherwise: FlowMode,
}

/// What rules look at in a datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traffic {
    /// The port that it goes to.
    pub(super) port: u16,
    /// As the client sent it; `None` if [`Steering::asks_for_dscp`] says that nobody wants to know.
    pub(super) dscp: Option<Dscp>,
}

/// Rules that make no list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SteeringError {
    /// There are too many.
    #[error("{0} rules; allowed: up to {MAX_RULES}")]
    TooMany(usize),
    /// A rule that would never be used: the list is not what its author thinks.
    #[error(
        "{rule:?} is never reached, since {before:?} matches all of its datagrams; allowed: the \
         narrower rule first"
    )]
    Unreachable {
        /// The rule.
        rule: String,
        /// The one before it.
        before: String,
    },
}

impl Steering {
    /// The modes that `rules` say, and `otherwise` for datagrams that none of them matches.
    ///
    /// # Errors
    /// When there are too many rules, or one that no datagram reaches.
    pub fn new(rules: Vec<SteeringRule>, otherwise: FlowMode) -> Result<Self, SteeringError> {
        if rules.len() > MAX_RULES {
            return Err(SteeringError::TooMany(rules.len()));
        }
        for (at, rule) in rules.iter().enumerate() {
            if let Some(before) = rules[..at].iter().find(|before| before.covers(rule)) {
                let (rule, before) = (rule.to_string(), before.to_string());
                return Err(SteeringError::Unreachable { rule, before });
            }
        }
        Ok(Self { rules: rules.into(), otherwise })
    }

    /// One mode for all datagrams.
    pub fn always(mode: FlowMode) -> Self {
        Self { otherwise: mode, ..Self::default() }
    }

    /// The mode of datagrams that no rule matches.
    pub fn otherwise(&self) -> FlowMode {
        self.otherwise
    }

    /// Whether a rule looks at the DSCP.
    pub(super) fn asks_for_dscp(&self) -> bool {
        self.rules.iter().any(SteeringRule::asks_for_dscp)
    }

    /// The mode of a datagram.
    pub(super) fn mode_of(&self, traffic: Traffic) -> FlowMode {
        let first = self.rules.iter().find(|rule| rule.matches(traffic));
        first.map_or(self.otherwise, SteeringRule::mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(texts: &[&str]) -> Vec<SteeringRule> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let texts = [
            "port 53: redundant",
            "port 50-60: best",
            "port 60-70 dscp af41: aggregate",
            "dscp ef: best",
            "port 60-70: redundant",
        ];
        let steering = Steering::new(rules(&texts), FlowMode::Aggregate).unwrap();
        assert!(steering.asks_for_dscp());
        for (port, dscp, mode) in [
            (49, "cs0", FlowMode::Aggregate),
            (49, "ef", FlowMode::Best),
            (50, "cs0", FlowMode::Best),
            (53, "ef", FlowMode::Redundant),
            (60, "af41", FlowMode::Best),
            (61, "cs0", FlowMode::Redundant),
            (61, "af41", FlowMode::Aggregate),
            (61, "ef", FlowMode::Best),
            (70, "cs0", FlowMode::Redundant),
            (71, "af41", FlowMode::Aggregate),
        ] {
            let traffic = Traffic { port, dscp: Some(dscp.parse().unwrap()) };
            assert_eq!(steering.mode_of(traffic), mode, "{port} {dscp}");
        }
        let unknown = Traffic { port: 61, dscp: None };
        assert_eq!(steering.mode_of(unknown), FlowMode::Redundant);
        assert_eq!(Steering::always(FlowMode::Best).mode_of(unknown), FlowMode::Best);
        let by_port = Steering::new(rules(&texts[..2]), FlowMode::Aggregate).unwrap();
        assert!(!by_port.asks_for_dscp());
    }

    #[test]
    fn a_rule_behind_one_that_takes_all_of_its_datagrams_is_refused() {
        let error = |texts: &[&str]| Steering::new(rules(texts), FlowMode::Best).unwrap_err();
        let message =
            error(&["port 9: best", "port 1-100: best", "port 53: redundant"]).to_string();
        let expected = r#""port 53: redundant" is never reached, since "port 1-100: best" matches"#;
        assert!(message.starts_with(expected), "{message}");
        assert!(message.ends_with("allowed: the narrower rule first"), "{message}");
        for [before, behind] in [
            ["port 53: best", "port 53: redundant"],
            ["port 50-60: best", "port 53 dscp ef: redundant"],
            ["dscp ef: best", "dscp 46: redundant"],
            ["dscp ef: best", "dscp ef port 53: redundant"],
        ] {
            assert!(
                matches!(error(&[before, behind]), SteeringError::Unreachable { .. }),
                "{behind}"
            );
        }
        let reached = ["port 53 dscp ef: best", "port 53: redundant", "dscp ef: redundant"];
        assert!(Steering::new(rules(&reached), FlowMode::Best).is_ok());
        let many: Vec<_> = (1..=257).map(|port| format!("port {port}: best")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert!(Steering::new(rules(&many[..256]), FlowMode::Best).is_ok());
        assert_eq!(error(&many), SteeringError::TooMany(257));
    }
}

//! Why a rule matches, or does not.

use std::fmt;

use crate::{Criterion, Rule, Traffic};

/// One thing that a rule asks for, and what the traffic has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is looked at.
    pub criterion: Criterion,
    /// What the rule asks for, one of these.
    pub wanted: Vec<String>,
    /// What the traffic has; `None` if it is not known.
    pub found: Option<String>,
    /// Whether that fits.
    pub fits: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (criterion, wanted) = (self.criterion, self.wanted.join(", "));
        match &self.found {
            None => write!(f, "{criterion} is not known; wanted: {wanted}"),
            Some(found) if self.fits => write!(f, "{criterion} {found} fits {wanted}"),
            Some(found) => write!(f, "{criterion} {found} does not fit {wanted}"),
        }
    }
}

/// A rule held against traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement<'a> {
    /// The place of the rule in its policy, from 1.
    pub number: usize,
    /// The rule.
    pub rule: &'a Rule,
    /// All that it asks for.
    pub findings: Vec<Finding>,
}

impl<'a> Judgement<'a> {
    pub(crate) fn new(number: usize, rule: &'a Rule, traffic: &Traffic<'_>) -> Self {
        let finding = |criterion| {
            let fits = rule.descriptor().holds(criterion, traffic)?;
            let wanted = rule.descriptor().wanted(criterion);
            Some(Finding { criterion, wanted, found: traffic.found(criterion), fits })
        };
        Self { number, rule, findings: Criterion::ALL.into_iter().filter_map(finding).collect() }
    }

    /// Whether the rule matches: all that it asks for is there.
    pub fn matches(&self) -> bool {
        self.findings.iter().all(|finding| finding.fits)
    }
}

//! What has passed by the rules of a policy, for a terminal.

use core::array;

use polypath_net::proxy::{RuleCounts, RuleUse};

use crate::output::columns;

/// Name and mode stand left, numbers right.
const LEFT: usize = 2;
const COLUMNS: usize = LEFT + NUMBERS.len();
const NUMBERS: [RuleNumber; 6] = [
    RuleNumber::count("conversations", |counts| counts.conversations),
    RuleNumber::count("datagrams sent", |counts| counts.datagrams_sent),
    RuleNumber::count("received", |counts| counts.datagrams_received),
    RuleNumber::bytes("sent MB", |counts| counts.bytes_sent),
    RuleNumber::bytes("received MB", |counts| counts.bytes_received),
    RuleNumber::count("dropped", |counts| counts.dropped),
];

/// A column of numbers.
#[derive(Clone, Copy, Debug)]
pub struct RuleNumber {
    heading: &'static str,
    /// Bytes, which are shown in MB.
    is_bytes: bool,
    value: fn(&RuleCounts) -> u64,
}

impl RuleNumber {
    const fn count(heading: &'static str, value: fn(&RuleCounts) -> u64) -> Self {
        Self { heading, is_bytes: false, value }
    }

    const fn bytes(heading: &'static str, value: fn(&RuleCounts) -> u64) -> Self {
        Self { heading, is_bytes: true, value }
    }

    /// Its value in the unit of the column: packets and the like, or MB.
    pub fn of(&self, counts: &RuleCounts) -> f64 {
        (self.value)(counts) as f64 / if self.is_bytes { 1e6 } else { 1.0 }
    }

    /// How many decimals are shown: none of what is counted, `of_megabytes` of MB.
    pub const fn decimals(&self, of_megabytes: usize) -> usize {
        if self.is_bytes { of_megabytes } else { 0 }
    }
}

/// A row for each rule; `number` writes what stands in a column of numbers for the rule of this
/// index.
pub fn rule_table(rules: &[RuleUse], number: impl Fn(usize, &RuleNumber) -> String) -> String {
    let headings = row(["rule", "mode"].map(str::to_owned), |column| column.heading.to_owned());
    let of_rule = |(index, rule): (usize, &RuleUse)| {
        let name = rule.name.clone().unwrap_or_else(|| "(no rule)".to_owned());
        row([name, rule.mode.clone()], |column| number(index, column))
    };
    let rows = [headings].into_iter().chain(rules.iter().enumerate().map(of_rule));
    columns(&rows.collect::<Vec<_>>(), LEFT)
}

fn row(left: [String; LEFT], number: impl Fn(&RuleNumber) -> String) -> [String; COLUMNS] {
    let mut cells = left.into_iter().chain(NUMBERS.iter().map(number));
    // As many as there are columns.
    array::from_fn(|_| cells.next().unwrap_or_default())
}

//! What a combination must be to be the best choice.

use super::ScenarioTable;
use serde::Serialize;

/// A goodput is as good as another if it is this share below it at most.
pub const WITHIN: f64 = 0.02;
/// A delay is as good as that of the best coupled control if it is at most so many times as long.
pub const MOST_DELAY: f64 = 1.2;

/// The scenarios in which a combination is not what it should be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Some other combination has a median goodput that is more than 2 % higher.
    pub lost: Vec<&'static str>,
    /// The same control over the best path alone has one.
    pub below_best_path: Vec<&'static str>,
    /// The 99th percentile of its delay is more than 20 % above that of the best coupled control:
    /// of those with the highest goodput within 2 % the one of the least delay.
    pub late: Vec<&'static str>,
}

impl Judgement {
    /// Of the combination with this number.
    pub(super) fn of(number: usize, tables: &[ScenarioTable]) -> Self {
        let those = |is_bad: fn(&ScenarioTable, usize) -> bool| {
            tables.iter().filter(|table| is_bad(table, number)).map(|table| table.name).collect()
        };
        Self {
            lost: those(|table, number| table.cells[number].share < 1.0 - WITHIN),
            below_best_path: those(|table, number| {
                table.cells[number].over_best_path.is_some_and(|ratio| ratio < 1.0 - WITHIN)
            }),
            late: those(|table, number| match (table.cells[number].delay_ratio, table.coupled) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(ratio), Some(_)) => ratio > MOST_DELAY,
            }),
        }
    }
}

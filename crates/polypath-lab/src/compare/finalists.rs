//! Which combinations are worth more seeds.

use super::{Combination, Comparison, ScenarioTable};
use std::collections::BTreeSet;

impl Comparison {
    /// Of each scenario the `most` combinations of the highest median goodput, and the coupled one
    /// that delays are held against; and what ships, if it is there. In the order of the ranking.
    pub fn finalists(&self, most: usize) -> Vec<Combination> {
        let places = self.scenarios.iter().flat_map(|table| best(table, most).chain(table.coupled));
        let shipped = self.ranking.iter().position(|row| row.shipped);
        let places: BTreeSet<usize> = places.chain(shipped).collect();
        let rows = places.into_iter().filter_map(|place| self.ranking.get(place));
        // What a combination prints as is its name.
        rows.filter_map(|row| row.combination.parse().ok()).collect()
    }
}

/// The places of the best cells. Of equals, those that rank higher.
fn best(table: &ScenarioTable, most: usize) -> impl Iterator<Item = usize> {
    let mut places: Vec<_> = (0..table.cells.len()).collect();
    places.sort_by(|&a, &b| table.cells[b].share.total_cmp(&table.cells[a].share));
    places.into_iter().take(most)
}

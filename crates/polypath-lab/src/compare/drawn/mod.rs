//! Profiles that are drawn by a seed, and baselines for them.
//!
//! A suite that is always the same can be learnt by heart. A [`Family`] draws any number of
//! profiles from the ranges of its table; [`DrawnGrid`] makes the runs of them, as
//! [`Grid`](super::Grid) does of the suite, and [`DrawnComparison`] says what the bond has of TCP,
//! of Multipath TCP and of the fluid bound.

mod bound;
mod contender;
pub(crate) mod draw;
mod family;
mod profile;
mod ranges;
mod run;
mod standing;
#[cfg(test)]
mod tests;

use super::Combination;

pub use contender::Contender;
pub use family::Family;
pub use profile::Profile;
pub use run::{DrawnChanges, DrawnError, DrawnMeasured, DrawnRun};
pub use standing::{
    AS_GOOD, Baseline, DrawnCell, DrawnComparison, ProfileTable, Reference, Standing,
};

/// The seed of the draw if nobody says one.
pub const DRAW_SEED: u64 = 1;

/// What is drawn, and who sends.
#[derive(Clone, Debug)]
pub struct DrawnGrid {
    family: Family,
    draw_seed: u64,
    seeds: u32,
    combinations: Vec<Combination>,
    changes: DrawnChanges,
    profiles: Vec<Profile>,
}

impl DrawnGrid {
    /// The first `count` profiles of a seed, in which each contender runs with the seeds from 1 to
    /// `seeds`.
    ///
    /// # Errors
    /// When the first profile cannot be run with these changes.
    pub fn new(
        family: Family,
        draw_seed: u64,
        count: u32,
        combinations: Vec<Combination>,
        seeds: u32,
        changes: DrawnChanges,
    ) -> Result<Self, DrawnError> {
        let profiles = (0..count).map(|number| family.profile(draw_seed, number)).collect();
        let grid = Self { family, draw_seed, seeds, combinations, changes, profiles };
        // What is wrong with a setting is told before anything runs.
        grid.runs().first().map(DrawnRun::plan).transpose()?;
        Ok(grid)
    }

    /// The profiles.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// All runs: by profile, then by contender, then by seed.
    pub fn runs(&self) -> Vec<DrawnRun<'_>> {
        let mut runs = Vec::new();
        for profile in &self.profiles {
            for contender in Contender::all(profile, &self.combinations) {
                let changes = &self.changes;
                let run = |seed| DrawnRun { profile, contender: contender.clone(), changes, seed };
                runs.extend((1..=self.seeds).map(run));
            }
        }
        runs
    }

    /// What these runs say.
    pub fn comparison(&self, results: &[(DrawnRun<'_>, DrawnMeasured)]) -> DrawnComparison {
        let table = |profile| ProfileTable::new(profile, &self.combinations, results.iter());
        let profiles: Vec<_> = self.profiles.iter().map(table).collect();
        let standings = |&combination: &Combination| {
            (combination.to_string(), Standing::all(combination, &profiles))
        };
        DrawnComparison {
            family: self.family,
            draw_seed: self.draw_seed,
            seeds: self.seeds,
            runs: results.len(),
            combinations: self.combinations.iter().map(standings).collect(),
            profiles,
        }
    }
}

//! Seeds of what is random in a link before a run.

use super::declare::keys;
use polypath_link::RunSeed;

keys! {
    /// What is drawn at random, but the same in every run.
    #[derive(Clone, Copy)]
    pub(super) struct SeedKeys {
        /// The seed. If not given, one that the name of the link makes: links differ from each
        /// other, and each is the same in every run.
        seed: Option<u32>;
    }
}

impl SeedKeys {
    pub(super) fn or(self, default: u64) -> u64 {
        self.seed.map_or(default, u64::from)
    }
}

/// The seed of a link that has none.
pub(super) fn default_seed(name: &str) -> u64 {
    let mixed = |seed, byte| RunSeed::new(seed, 0).stream(u64::from(byte));
    name.bytes().fold(0, mixed)
}

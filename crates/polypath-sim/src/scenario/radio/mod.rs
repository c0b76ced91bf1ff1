//! The keys of radio links, whose rate over time a model of `polypath_link::radio` computes.

mod air;
mod place;
mod units;
mod walk;

use super::declare::{Located, tagged};
use super::rate_source::Service;
use super::read::Reader;
use core::fmt;
use place::{ChangingView, RadioFixedKeys};
use polypath_config::DocumentError;
use std::time::Duration;
use walk::Street;

tagged! {
    /// A rate over time, computed before the run by a model of radio.
    #[derive(Clone)]
    pub(super) enum RadioKeys by "kind" = "fixed" {
        /// The user stays at one distance, with or without line of sight.
        Fixed(RadioFixedKeys) = "fixed",
        /// The user stays at one distance, where line of sight is lost and found again.
        Blockage(ChangingView) = "blockage",
        /// The user moves past base stations, with shadow fading, handovers and load of the cells.
        Walk(Street) = "walk",
    }
}

/// How long a link changes if the scenario has no duration.
const WITHOUT_DURATION: Duration = Duration::from_secs(3600);

impl RadioKeys {
    /// The rate, and what handovers lose.
    pub(super) fn service(
        keys: &Located<Self>,
        default_seed: u64,
        reader: &Reader<'_>,
    ) -> Result<Service, DocumentError> {
        let duration = reader.duration.unwrap_or(WITHOUT_DURATION);
        match &keys.value {
            Self::Fixed(fixed) => located(keys, fixed.rate()).map(Service::from),
            Self::Blockage(view) => {
                located(keys, view.rate(duration, default_seed)).map(Service::from)
            }
            Self::Walk(street) => {
                let run = located(keys, street.run(duration, default_seed))?;
                Ok(Service { rate: run.rate, blackouts: run.blackouts })
            }
        }
    }
}

fn located<T, E: fmt::Display>(
    keys: &Located<RadioKeys>,
    result: Result<T, E>,
) -> Result<T, DocumentError> {
    result.map_err(|problem| keys.wrong(problem))
}

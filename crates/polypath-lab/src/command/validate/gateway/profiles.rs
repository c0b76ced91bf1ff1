//! Where profiles come from: links as they are written, scenarios, a seed.

use core::str::FromStr;
use std::io;
use std::num::NonZeroU8;
use std::path::Path;

use polypath_emulator::validate::gateway::{GatewayPaths, GatewayProfile};
use polypath_sim::scenario::{Scenario, ScenarioPath};
use polypath_sim::{Direction, PathLinks};

use crate::command::model::{ModelLink, ParseModelLinkError};
use crate::compare::drawn::Family;
use crate::network::emulated_paths;

/// The families of the suite: constant rates, so that a path alone has one, too.
const FAMILIES: [Family; 3] = [Family::Grid, Family::Foul, Family::Steady];
/// How many profiles the suite has of each.
const OF_EACH: usize = 8;
/// What profiles of the suite carry together at most, in Mbit/s: two processors emulate the links
/// of so much and run both programs beside that.
const MOST_MBIT_S: f64 = 400.0;
/// As many paths as letters name.
const MOST_PATHS: usize = 26;

/// Paths as the user writes them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Links {
    text: String,
    links: Vec<ModelLink>,
}

/// A text that is not links.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ParseLinksError {
    #[error(transparent)]
    Link(#[from] ParseModelLinkError),
    #[error("{given} links; allowed: 1 to {MOST_PATHS}, joined by +")]
    Count { given: usize },
}

impl FromStr for Links {
    type Err = ParseLinksError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let links = text.split('+').map(str::parse).collect::<Result<Vec<_>, _>>()?;
        match links.len() {
            1..=MOST_PATHS => Ok(Self { text: text.to_owned(), links }),
            given => Err(ParseLinksError::Count { given }),
        }
    }
}

impl Links {
    /// The profile: paths called a, b and so on, the same in both directions.
    pub(super) fn profile(&self) -> GatewayProfile {
        let path = |(name, link): (char, &ModelLink)| ScenarioPath {
            name: name.to_string(),
            links: PathLinks::symmetric(link.config()),
        };
        let paths = ('a'..='z').zip(&self.links).map(path).collect();
        GatewayProfile { name: self.text.clone(), paths: GatewayPaths::Links(paths) }
    }
}

/// Paths that are not emulated.
pub(super) fn unshaped(count: NonZeroU8) -> GatewayProfile {
    GatewayProfile { name: format!("{count} veth pairs"), paths: GatewayPaths::Unshaped(count) }
}

/// The paths of a scenario; connections and flows are not run.
pub(super) fn of_scenario(file: &Path) -> anyhow::Result<GatewayProfile> {
    let scenario = Scenario::load(file)?;
    let name = scenario.name.clone();
    let name = name.unwrap_or_else(|| file.display().to_string());
    Ok(GatewayProfile { name, paths: GatewayPaths::Links(emulated_paths(&scenario)?) })
}

/// The first profiles of each family of this seed that are not beyond [`MOST_MBIT_S`].
pub(super) fn suite(seed: u64) -> anyhow::Result<Vec<GatewayProfile>> {
    let mut suite = Vec::new();
    for family in FAMILIES {
        let mut found = 0;
        for number in 0.. {
            let profile = drawn(family, seed, number)?;
            if profile.mbit_s(Direction::Down) <= MOST_MBIT_S {
                suite.push(profile);
                found += 1;
            }
            if found == OF_EACH {
                break;
            }
        }
    }
    Ok(suite)
}

fn drawn(family: Family, seed: u64, number: u32) -> anyhow::Result<GatewayProfile> {
    let drawn = family.profile(seed, number);
    let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let scenario = Scenario::parse(&drawn.text(), Path::new(&drawn.name), no_trace)?;
    Ok(GatewayProfile { name: drawn.name, paths: GatewayPaths::Links(emulated_paths(&scenario)?) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn links_are_joined_by_a_plus() {
        let profile = "300Mbit/s,10ms+80Mbit/s,30ms,1%".parse::<Links>().unwrap().profile();
        assert_eq!(profile.name, "300Mbit/s,10ms+80Mbit/s,30ms,1%");
        let names: Vec<_> = profile.links().iter().map(|path| &*path.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(profile.mbit_s(Direction::Up), 380.0);
        assert_eq!(profile.links()[1].links.down.loss.mean(), 0.01);
        assert_eq!(profile.links()[0].links.up.delay, std::time::Duration::from_millis(10));
    }

    #[test]
    fn what_is_wrong_with_links_is_told_with_what_is_allowed() {
        let error = |text: &str| text.parse::<Links>().unwrap_err().to_string();
        assert!(error("300Mbit/s+80Mbit/s,30ms").contains("allowed: RATE,DELAY"));
        let many = vec!["1Mbit/s,1ms"; 27].join("+");
        assert_eq!(error(&many), "27 links; allowed: 1 to 26, joined by +");
    }

    #[test]
    fn the_suite_is_that_of_its_seed() {
        let suite = suite(1).unwrap();
        assert_eq!(suite.len(), FAMILIES.len() * OF_EACH);
        let names: BTreeSet<_> = suite.iter().map(|profile| profile.name.clone()).collect();
        assert_eq!(names.len(), suite.len());
        for family in FAMILIES {
            let of = format!("{}_1_", family.name());
            assert_eq!(names.iter().filter(|name| name.starts_with(&of)).count(), OF_EACH);
        }
        for profile in &suite {
            assert!((2..=4).contains(&profile.links().len()), "{}", profile.name);
            assert!(profile.mbit_s(Direction::Down) <= MOST_MBIT_S, "{}", profile.name);
        }
        assert_eq!(super::suite(1).unwrap(), suite);
        assert_ne!(super::suite(2).unwrap(), suite);
    }
}

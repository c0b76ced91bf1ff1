//! A site whose programs run.

use super::error::GatewayError;
use super::figure::Figure;
use super::profile::GatewayProfile;
use super::program::{Given, Programs};
use super::settings::GatewaySettings;
use super::site::Site;

/// The product's gateway on its site. Dropping it ends the programs and removes the site.
#[derive(Debug)]
pub(super) struct Rig {
    // The programs end before their network does.
    programs: Programs,
    site: Site,
}

impl Rig {
    /// Makes the network of a profile and starts the programs there.
    pub(super) fn start(
        profile: &GatewayProfile,
        settings: &GatewaySettings,
        seed: u64,
        policy: Option<&str>,
    ) -> Result<Self, GatewayError> {
        let given = Given { policy, ..Given::default() };
        Self::start_on(Site::new(profile, settings, seed)?, settings, given)
    }

    /// Starts the programs on a site, with what they are given beside what all are.
    pub(super) fn start_on(
        mut site: Site,
        settings: &GatewaySettings,
        given: Given<'_>,
    ) -> Result<Self, GatewayError> {
        let programs = Programs::start(&mut site, settings, given)?;
        Ok(Self { programs, site })
    }

    /// The site.
    pub(super) const fn site(&self) -> &Site {
        &self.site
    }

    /// Ends the programs, removes the site, and says how many of a hundred packets the emulator
    /// handed over late or lost.
    pub(super) fn stop(self) -> Result<Figure, GatewayError> {
        self.programs.stop()?;
        Ok(Figure::new("packets late at links", "%", self.site.stop()?))
    }
}

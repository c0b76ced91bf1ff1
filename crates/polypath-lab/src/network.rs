//! What of a scenario runs between real sockets.

use polypath_bond::BondConfig;
use polypath_sim::scenario::{Carrier, ConnectionSpec, Scenario, ScenarioPath, Transport};

use polypath::config::UsageError;

/// The paths of a scenario's network, which must be of paths alone.
///
/// # Errors
/// When it has routers or scripted events, which only the simulator can play.
pub(crate) fn emulated_paths(scenario: &Scenario) -> Result<Vec<ScenarioPath>, UsageError> {
    if !scenario.events.is_empty() {
        return Err(UsageError::new(
            "[[event]]s can only be simulated or emulated in namespaces (`polypath emulate \
             --netns`); `blackout`, `rate_schedule` and `blockage` of a [[path]] also here",
        ));
    }
    if scenario.feedback.is_some() {
        return Err(UsageError::new(
            "a [[node]] has `brf`: switches that tell rates can only be simulated",
        ));
    }
    scenario.network.paths().ok_or_else(|| {
        UsageError::new(
            "the network has routers; only [[path]]s between two hosts are emulated here, any \
             network in namespaces (`polypath emulate --netns`)",
        )
    })
}

/// The settings of a scenario's connection, a bond, over the defaults.
///
/// # Errors
/// When there are several, it is no bond, or it asks for what only the simulator has.
pub(crate) fn bond_config(scenario: &Scenario) -> anyhow::Result<BondConfig> {
    let [spec @ ConnectionSpec { count: 1, transport: Transport::Bond(options), .. }] =
        &scenario.connections[..]
    else {
        return Err(UsageError::new("one [connection] with transport = \"bond\" is needed").into());
    };
    if options.carrier == Carrier::Light {
        return Err(UsageError::new("carrier = \"light\" can only be simulated").into());
    }
    Ok(polypath_sim::run::bond_config(&spec.name, options)?)
}

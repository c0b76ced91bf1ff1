//! What of a scenario runs between real sockets.

use polypath_bond::BondConfig;
use polypath_sim::scenario::{
    BondOptions, Carrier, ConnectionSpec, ReceiveBuffer, Scenario, ScenarioPath, Transport,
};

use super::UsageError;

/// The paths of a scenario's network, which must be of paths alone.
///
/// # Errors
/// When it has routers or scripted events, which only the simulator can play.
pub fn emulated_paths(scenario: &Scenario) -> Result<Vec<ScenarioPath>, UsageError> {
    if !scenario.events.is_empty() {
        return Err(UsageError::new(
            "[[event]]s can only be simulated; `blackout`, `rate_schedule` and `blockage` of a \
             [[path]] can also be emulated",
        ));
    }
    scenario.network.paths().ok_or_else(|| {
        UsageError::new("the network has routers; only [[path]]s between two hosts are emulated")
    })
}

/// The settings of a scenario's connection, a bond, over the defaults.
///
/// # Errors
/// When there are several, it is no bond, or it asks for what only the simulator has.
pub fn bond_config(scenario: &Scenario) -> anyhow::Result<BondConfig> {
    scenario.validate_names(|kind, name| kind.check_registered(name))?;
    let [ConnectionSpec { count: 1, transport: Transport::Bond(options), .. }] =
        &scenario.connections[..]
    else {
        return Err(UsageError::new("one [connection] with transport = \"bond\" is needed").into());
    };
    let mut bond = BondConfig::default();
    set_algorithms(&mut bond, options)?;
    match options.receive {
        ReceiveBuffer::Default => {}
        ReceiveBuffer::Fixed(bytes) => bond.receive_buffer = bytes.get(),
        ReceiveBuffer::UpTo(_) => {
            let message = "a bond has a fixed `receive_buffer`; it does not grow";
            return Err(UsageError::new(message).into());
        }
    }
    Ok(bond)
}

fn set_algorithms(bond: &mut BondConfig, options: &BondOptions) -> anyhow::Result<()> {
    if options.carrier == Carrier::Light {
        return Err(UsageError::new("carrier = \"light\" can only be simulated").into());
    }
    if let Some(coupled) = options.coupled {
        bond.congestion.coupled = coupled;
    }
    if let Some(name) = &options.control.congestion {
        bond.congestion.avoidance = name.name.parse()?;
    }
    if let Some(name) = &options.control.slow_start {
        bond.congestion.slow_start = name.name.parse()?;
    }
    if let Some(name) = &options.scheduler {
        bond.scheduler = name.name.parse()?;
    }
    if let Some(name) = &options.failure {
        bond.failure = name.name.parse()?;
    }
    Ok(())
}

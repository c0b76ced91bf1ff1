//! The same transfer in network namespaces.

use super::links::Link;
use super::{Parameters, simulated};
use crate::experiment::{ExperimentPlan, LiveTransfer, TrialFailure};
use polypath_emulator::validate::gateway::{DealtTransfer, GatewayPaths, GatewayProfile};
use polypath_sim::Direction;
use std::time::Duration;

/// Nobody waits for a transfer any longer; one that has not ended by then has the throughput of
/// what came until then.
const LONGEST: Duration = Duration::from_secs(60);

/// The transfer that the simulator does, by the kernel's TCP.
pub(super) fn transfer(
    parameters: &Parameters,
    links: &[Link],
) -> Result<LiveTransfer, TrialFailure> {
    let Parameters { bytes, segment, initial_window, window, .. } = parameters;
    let transfer = DealtTransfer {
        direction: Direction::Up,
        bytes: Some(bytes.get()),
        limit: LONGEST,
        congestion: "reno",
        segment_bytes: segment.get() as u32,
        initial_window: Some(*initial_window),
        window_bytes: window.get(),
        sack: false,
        timestamps: false,
    };
    // A scenario needs a connection.
    let text = simulated::network(parameters, links) + "[connection]\ntransport = \"tunnel\"\n";
    Ok(LiveTransfer { profile: profile(&text)?, transfer, interval: None })
}

/// What the paper says of a quantity; nothing if no claim of the plan is about it.
pub(in crate::experiment::papers) fn paper(plan: &ExperimentPlan, quantity: &str) -> String {
    let mut claims = plan.claim.value.iter().map(|claim| &claim.value);
    let claim = claims.find(|claim| claim.quantity.value == quantity);
    claim.and_then(|claim| claim.paper.clone()).unwrap_or_default()
}

/// The links of a scenario.
pub(in crate::experiment::papers) fn profile(text: &str) -> Result<GatewayProfile, TrialFailure> {
    let scenario = simulated::scenario(text)?;
    let paths = scenario.network.paths().unwrap_or_default();
    Ok(GatewayProfile { name: format!("{} links", paths.len()), paths: GatewayPaths::Links(paths) })
}

//! `polypath validate gateway`: what traffic of a LAN makes of the product's gateway.

mod options;
mod profiles;
mod text;

use std::process::ExitCode;

use polypath_emulator::validate::death::Spread;
use polypath_emulator::validate::gateway::{
    FACTOR, GatewayError, GatewayProfile, GatewayRow, GatewaySettings, Interrupt, Traffic,
};
use serde::Serialize;

use super::super::runs::on_signal;
use super::kernel_version;
pub(super) use options::GatewayOptions;
use polypath::output;
use polypath::service::{self, INTERRUPTED, LogFormat, QUIET_LOG};

/// The whole measurement; what `--json` prints.
#[derive(Clone, Debug, Serialize)]
struct Gateways {
    kernel: String,
    /// The program that was measured.
    program: String,
    /// How many runs there were of each traffic over each profile.
    runs: u64,
    /// The seed of the first one.
    seed: u64,
    /// Of the medians over all profiles, what the gateway has of the best path alone.
    factors: Option<Spread>,
    rows: Vec<GatewayRow>,
    /// What was not measured, and why.
    missing: Vec<String>,
}

pub(super) fn run(options: &GatewayOptions) -> anyhow::Result<ExitCode> {
    let profiles = options.profiles()?;
    if options.list {
        output::print(&text::list(&profiles))?;
        return Ok(ExitCode::SUCCESS);
    }
    service::start_log(LogFormat::Text, QUIET_LOG)?;
    let interrupt = Interrupt::default();
    let ends = interrupt.clone();
    // From here on a signal leaves nothing behind.
    on_signal(move || ends.set());
    let settings = options.settings(interrupt)?;
    let Some(gateways) = measure(options, &profiles, &settings)? else {
        output::tell("interrupted: all that was made has been removed\n");
        return Ok(INTERRUPTED.into());
    };
    output::print(&match options.json {
        true => serde_json::to_string_pretty(&gateways)? + "\n",
        false => gateways.text(),
    })?;
    Ok(if gateways.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All traffic over all profiles; `None` if a signal came.
fn measure(
    options: &GatewayOptions,
    profiles: &[GatewayProfile],
    settings: &GatewaySettings,
) -> anyhow::Result<Option<Gateways>> {
    let traffic = options.traffic()?;
    let all = profiles.iter().flat_map(|profile| traffic.iter().map(move |&kind| (profile, kind)));
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for (number, (profile, kind)) in all.enumerate() {
        let (name, traffic_name) = (&profile.name, kind.name());
        let of = profiles.len() * traffic.len();
        output::tell(&format!("{} of {of}: {traffic_name} over {name}\n", number + 1));
        match runs(options, profile, kind, settings) {
            Ok(measured) => rows.extend(measured),
            Err(GatewayError::Interrupted) => return Ok(None),
            Err(error) => missing.push(format!("{name}, {traffic_name}: not measured: {error}")),
        }
    }
    Ok(Some(Gateways {
        kernel: kernel_version()?,
        program: settings.program.display().to_string(),
        runs: options.runs,
        seed: options.seed,
        factors: factors(&rows),
        rows,
        missing,
    }))
}

/// Where there is one, of each profile.
fn factors(rows: &[GatewayRow]) -> Option<Spread> {
    let of_quic = rows.iter().filter(|row| row.figure == FACTOR);
    Spread::of(of_quic.filter_map(|row| Some(row.spread?.median)))
}

fn runs(
    options: &GatewayOptions,
    profile: &GatewayProfile,
    traffic: Traffic,
    settings: &GatewaySettings,
) -> Result<Vec<GatewayRow>, GatewayError> {
    let seeds = (0..options.runs).map(|run| options.seed.wrapping_add(run));
    let measured: Result<Vec<_>, _> =
        seeds.map(|seed| traffic.run(profile, settings, seed)).collect();
    Ok(GatewayRow::all(&profile.name, traffic, &measured?))
}

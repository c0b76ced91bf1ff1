//! `polypath kernel load`: a congestion control that sockets can choose from now on.

use clap::Args;
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;

use super::choice;

/// Load a congestion control, so that sockets can choose it by its name in the kernel
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct LoadArgs {
    /// Congestion control
    #[arg(value_name = "NAME", value_parser = choice::congestion())]
    pub congestion: CongestionKind,
    /// Slow start
    #[arg(
        long,
        value_name = "NAME",
        value_parser = choice::slow_start(),
        default_value = "standard",
    )]
    pub slow_start: SlowStartKind,
    /// Let each subflow be a connection of its own, which does not see the others
    #[arg(long)]
    pub uncoupled: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Loads it.
#[cfg(feature = "kernel")]
pub(super) fn run(args: LoadArgs) -> anyhow::Result<std::process::ExitCode> {
    use crate::output;
    use polypath_kernel::{KernelConfig, Outcome, Pins};

    let LoadArgs { congestion, slow_start, uncoupled, json } = args;
    let config = KernelConfig { congestion, slow_start, coupled: !uncoupled };
    let (outcome, pinned) = Pins::default().load(config)?;
    let name = pinned.row.kernel_name;
    output::print(&if json {
        let told = serde_json::json!({
            "name": congestion.name(),
            "kernel_name": name,
            "was_loaded": outcome == Outcome::WasLoaded,
            "loaded": super::said::settings_to_json(pinned.settings),
        });
        serde_json::to_string_pretty(&told)? + "\n"
    } else {
        let already = if outcome == Outcome::WasLoaded { " already" } else { "" };
        format!("{name} is loaded{already}: {}\n", super::said::settings(pinned.settings))
    })?;
    Ok(std::process::ExitCode::SUCCESS)
}

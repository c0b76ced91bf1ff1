//! `polypath kernel load`: a congestion control that sockets can choose from now on.

use std::path::PathBuf;

use clap::Args;
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;

use super::choice;

/// Load a congestion control, so that sockets can choose it by its name in the kernel
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct LoadArgs {
    /// Congestion control
    #[arg(value_name = "NAME", value_parser = choice::congestion())]
    pub congestion: CongestionKind,
    /// Slow start [default: standard]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = choice::slow_start(),
        default_value = "standard",
        hide_default_value = true,
    )]
    pub slow_start: SlowStartKind,
    /// Let each subflow be a connection of its own, which does not see the others
    #[arg(long)]
    pub uncoupled: bool,
    /// Give it to all TCP connections, and subflows of Multipath TCP, that processes of this cgroup
    /// make and accept from now on: a folder of cgroup2
    #[arg(long, value_name = "FOLDER")]
    pub cgroup: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Loads it.
#[cfg(feature = "kernel")]
pub(super) fn run(args: LoadArgs) -> anyhow::Result<std::process::ExitCode> {
    use crate::output;
    use polypath_kernel::{KernelConfig, Outcome, Pins};

    let LoadArgs { congestion, slow_start, uncoupled, cgroup, json } = args;
    let config = KernelConfig { congestion, slow_start, coupled: !uncoupled };
    let pins = Pins::default();
    let (outcome, pinned) = match cgroup {
        Some(cgroup) => pins.load_for_cgroup(config, &cgroup)?,
        None => pins.load(config)?,
    };
    let name = pinned.row.kernel_name;
    output::print(&if json {
        let told = serde_json::json!({
            "name": congestion.name(),
            "kernel_name": name,
            "was_loaded": outcome == Outcome::WasLoaded,
            "loaded": super::said::pinned_to_json(pinned),
        });
        serde_json::to_string_pretty(&told)? + "\n"
    } else {
        let already = if outcome == Outcome::WasLoaded { " already" } else { "" };
        format!("{name} is loaded{already}: {}\n", super::said::pinned(pinned))
    })?;
    Ok(std::process::ExitCode::SUCCESS)
}

//! `polypath kernel load`: a congestion control that sockets can choose from now on.

use super::said;
use crate::command::kernel::actions::LoadArgs;
use crate::output;
use polypath_kernel::{KernelConfig, Outcome, Pins};
use std::process::ExitCode;

/// Loads it.
pub(super) fn run(args: LoadArgs) -> anyhow::Result<ExitCode> {
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
            "loaded": said::pinned_to_json(pinned),
        });
        serde_json::to_string_pretty(&told)? + "\n"
    } else {
        let already = if outcome == Outcome::WasLoaded { " already" } else { "" };
        format!("{name} is loaded{already}: {}\n", said::pinned(pinned))
    })?;
    Ok(ExitCode::SUCCESS)
}

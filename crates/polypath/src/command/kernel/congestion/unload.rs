//! `polypath kernel unload`: a congestion control that no socket can choose any more.

use crate::command::kernel::actions::UnloadArgs;
use crate::output;
use polypath_kernel::Pins;
use std::process::ExitCode;

/// Unloads it.
pub(super) fn run(args: UnloadArgs) -> anyhow::Result<ExitCode> {
    let UnloadArgs { congestion, json } = args;
    let unloaded = Pins::default().unload(congestion)?;
    output::print(&if json {
        let told = serde_json::json!({
            "name": congestion.name(),
            "was_loaded": unloaded.is_some(),
            "still_use_it": unloaded.map(|of| of.still_use_it),
        });
        serde_json::to_string_pretty(&told)? + "\n"
    } else {
        match unloaded.map(|of| of.still_use_it) {
            None => format!("{congestion} was not loaded\n"),
            Some(0) => format!("{congestion} is unloaded\n"),
            Some(still) => {
                format!("{congestion} is unloaded; subflows that use it until they end: {still}\n")
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

//! `polypath kernel unload`: a congestion control that no socket can choose any more.

use clap::Args;
use polypath_core::congestion::CongestionKind;

use super::choice;

/// Unload a congestion control; connections that use it keep it until they end
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct UnloadArgs {
    /// Congestion control
    #[arg(value_name = "NAME", value_parser = choice::congestion())]
    pub congestion: CongestionKind,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Unloads it.
#[cfg(feature = "kernel")]
pub(super) fn run(args: UnloadArgs) -> anyhow::Result<std::process::ExitCode> {
    use crate::output;
    use polypath_kernel::Pins;

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
    Ok(std::process::ExitCode::SUCCESS)
}

//! `polypath kernel status`: the connections that use the congestion controls.

#[cfg(feature = "kernel")]
mod report;

use clap::Args;

/// Show what is loaded, and the connections of this network namespace that use it: subflows with
/// windows, RTTs, rates, and what couples them
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct StatusArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Prints what the kernel tells.
#[cfg(feature = "kernel")]
pub(super) fn run(args: StatusArgs) -> anyhow::Result<std::process::ExitCode> {
    use polypath_kernel::{Pins, Status};

    let status = Status::read(&Pins::default())?;
    crate::output::print(&if args.json {
        report::to_json(&status)?
    } else {
        report::text(&status)
    })?;
    Ok(std::process::ExitCode::SUCCESS)
}

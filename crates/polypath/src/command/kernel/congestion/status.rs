//! `polypath kernel status`: the connections that use the congestion controls.

use super::report;
use crate::command::kernel::actions::StatusArgs;
use crate::output;
use polypath_kernel::{Pins, Status};
use std::process::ExitCode;

/// Prints what the kernel tells.
pub(super) fn run(args: StatusArgs) -> anyhow::Result<ExitCode> {
    let status = Status::read(&Pins::default())?;
    output::print(&if args.json { report::to_json(&status)? } else { report::text(&status) })?;
    Ok(ExitCode::SUCCESS)
}

//! The commands of congestion controls, in builds that have what they work with.

mod list;
mod load;
mod report;
mod run;
mod said;
mod status;
mod unload;

use std::process::ExitCode;

use super::CongestionAction;

/// Does what was asked for.
pub(super) fn run(action: CongestionAction) -> anyhow::Result<ExitCode> {
    match action {
        CongestionAction::List(args) => list::run(args),
        CongestionAction::Load(args) => load::run(args),
        CongestionAction::Unload(args) => unload::run(args),
        CongestionAction::Status(args) => status::run(args),
        CongestionAction::Run(args) => run::run(args),
    }
}

//! The commands of congestion controls, in builds without what they work with.

use std::process::ExitCode;

use super::CongestionAction;

/// The program was built without what loads programs into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this polypath was built without its part for the kernel. To build that it takes clang, and \
     libelf and zlib with headers (Debian, Ubuntu: apt-get install clang libelf-dev zlib1g-dev); \
     then `cargo install --path crates/polypath --features kernel`, or `make deb`, which has it \
     where these are there"
)]
struct NotBuilt;

/// Says what is missing.
#[allow(clippy::needless_pass_by_value, reason = "the same signature as with the feature")]
pub(super) fn run(_action: CongestionAction) -> anyhow::Result<ExitCode> {
    Err(NotBuilt.into())
}

//! What is asked for of congestion controls for the kernel.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;

use super::choice;

/// List the congestion controls for the kernel, and which of them are loaded
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct ListArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

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

/// Show what is loaded, and the connections of this network namespace that use it: subflows with
/// windows, RTTs, rates, and what couples them
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct StatusArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Run a program whose TCP sockets are Multipath TCP, with a congestion control
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RunArgs {
    /// Congestion control, which is loaded for the time that the program runs unless it is loaded
    /// already [default: balia]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = choice::congestion(),
        default_value = "balia",
        hide_default_value = true,
    )]
    pub congestion: CongestionKind,
    /// Slow start; one that is loaded already must have this one [default: that of what is loaded,
    /// or standard]
    #[arg(long, value_name = "NAME", value_parser = choice::slow_start())]
    pub slow_start: Option<SlowStartKind>,
    /// Let each subflow be a connection of its own; one that is loaded already must do so
    #[arg(long)]
    pub uncoupled: bool,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

//! What live runs are asked for.

use std::path::PathBuf;

use clap::Args;
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::gateway::{GatewaySettings, Interrupt};

use crate::command::program;

/// Whether and how the product itself is run.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(in super::super) struct LiveOptions {
    /// Hold what was simulated against live runs in network namespaces, over emulated links: R1-1,
    /// R1-2 and R1-3 by the kernel's TCP through `polypath edge` and `polypath hub`, one run of
    /// each point, which takes the program nft; R0-4, R0-5, R2 and R3-2 by the kernel's Multipath
    /// TCP with Polypath's congestion controls and path manager, which takes a build with the
    /// feature `kernel`. Takes root
    #[arg(long, conflicts_with_all = ["set", "html", "out"])]
    pub(in super::super) live: bool,
    /// The program that is run live [default: target/release/polypath of the checkout that this
    /// program was built in, if it is there, or else the one beside this program]
    #[arg(long, value_name = "FILE", requires = "live")]
    program: Option<PathBuf>,
    /// What the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", requires = "live", default_value = "polypath_reproduce")]
    pub(super) netns: Prefix,
    /// How many runs of each by the kernel; medians are told
    #[arg(long, value_name = "K", requires = "live", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(super) runs: u32,
}

impl LiveOptions {
    /// Of all live runs.
    pub(super) fn settings(&self, interrupt: Interrupt) -> anyhow::Result<GatewaySettings> {
        let program = program::find(self.program.as_deref())?;
        Ok(GatewaySettings::of_transfers(program, self.netns.clone(), interrupt))
    }
}

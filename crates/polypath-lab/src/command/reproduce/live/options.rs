//! What live runs are asked for.

use std::path::PathBuf;

use clap::Args;
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::gateway::{GatewaySettings, Interrupt};

use crate::command::program;

/// Whether and how the product itself is run.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(in super::super) struct LiveOptions {
    /// Hold S1's model and the simulator against the product: R1-1, R1-2 and R1-3 by the kernel's
    /// TCP through `polypath edge` and `polypath hub` in network namespaces, over emulated links,
    /// one run of each point. Takes the program nft, and root
    #[arg(long, conflicts_with_all = ["set", "html", "out"])]
    pub(in super::super) live: bool,
    /// The program that is run live [default: target/release/polypath of the checkout that this
    /// program was built in, if it is there, or else the one beside this program]
    #[arg(long, value_name = "FILE", requires = "live")]
    program: Option<PathBuf>,
    /// What the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", requires = "live", default_value = "polypath_reproduce")]
    netns: Prefix,
}

impl LiveOptions {
    /// Of all live runs.
    pub(super) fn settings(&self, interrupt: Interrupt) -> anyhow::Result<GatewaySettings> {
        let program = program::find(self.program.as_deref())?;
        Ok(GatewaySettings::of_transfers(program, self.netns.clone(), interrupt))
    }
}

//! What live runs are asked for.

use std::path::PathBuf;

use clap::Args;
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::gateway::{GatewaySettings, Interrupt};
use polypath_units::{Bandwidth, ParseUnitError};

use crate::command::program;
use crate::experiment::CAPACITY;

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
    /// What all links of a network may carry together, such as `150 Mbit/s`: the rates of an
    /// experiment by the kernel are divided by one whole number until they do. A machine that hands
    /// packets over late needs less
    #[arg(long, value_name = "RATE", requires = "live", default_value_t = CAPACITY, value_parser = capacity)]
    pub(super) capacity: Bandwidth,
}

impl LiveOptions {
    /// Of all live runs.
    pub(super) fn settings(&self, interrupt: Interrupt) -> anyhow::Result<GatewaySettings> {
        let program = program::find(self.program.as_deref())?;
        Ok(GatewaySettings::of_transfers(program, self.netns.clone(), interrupt))
    }
}

fn capacity(text: &str) -> Result<Bandwidth, String> {
    const LEAST: Bandwidth = Bandwidth::from_bits_per_sec(1_000_000);
    let capacity: Bandwidth = text.parse().map_err(|error: ParseUnitError| error.to_string())?;
    if capacity < LEAST {
        return Err(format!("{capacity} is too little: it must be {LEAST} or more"));
    }
    Ok(capacity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_is_a_rate_that_carries_something() {
        assert_eq!(capacity("1 Mbit/s"), Ok(Bandwidth::from_mbit_per_sec(1.0)));
        let refused = [("0 bit/s", "1 Mbit/s or more"), ("350", "a rate such as")];
        for (text, expected) in refused {
            let problem = capacity(text).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}

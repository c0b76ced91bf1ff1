//! Experiments by the TCP and Multipath TCP of this machine's kernel, in network namespaces: the
//! third of paper, simulator and kernel.
//!
//! A run of the plan is turned into one that the kernel can do: its rates are divided by one factor
//! so that the emulator carries them, its TCP becomes Linux's. That scenario goes to the kernel
//! and, once more, to the simulator.

mod adapt;
mod report;
mod scale;
mod transfer;
mod trial;

pub(crate) use report::Results;
pub use report::{ByWorld, KernelCell, KernelClaim, KernelReport};
pub(crate) use scale::CAPACITY;
pub(crate) use trial::{KernelCase, KernelTrial, KernelTrials, Simulation};

use super::observation::Observation;
use polypath_emulator::validate::KernelRun;
use polypath_sim::run::Outcome;
use polypath_sim::scenario::Scenario;

/// What is taken from a run in the simulator, and the same from one by the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Observers {
    /// In the simulator.
    pub simulated: fn(&Scenario, &Outcome) -> Observation,
    /// By the kernel.
    pub live: fn(&Scenario, &KernelRun) -> Observation,
}

/// How an experiment is run by the kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelLive {
    /// What is taken from its runs.
    pub observers: Observers,
    /// The size of a transfer that is looked at beside the plan, before it is scaled, such as
    /// `10 MB`.
    pub transfer: Option<&'static str>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum World {
    /// The simulator, with the scenario of the plan.
    Simulator,
    /// The simulator, with the scenario that the kernel runs.
    AsLive,
    /// The kernel.
    Live,
}

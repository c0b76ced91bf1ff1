//! The experiments, a file each: what is observed in a run, and the quantities of the claims.

mod estimates;
mod network;
mod r0_1;
mod r0_2;
mod r0_3;
mod r0_4;
mod r0_5;
mod r1_1;
mod r1_2;
mod r1_3;
mod r1_4;
mod r1_5;
mod r1_6;
mod r2_1;
mod r2_2;
mod r2_3;
mod r2_4;
mod r2_5;
mod r3_1;
mod r3_2;
mod r4_1;
mod r4_2;
mod r4_3;
mod r4_4;
mod r4_5;
mod r4_6;
mod r4_7;
mod r4_8;
mod r4_9;
pub(super) mod striping;

pub(super) use network::free_share;

use super::{Experiment, KernelLive, Live, Method, Observer, Observers};

/// Rows of the registry: the module, the folder below `experiments/`, the file there with the
/// scenario (`on`: it is run and observed; `kernel`: and can be run by the kernel, too; `transfer`:
/// with the module's `TRANSFER` beside it) or with parameters (`of`: they are evaluated; `live`:
/// and can run in network namespaces, too).
macro_rules! experiments {
    (@on $module:ident) => {
        Method::Simulation(Observer::Code($module::observe))
    };
    (@of $module:ident) => {
        Method::Evaluation(|input| input.parameters::<$module::Parameters>())
    };
    (@live $module:ident) => {
        experiments!(@of $module)
    };
    (@kernel $module:ident) => {
        experiments!(@on $module)
    };
    (@transfer $module:ident) => {
        experiments!(@on $module)
    };
    (@rows live $module:ident) => {
        Some(Live::Tunnel($module::live_rows))
    };
    (@rows kernel $module:ident) => {
        experiments!(@observers $module, None)
    };
    (@rows transfer $module:ident) => {
        experiments!(@observers $module, Some($module::TRANSFER))
    };
    (@observers $module:ident, $transfer:expr) => {
        Some(Live::Kernel(KernelLive {
            observers: Observers { simulated: $module::observe, live: $module::observe },
            transfer: $transfer,
        }))
    };
    (@rows $how:tt $module:ident) => {
        None
    };
    ($($module:ident in $folder:literal $how:tt $input:literal),+ $(,)?) => {
        /// All experiments, in the order of the papers.
        pub const EXPERIMENTS: &[Experiment] = &[$(Experiment {
            folder: $folder,
            plan: include_str!(concat!("../../../experiments/", $folder, "/plan.toml")),
            input_file: $input,
            input: include_str!(concat!("../../../experiments/", $input)),
            method: experiments!(@$how $module),
            quantities: $module::QUANTITIES,
            live: experiments!(@rows $how $module),
        }),+];
    };
}

experiments! {
    r0_1 in "r0-1" on "networks/s0.toml",
    r0_2 in "r0-2" on "networks/s0.toml",
    r0_3 in "r0-3" on "networks/s0.toml",
    r0_4 in "r0-4" kernel "networks/s0.toml",
    r0_5 in "r0-5" kernel "networks/s0.toml",
    r1_1 in "r1-1" live "networks/s1_rates.toml",
    r1_2 in "r1-2" live "networks/s1_rates.toml",
    r1_3 in "r1-3" live "networks/s1_train.toml",
    r1_4 in "r1-4" of "networks/s1_equal.toml",
    r1_5 in "r1-5" of "networks/s1_equal.toml",
    r1_6 in "r1-6" of "networks/s1_equal.toml",
    r2_1 in "r2-1" kernel "networks/s2.toml",
    r2_2 in "r2-2" transfer "networks/s2.toml",
    r2_3 in "r2-3" kernel "networks/s2.toml",
    r2_4 in "r2-4" kernel "networks/s2_distance.toml",
    r2_5 in "r2-5" kernel "networks/s2.toml",
    r3_1 in "r3-1" on "networks/s3.toml",
    r3_2 in "r3-2" kernel "networks/s3.toml",
    r4_1 in "r4-1" on "networks/s4.toml",
    r4_2 in "r4-2" on "networks/s4.toml",
    r4_3 in "r4-3" on "networks/s4_round_trips.toml",
    r4_4 in "r4-4" on "networks/s4_two.toml",
    r4_5 in "r4-5" on "networks/s4.toml",
    r4_6 in "r4-6" on "networks/s4.toml",
    r4_7 in "r4-7" on "networks/s4.toml",
    r4_8 in "r4-8" on "networks/s4_switches.toml",
    r4_9 in "r4-9" on "networks/s4_low.toml",
}

/// A name that no experiment has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown experiment {given:?}; allowed: {allowed}")]
pub struct SelectError {
    /// The name as given.
    pub given: String,
    /// All names, separated by commas.
    pub allowed: String,
}

/// The experiments of these names, in upper or lower case, in the order of the registry; without a
/// name, all.
///
/// # Errors
/// When a name is not known.
pub fn select(names: &[String]) -> Result<Vec<&'static Experiment>, SelectError> {
    let is = |experiment: &Experiment, name: &str| name.eq_ignore_ascii_case(experiment.folder);
    let known = |name: &str| EXPERIMENTS.iter().any(|experiment| is(experiment, name));
    if let Some(given) = names.iter().find(|name| !known(name)) {
        let allowed: Vec<_> = EXPERIMENTS.iter().map(|e| e.folder.to_uppercase()).collect();
        return Err(SelectError { given: given.clone(), allowed: allowed.join(", ") });
    }
    let chosen = |experiment: &&Experiment| {
        names.is_empty() || names.iter().any(|name| is(experiment, name))
    };
    Ok(EXPERIMENTS.iter().filter(chosen).collect())
}

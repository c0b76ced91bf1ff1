//! Congestion controls and slow starts of the kernel's Multipath TCP, in the scenarios of the suite
//! that it and the emulator can have.

use super::grid::plan;
use super::{BOND, Changes, Control, Grid, GridError, Interval, SUITE, Stage, SuiteScenario};
use crate::experiment::{KernelCase, Observation, Simulation};
use polypath_core::slow_start::SlowStartKind;
use polypath_emulator::kernel::kernel_has;
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::KernelRun;
use polypath_model::metrics::mean;
use polypath_sim::run::Outcome;
use polypath_sim::scenario::{
    BondOptions, CompositionOptions, Mptcp, Scenario, TcpOptions, Transport, WindowControl,
};
use serde::Serialize;

/// What is taken from a simulation.
const GOODPUT: &str = "goodput";

/// The controls that the kernel has, in the order of the registry.
pub fn controls() -> Vec<Control> {
    let has = |control: &Control| {
        let slow_start = control.slow_start.unwrap_or(SlowStartKind::Standard);
        kernel_has(control.congestion, slow_start)
    };
    Control::all().into_iter().filter(has).collect()
}

/// The scenarios of the suite that the kernel and the emulator can have.
///
/// # Errors
/// When one that is built in is wrong.
pub fn scenarios(prefix: &Prefix) -> Result<Vec<SuiteScenario>, GridError> {
    let Some(&control) = controls().first() else { return Ok(Vec::new()) };
    let grid = Grid::new(SUITE, Vec::new(), 1, &Changes::default())?;
    let suits = |stage: &&Stage| KernelJob { stage, control, seed: 1 }.case(prefix).is_ok();
    Ok(grid.stages().iter().filter(suits).map(|stage| stage.scenario).collect())
}

/// A run by the kernel: it depends on nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelJob<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) control: Control,
    pub(crate) seed: u32,
}

impl KernelJob<'_> {
    /// The scenario with Multipath TCP by this control in the place of the bond.
    ///
    /// # Errors
    /// What the kernel or the emulator cannot do.
    pub(crate) fn case(&self, prefix: &Prefix) -> Result<KernelCase, String> {
        let settings = [self.stage.drawn_by(self.seed), self.stage.settings.clone()].concat();
        let plan = plan(&self.stage.scenario, &settings).map_err(|error| error.to_string())?;
        let mut scenario = plan.scenario().clone();
        for connection in &mut scenario.connections {
            if let Transport::Bond(bond) = &connection.transport {
                connection.transport = Transport::Mptcp(over(self.control, bond));
            }
        }
        KernelCase::unscaled(&scenario, prefix)
    }
}

fn over(control: Control, bond: &BondOptions) -> Mptcp {
    let Control { congestion, slow_start } = control;
    let (congestion, slow_start) = (Some(congestion.into()), slow_start.map(SlowStartKind::into));
    let control = WindowControl { congestion, slow_start };
    Mptcp {
        subflow_buffers: None,
        backup: Vec::new(),
        tcp: TcpOptions::default(),
        composition: CompositionOptions { control, ..CompositionOptions::default() },
        receive: bond.receive,
    }
}

/// The same run in the simulator.
pub(crate) fn simulation(case: &KernelCase, seed: u32) -> Simulation<'_> {
    Simulation::new(case, observe, seed)
}

fn observe(_: &Scenario, outcome: &Outcome) -> Observation {
    let mut connections = outcome.report.connections.iter();
    let connection = connections.find(|connection| connection.name == BOND);
    Observation::default().with(GOODPUT, connection.map(|connection| connection.goodput_mbit_s))
}

/// What a simulation gave, in Mbit/s.
pub(crate) fn simulated(observation: &Observation) -> Option<f64> {
    observation.values.get(GOODPUT).copied()
}

/// What the kernel gave in the same place, in Mbit/s.
pub(crate) fn measured(case: &KernelCase, run: &KernelRun) -> Option<f64> {
    let number = case.kernel.connections().iter().position(|planned| planned.name == BOND)?;
    run.goodputs_mbit_s.get(number).copied()
}

/// A control in a scenario: medians over the seeds with their quantiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelRow {
    /// The scenario.
    pub scenario: &'static str,
    /// The control.
    pub control: String,
    /// Its goodput by the kernel in Mbit/s.
    pub kernel_mbit_s: Option<Interval>,
    /// The same in the simulator.
    pub simulator_mbit_s: Option<Interval>,
    /// Packets that the emulator handed over late or lost, of a hundred: in the worst run.
    pub late_percent: f64,
    /// Why it was not measured.
    pub missing: Option<String>,
}

/// A control over all scenarios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelRank {
    /// The control.
    pub control: String,
    /// The mean over the scenarios of its median goodput over that of the best, by the kernel.
    pub kernel: Option<f64>,
    /// The same in the simulator.
    pub simulator: Option<f64>,
}

/// The ranking by the kernel, the best first, of the controls that ran in all scenarios; then the
/// others.
pub(crate) fn ranking(rows: &[KernelRow]) -> Vec<KernelRank> {
    let mut controls: Vec<&String> = Vec::new();
    rows.iter().map(|row| &row.control).for_each(|control| {
        if !controls.contains(&control) {
            controls.push(control);
        }
    });
    let rank = |control: &&String| KernelRank {
        control: (*control).clone(),
        kernel: share(rows, control, |row| row.kernel_mbit_s),
        simulator: share(rows, control, |row| row.simulator_mbit_s),
    };
    let mut ranks: Vec<_> = controls.iter().map(rank).collect();
    let kernel = |rank: &KernelRank| rank.kernel.unwrap_or(f64::NEG_INFINITY);
    ranks.sort_by(|a, b| kernel(b).total_cmp(&kernel(a)));
    ranks
}

/// `None` if it did not run in all scenarios.
fn share(
    rows: &[KernelRow],
    control: &str,
    goodput: fn(&KernelRow) -> Option<Interval>,
) -> Option<f64> {
    let of = |row: &KernelRow| goodput(row).map(|interval| interval.median);
    let best = |scenario: &str| {
        let others = rows.iter().filter(|row| row.scenario == scenario);
        others.filter_map(of).reduce(f64::max)
    };
    let own = rows.iter().filter(|row| row.control == control);
    mean(&own.map(|row| Some(of(row)? / best(row.scenario)?)).collect::<Option<Vec<_>>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_has_eight_controls_with_four_slow_starts_and_three_of_its_own() {
        let names: Vec<_> = controls().iter().map(Control::to_string).collect();
        assert_eq!(names.len(), 8 * 4 + 3, "{names:?}");
        for name in ["bbr", "cubic+hystart", "reno+standard", "balia+bess", "wvegas+hystart_pp"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
    }

    /// Messages with deadlines and requests are no flows of the kernel here, and more than 350
    /// Mbit/s are not carried.
    #[test]
    fn scenarios_are_those_that_kernel_and_emulator_can_have() {
        let scenarios = scenarios(&"x".parse().unwrap()).unwrap();
        let names: Vec<_> = scenarios.iter().map(|scenario| scenario.name).collect();
        for name in ["static_5g_lte", "lossy", "silent_death", "deep_buffer"] {
            assert!(names.contains(&name), "{name} is not in {names:?}");
        }
        for name in ["short_web", "cbr_video_call", "short_files", "drawn_constant_rate"] {
            assert!(!names.contains(&name), "{name} is in {names:?}");
        }
    }

    fn row(scenario: &'static str, control: &str, [kernel, simulator]: [f64; 2]) -> KernelRow {
        let of = |value: f64| Interval::of([value]);
        KernelRow {
            scenario,
            control: control.to_owned(),
            kernel_mbit_s: of(kernel),
            simulator_mbit_s: of(simulator),
            late_percent: 0.0,
            missing: None,
        }
    }

    /// By the kernel OLIA has all of the best and 0.6, LIA a half and all; in the simulator OLIA
    /// has all and LIA a half.
    #[test]
    fn controls_are_ranked_by_their_share_of_the_best() {
        let mut rows = vec![
            row("a", "lia", [5.0, 5.0]),
            row("a", "olia", [10.0, 10.0]),
            row("b", "lia", [9.0, 2.0]),
            row("b", "olia", [5.4, 4.0]),
        ];
        let ranks = ranking(&rows);
        let of = |rank: &KernelRank| (rank.control.clone(), rank.kernel, rank.simulator);
        assert_eq!(of(&ranks[0]), ("olia".to_owned(), Some(0.8), Some(1.0)));
        assert_eq!(of(&ranks[1]), ("lia".to_owned(), Some(0.75), Some(0.5)));
        rows[1].kernel_mbit_s = None;
        let ranks = ranking(&rows);
        assert_eq!(of(&ranks[1]), ("olia".to_owned(), None, Some(1.0)), "not in all");
    }
}

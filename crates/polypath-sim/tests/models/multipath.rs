//! The bond in steady state: the model beside the simulator.

use crate::common::{golden, parallel};
use crate::sets::{Bonded, bonded};
use crate::striping::accuracy;
use polypath_core::model::{
    MultipathOptions, MultipathPrediction, PathControl, SchedulerFamily, multipath_rate,
};
use polypath_sim::run::{Keep, Plan};
use polypath_sim::scenario::Scenario;
use std::fmt::Write;
use std::path::Path;

/// A scheduler, and the family that it is of.
const SCHEDULERS: [(&str, SchedulerFamily); 2] =
    [("edpf", SchedulerFamily::Selective), ("low_rtt", SchedulerFamily::Greedy)];

/// The seed of sets that nothing was fitted to; the scheduler that does not wait was fitted to
/// seed 1.
const HELD_OUT: u64 = 20_261_122;

fn simulated(set: &Bonded, scheduler: &str) -> f64 {
    let scenario =
        Scenario::parse(&set.scenario(scheduler), Path::new("set.toml"), &mut |_| unreachable!());
    let plan = Plan::new(scenario.expect("the scenario is sound")).expect("it can be run");
    let report = plan.run(1, Keep::default(), &mut |_| {}).expect("it runs").report;
    report.connections[0].goodput_mbit_s
}

fn predicted(set: &Bonded, family: SchedulerFamily) -> MultipathPrediction {
    let options = MultipathOptions {
        control: PathControl::Bbr,
        receive_buffer: set.receive_buffer,
        ..MultipathOptions::BOND
    };
    multipath_rate(&set.paths(), &options, family).expect("the set is sound")
}

/// Quantiles of the measured rate over the predicted one, and S1's accuracy.
fn table(sets: &[Bonded]) -> String {
    let mut text =
        "scheduler  accuracy  10th    measured / predicted: 10th  50th  90th\n".to_owned();
    for (scheduler, family) in SCHEDULERS {
        let rates = parallel(sets, |set| {
            (simulated(set, scheduler), predicted(set, family).bytes_per_sec * 8e-6)
        });
        let sorted = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let mut values: Vec<_> = rates.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let accuracies = sorted(&|&(measured, predicted)| accuracy(predicted, measured));
        let ratios = sorted(&|&(measured, predicted)| measured / predicted);
        let at = |values: &[f64], share: f64| values[(values.len() as f64 * share) as usize];
        let mean = accuracies.iter().sum::<f64>() / accuracies.len() as f64;
        let measured = [at(&ratios, 0.1), at(&ratios, 0.9)];
        let measured = measured.map(|ratio| (ratio * 100.0).round() / 100.0);
        assert_eq!(measured, family.measured(), "{scheduler}: measured over predicted");
        let _ = writeln!(
            text,
            "{scheduler:9}  {mean:.3}     {:.3}   {:.3}  {:.3}  {:.3}",
            at(&accuracies, 0.1),
            at(&ratios, 0.1),
            at(&ratios, 0.5),
            at(&ratios, 0.9),
        );
    }
    text
}

#[test]
fn bonds() {
    golden("models_bond.txt", &table(&bonded(HELD_OUT)));
}

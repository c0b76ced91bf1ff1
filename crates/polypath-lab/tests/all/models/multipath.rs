//! The bond in steady state: the model beside the simulator.

use super::sets::{Bonded, bonded};
use super::striping::accuracy;
use crate::golden::golden;
use crate::parallel::parallel;
use polypath_core::scheduler::SchedulerKind;
use polypath_model::{MultipathOptions, MultipathPrediction, SchedulerFamily, multipath_rate};
use std::fmt::Write;

/// A scheduler, and the family that it is of.
const SCHEDULERS: [(SchedulerKind, SchedulerFamily); 3] = [
    (SchedulerKind::Edpf, SchedulerFamily::Ahead),
    (SchedulerKind::Blest, SchedulerFamily::Selective),
    (SchedulerKind::LowRtt, SchedulerFamily::Greedy),
];

/// The seed of sets that nothing was fitted to; the scheduler that does not wait was fitted to
/// seed 1.
const HELD_OUT: u64 = 20_261_122;

fn simulated(set: &Bonded, scheduler: SchedulerKind) -> f64 {
    set.trial(scheduler).run(1, &mut |_| {}).expect("the set can be simulated")
}

fn predicted(set: &Bonded, family: SchedulerFamily) -> MultipathPrediction {
    let options = MultipathOptions { receive_buffer: set.receive_buffer, ..MultipathOptions::BOND };
    multipath_rate(&set.paths, &options, family).expect("the set is sound")
}

/// Quantiles of the measured rate over the predicted one, and S1's accuracy. The 10th and the 90th
/// percentile of each family are given as well.
fn table(sets: &[Bonded]) -> (String, Vec<[f64; 2]>) {
    let mut text =
        "scheduler  accuracy  10th    measured / predicted: 10th  50th  90th\n".to_owned();
    let mut all = Vec::new();
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
        all.push(measured.map(|ratio| (ratio * 100.0).round() / 100.0));
        let _ = writeln!(
            text,
            "{:9}  {mean:.3}     {:.3}   {:.3}  {:.3}  {:.3}",
            scheduler.name(),
            at(&accuracies, 0.1),
            at(&ratios, 0.1),
            at(&ratios, 0.5),
            at(&ratios, 0.9),
        );
    }
    (text, all)
}

/// Three of the sets, one by one.
#[test]
fn a_few_bonds() {
    let mut text = "measured and predicted in Mbit/s\n".to_owned();
    for set in &bonded(HELD_OUT)[..3] {
        let predicted = predicted(set, SchedulerFamily::Ahead).bytes_per_sec * 8e-6;
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{:7.2}  {predicted:7.2}", simulated(set, SchedulerKind::Edpf));
    }
    golden("models_few_bonds.txt", &text);
}

mod experiments {
    use super::*;

    #[test]
    fn bonds() {
        let (text, measured) = table(&bonded(HELD_OUT));
        golden("models_bond.txt", &text);
        assert_eq!(measured, SCHEDULERS.map(|(_, family)| family.measured().unwrap()));
    }
}

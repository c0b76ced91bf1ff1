//! TCP through a tunnel that deals its packets over links in turn: S1's model and ours beside the
//! simulator, by S1's accuracy (equation 24).
//!
//! The tables are golden: after a change on purpose, `UPDATE_GOLDEN=1 cargo test -p polypath-lab
//! --test models` writes them anew.

use super::sets::{narrow, s1, wide};
use super::striping::{Case, accuracy};
use crate::golden::{golden, golden_part};
use crate::parallel::parallel;
use polypath_model::TunnelTransfer;

/// What S1 says of its model, for 2 to 8 links.
const PRINTED: [f64; 7] = [0.8968, 0.8314, 0.7926, 0.7599, 0.7324, 0.7106, 0.6950];
/// The seed of the sets that the model was not developed on. It was developed on those of S1's
/// rates and on seed 1.
const HELD_OUT: u64 = 20_261_122;

/// Accuracies for one number of links.
struct Row {
    links: usize,
    s1: f64,
    mean: f64,
    low: f64,
}

fn rows(cases: &[Case]) -> Vec<Row> {
    let accuracies = parallel(cases, |case| {
        let measured = case.simulated();
        [case.by_s1(), case.predicted()].map(|predicted| accuracy(predicted, measured))
    });
    let mut links: Vec<_> = cases.iter().map(|case| case.links.len()).collect();
    links.dedup();
    let row = |links| {
        let of = |model: usize| {
            let all = accuracies.iter().zip(cases).filter(|(_, case)| case.links.len() == links);
            let mut all: Vec<_> = all.map(|(accuracy, _)| accuracy[model]).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (s1, ours) = (of(0), of(1));
        Row { links, s1: mean(&s1), mean: mean(&ours), low: ours[ours.len() / 10] }
    };
    links.into_iter().map(row).collect()
}

/// A row of a table, with what S1 prints in the last column where it has something to do with it.
fn line(Row { links, s1, mean, low }: &Row, printed: Option<f64>) -> String {
    let line = format!("{links}      {s1:.4} {mean:.4}  {low:.4}");
    printed.map_or(line.clone(), |printed| format!("{line}           {printed:.4}")) + "\n"
}

/// The mark: 0.9 in the mean and 0.85 at the 10th percentile, for each number of links.
fn assert_accurate(rows: &[Row]) {
    for Row { links, mean, low, .. } in rows {
        assert!(*mean >= 0.9 && *low >= 0.85, "{links} links: {mean:.4}, {low:.4}");
    }
}

/// The first row of the table of S1's rates.
#[test]
fn two_links_of_s1_rates() {
    let cases: Vec<_> = s1().into_iter().filter(|case| case.links.len() == 2).collect();
    let rows = rows(&cases);
    golden_part("models_s1.txt", &line(&rows[0], Some(PRINTED[0])));
    assert_accurate(&rows);
}

mod experiments {
    use super::*;

    fn table(name: &str, rows: &[Row], printed: Option<[f64; 7]>) {
        let mut text = "links  s1     tunnel  10th percentile".to_owned();
        text += if printed.is_some() { "  s1 in print\n" } else { "\n" };
        for (index, row) in rows.iter().enumerate() {
            text += &line(row, printed.map(|printed| printed[index]));
        }
        golden(name, &text);
    }

    #[test]
    fn s1_rates() {
        let rows = rows(&s1());
        table("models_s1.txt", &rows, Some(PRINTED));
        assert_accurate(&rows);
    }

    #[test]
    fn other_rates_and_delays() {
        let rows = rows(&narrow(HELD_OUT));
        table("models_held_out.txt", &rows, None);
        assert_accurate(&rows);
    }

    /// Losses, which the model draws on its own, larger buffers, CUBIC, and transfers that last
    /// longer than what the model looks at.
    #[test]
    fn losses_and_longer_transfers() {
        let cases = wide(HELD_OUT);
        table("models_held_out_wide.txt", &rows(&cases), None);
        let mut ratios = parallel(&cases, |case| case.simulated() / case.predicted());
        ratios.sort_by(f64::total_cmp);
        let at = |share: f64| ratios[(ratios.len() as f64 * share) as usize];
        let measured = [at(0.1), at(0.9)].map(|ratio| (ratio * 100.0).round() / 100.0);
        assert_eq!(measured, TunnelTransfer::MEASURED, "measured over predicted");
    }
}

use crate::compare::Interval;
use crate::experiment::{
    AssumptionReport, CellReport, ClaimReport, Drawing, DrawnLine, Judgement, ReadingReport,
    Sensitivity, StudyReport, ValueReport, Verdict,
};

use super::*;
use crate::report::well_formed::assert_well_formed;

fn report() -> StudyReport {
    let value = Interval { median: 1.25, low: 1.0, high: 123.4 };
    let judgement = Judgement { value: Some(value), verdict: Verdict::DirectionOnly, agreeing: 1 };
    StudyReport {
        id: "R0-0".to_owned(),
        paper: "S0".to_owned(),
        figure: "Figure 1".to_owned(),
        title: "a < b".to_owned(),
        seeds: 10,
        runs: 30,
        quantities: Vec::new(),
        claims: vec![ClaimReport {
            id: "R0-0a".to_owned(),
            says: "It is <faster>.".to_owned(),
            paper: "twice".to_owned(),
            quantity: "gain".to_owned(),
            meaning: "a over b".to_owned(),
            unit: "",
            bounds: "at least 1.5".to_owned(),
            judgement,
            per_seed: vec![Some(1.25), Some(123.4)],
            readings: vec![ReadingReport {
                name: "delays one way".to_owned(),
                judgement: Judgement { verdict: Verdict::Reproduced, ..judgement },
            }],
            sensitivity: Some(Sensitivity {
                points: 4,
                same: 3,
                value: Some(value),
                by_value: vec![ValueReport {
                    assumption: "delays".to_owned(),
                    value: "1 ms | 2 ms".to_owned(),
                    points: 2,
                    same: 1,
                }],
            }),
        }],
        assumptions: vec![AssumptionReport {
            name: "delays".to_owned(),
            value: "1 ms | 1 ms".to_owned(),
            reason: "Not given.".to_owned(),
            range: vec!["1 ms | 2 ms".to_owned()],
        }],
        cells: vec![CellReport {
            variant: "a".to_owned(),
            beyond: true,
            at: [("rate".to_owned(), "1 Mbit/s".to_owned())].into(),
            values: [("goodput".to_owned(), value)].into(),
        }],
        drawings: vec![Drawing {
            title: "Goodput & more".to_owned(),
            x: "rate (Mbit/s)".to_owned(),
            y: "goodput (Mbit/s)".to_owned(),
            lines: vec![DrawnLine { name: "a".to_owned(), points: vec![(1.0, 2.0), (3.0, 4.0)] }],
        }],
    }
}

#[test]
fn the_table_has_a_row_for_each_claim() {
    let rows = rows::claims(&[report()]);
    let expected = [
        "R0-0a",
        "gain",
        "twice",
        "at least 1.5",
        "1.25 (1.00 to 123)",
        "direction only",
        "1 of 2",
        "3 of 4",
    ];
    assert_eq!(rows[1], expected.map(str::to_owned));
}

#[test]
fn the_page_has_claims_plots_numbers_and_assumptions() {
    let text = page(&[report()], "Reproduction");
    assert_well_formed(&text);
    assert!(text.contains("<b>R0-0a: direction only.</b> It is &lt;faster&gt;."), "{text}");
    assert!(text.contains("the a over b: 1.25 (1.00 to 123), at least 1.5 required."), "{text}");
    let reading = "By another reading, delays one way: reproduced, 1.25 (1.00 to 123)";
    assert!(text.contains(reading), "{text}");
    let stands =
        "3 of 4 points of the sample of all assumptions have this verdict; over them: 1.25";
    assert!(text.contains(stands), "{text}");
    let row = "<th>delays</th><th>1 ms and 2 ms</th><td class=\"value\">1 of 2</td>";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("a *") && text.contains("1 assumptions") && text.contains("<polyline"));
    let plots: Vec<_> = plots(&[report()]).map(|(name, _)| name).collect();
    assert_eq!(plots, ["r0-0-1.svg"]);
}

use super::*;
use crate::compare::{Alone, Cell, Interval, Judgement, Part, Ranked, ScenarioTable};
use crate::report::well_formed::assert_well_formed;

fn interval(median: f64) -> Interval {
    Interval { median, low: median - 0.5, high: median }
}

fn ranked(combination: &str, shipped: bool, judgement: Judgement) -> Ranked {
    Ranked {
        combination: combination.to_owned(),
        congestion: "bbr",
        slow_start: None,
        scheduler: "edpf",
        shipped,
        score: interval(0.9),
        judgement,
    }
}

fn cell(combination: &str, mbit_s: f64, share: f64) -> Cell {
    Cell {
        combination: combination.to_owned(),
        goodput_mbit_s: interval(mbit_s),
        share,
        best_path: Some(Alone { path: "5g".to_owned(), goodput_mbit_s: interval(60.0) }),
        over_best_path: Some(mbit_s / 60.0),
        delay_p99_ms: Some(interval(41.0)),
        delay_ratio: Some(1.0),
        completion_ms: None,
        in_time: None,
        others_mbit_s: None,
    }
}

fn comparison() -> Comparison {
    let judgement = Judgement { lost: vec!["lossy"], ..Judgement::default() };
    let table = ScenarioTable {
        name: "lossy",
        part: Part::Tuning,
        best: Some(0),
        coupled: None,
        cells: vec![cell("lia+css+blest", 80.0, 1.0), cell("bbr+edpf", 50.0, 0.625)],
    };
    Comparison {
        seeds: 3,
        runs: 18,
        ranking: vec![
            ranked("lia+css+blest", false, Judgement::default()),
            ranked("bbr+edpf", true, judgement),
        ],
        scenarios: vec![table],
    }
}

#[test]
fn the_page_has_ranking_heat_map_and_tables() {
    let text = page(&comparison(), "a & b");
    assert_well_formed(&text);
    for part in [
        "<h1>a &amp; b</h1>",
        "<th>lia+css+blest</th>",
        "bbr+edpf is not best in: lossy",
        "<h2>lossy (tuning)</h2>",
        "80.00 (79.50 to 80.00)",
        "bbr+edpf in lossy: 50.00 Mbit/s",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("<rect ").count(), 2);
    // 50 of 60 over the best path: one frame.
    assert_eq!(text.matches("stroke=").count(), 1);
    assert_eq!(text.matches("font-weight=\"bold\"").count(), 1, "the best");
}

#[test]
fn what_ships_is_shown_wherever_it_stands() {
    let comparison = comparison();
    let ranking = rows::ranked(&comparison, 1);
    assert_eq!(ranking.len(), 3, "headings, the first and what ships");
    assert_eq!(ranking[2][..4], ["2", "bbr+edpf *", "90.0 (40.0 to 90.0)", "0 of 1"]);
    let cells = rows::cells(&comparison.scenarios[0], &comparison.ranking, 1);
    assert_eq!(cells[2][..4], ["bbr+edpf *", "50.00 (49.50 to 50.00)", "62.5", "5g 60.00"]);
}

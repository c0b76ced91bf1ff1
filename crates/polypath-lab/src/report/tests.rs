use super::well_formed::assert_well_formed;
use super::*;

/// A bond of two paths; the faster one is silent from 2 s to 4 s.
fn report() -> DemoReport {
    let series = |name: &str, rates: &[f64]| PathSeries {
        name: name.to_owned(),
        samples: (0u32..)
            .zip(rates)
            .map(|(t, &mbit_s)| Sample { t: f64::from(t), mbit_s })
            .collect(),
    };
    let event = |t, what| PathEvent { t, path: "wifi".to_owned(), what };
    let path = |name: &str, mbit_s| PathResult { name: name.to_owned(), mbit_s: Some(mbit_s) };
    DemoReport::new(Measured {
        paths: vec![path("wifi", 93.5), path("lte", 46.5)],
        bond_mbit_s: Some(133.0),
        failure_gap_ms: Some(121.4),
        reuse_ms: Some(430.0),
        sha256_ok: true,
        timing: vec![timing("bond", true), timing("bond with a failure", true)],
        series: vec![RunSeries {
            run: "bond with a failure".to_owned(),
            events: vec![event(2.0, PathChange::Failed), event(4.0, PathChange::Returned)],
            paths: vec![
                series("wifi", &[0.0, 93.0, 90.0, 0.0, 0.0, 88.0, 93.0]),
                series("lte", &[0.0, 45.0, 46.0, 46.5, 46.0, 46.0, 46.5]),
            ],
        }],
    })
}

fn timing(run: &str, counts: bool) -> RunTiming {
    RunTiming { run: run.to_owned(), tries: 3, late_p99_ms: 7.25, late_max_ms: 80.0, counts }
}

/// The machine spoilt a path alone and the run with the failure.
fn spoilt() -> DemoReport {
    let whole = report();
    DemoReport::new(Measured {
        paths: vec![whole.paths[0].clone(), PathResult { mbit_s: None, ..whole.paths[1].clone() }],
        bond_mbit_s: whole.bond_mbit_s,
        failure_gap_ms: None,
        reuse_ms: None,
        sha256_ok: true,
        timing: vec![timing("lte alone", false), timing("bond with a failure", false)],
        series: Vec::new(),
    })
}

#[test]
fn what_the_machine_spoilt_is_no_figure() {
    let report = spoilt();
    assert_eq!((report.best_path_mbit_s, report.sum_mbit_s, report.efficiency), (None, None, None));
    insta::assert_snapshot!(report.to_table());
    assert!(report.to_json().unwrap().contains("\"efficiency\": null"));
    assert!(report.to_html().contains("machine too busy"));
}

#[test]
fn what_follows_from_the_measurements_is_derived() {
    let report = report();
    assert_eq!(report.best_path_mbit_s, Some(93.5));
    assert_eq!(report.sum_mbit_s, Some(140.0));
    assert_eq!(report.efficiency, Some(0.95));
}

#[test]
fn the_table_is_readable() {
    insta::assert_snapshot!(report().to_table());
}

#[test]
fn json_has_the_agreed_names() {
    insta::assert_snapshot!(report().to_json().unwrap());
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let page = report().to_html();
    // The name of the SVG vocabulary is no address that a browser fetches.
    let links = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!links.contains(outside), "{outside}");
    }
    assert_well_formed(&page);
    insta::assert_snapshot!(page);
}

#[test]
fn names_cannot_break_the_page() {
    let mut report = report();
    report.paths[0].name = "<script>\"&'".to_owned();
    report.series[0].run = "</svg><script>".to_owned();
    report.series[0].paths[0].name = "<b>".to_owned();
    report.series[0].events[0].path = "<i>".to_owned();
    let page = report.to_html();
    assert_well_formed(&page);
    assert!(page.contains("&lt;script&gt;&quot;&amp;&#39;"), "{page}");
    for raw in ["<script", "<b>", "<i>"] {
        assert!(!page.contains(raw), "{raw}");
    }
}

#[test]
fn a_report_of_nothing_is_still_a_report() {
    let report = DemoReport::new(Measured {
        paths: Vec::new(),
        bond_mbit_s: Some(0.0),
        failure_gap_ms: None,
        reuse_ms: None,
        sha256_ok: false,
        timing: Vec::new(),
        series: vec![RunSeries { run: "empty".to_owned(), events: vec![], paths: vec![] }],
    });
    assert_eq!(report.efficiency, Some(0.0));
    assert!(report.to_table().contains("not seen") && report.to_table().contains("DAMAGED"));
    assert!(report.to_json().unwrap().contains("\"reuse_ms\": null"));
    assert!(!report.to_html().contains("NaN"));
}

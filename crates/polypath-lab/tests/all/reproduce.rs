//! `polypath reproduce` as people run it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// The verdicts of a quick run: a line for each claim.
const VERDICTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments/verdicts.quick.txt");

fn reproduce(arguments: &[&str]) -> Output {
    let mut command = Command::new(crate::program());
    command.arg("reproduce").args(arguments).output().unwrap()
}

/// Standard output of a run that succeeds.
fn done(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = reproduce(arguments);
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

fn verdicts(json: &str) -> String {
    let results: Value = serde_json::from_str(json).unwrap();
    let experiments = results["experiments"].as_array().unwrap();
    let claims = experiments.iter().flat_map(|experiment| experiment["claims"].as_array().unwrap());
    let line = |claim: &Value| {
        let [id, verdict] = ["id", "verdict"].map(|key| claim[key].as_str().unwrap());
        format!("{id} {}\n", verdict.replace('_', " "))
    };
    claims.map(line).collect()
}

/// Of one experiment, which simulates no more than some seconds.
#[test]
fn quick_verdicts_of_an_experiment_are_those_that_are_known() {
    let known = fs::read_to_string(VERDICTS).unwrap();
    let verdicts = verdicts(&done(&["r4-7", "--quick", "--json"]));
    assert_eq!(verdicts.lines().count(), 3);
    assert!(
        verdicts.lines().all(|verdict| known.lines().any(|line| line == verdict)),
        "{verdicts}"
    );
}

mod experiments {
    use super::*;

    /// A verdict that changes is a change of what the algorithms do: look at why, then write the
    /// new ones with
    /// `UPDATE_GOLDEN=1 cargo test -p polypath-lab --test all experiments::quick_verdicts`.
    #[test]
    fn quick_verdicts_are_those_that_are_known() {
        let verdicts = verdicts(&done(&["--quick", "--json"]));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(VERDICTS, &verdicts).unwrap();
        }
        assert_eq!(verdicts, fs::read_to_string(VERDICTS).unwrap());
    }
}

/// One job at a time, two at a time, and from a folder that has half of the results.
#[test]
fn results_depend_neither_on_jobs_nor_on_what_is_known() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().to_str().unwrap();
    let alone = done(&["r4-7", "--quick", "--json", "--jobs=1"]);
    assert_eq!(done(&["R4-7", "--quick", "--json", "--jobs=2", "--out", out]), alone);
    let results = place.path().join("results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    let half: String = text.lines().take(5).map(|line| line.to_owned() + "\n").collect();
    fs::write(&results, &half).unwrap();
    assert_eq!(done(&["r4-7", "--quick", "--json", "--out", out]), alone);
    let again = fs::read_to_string(&results).unwrap();
    assert!(again.starts_with(&half) && again.lines().count() == text.lines().count());
}

#[test]
fn the_folder_has_a_page_and_its_plots() {
    let place = tempfile::tempdir().unwrap();
    let text = done(&["r4-7", "--quick", "--out", place.path().to_str().unwrap()]);
    assert!(text.starts_with("Quick reproduction: 3 claims of 1 experiments"), "{text}");
    let read = |name: &str| fs::read_to_string(Path::join(place.path(), name)).unwrap();
    let page = read("index.html");
    assert!(page.contains("<h2>R4-7: Queueing delay") && page.contains("<svg"), "{page}");
    let plot = read("r4-7-1.svg");
    // Five variants, each a line.
    assert!(plot.starts_with("<svg") && plot.matches("<polyline").count() == 5, "{plot}");
}

#[test]
fn an_experiment_that_is_not_there_is_told() {
    let Output { status, stderr, .. } = reproduce(&["R9-9"]);
    assert_eq!(status.code(), Some(2));
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(stderr.contains("unknown experiment \"R9-9\"; allowed: R0-1, R0-2"), "{stderr}");
}

const REPRODUCTION: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction.md"));

/// The first block of this language behind `heading` in the documentation.
fn documented(heading: &str, language: &str) -> &'static str {
    let (_, behind) = REPRODUCTION.split_once(heading).unwrap();
    let (_, block) = behind.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0
}

/// The plan of the documentation prints what the documentation says. After a change on purpose the
/// test tells what it prints now.
#[test]
fn a_plan_of_ones_own_is_run_from_its_file() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("delays.toml");
    fs::write(&file, documented("## A plan of your own", "toml")).unwrap();
    let (file, page) = (file.to_str().unwrap(), place.path().join("page.html"));
    let text = done(&[file, "--html", page.to_str().unwrap()]);
    assert_eq!(text, documented("## A plan of your own", "text"), "\n{text}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<h2>delays: ") && page.contains("<th>goodput (Mbit/s)</th>"), "{page}");
    assert_eq!(page.matches("<svg").count(), 2, "a plot for each quantity");
    let json: Value =
        serde_json::from_str(&done(&[file, "--json", "--quick", "--set", "quick_seeds=1"]))
            .unwrap();
    let report = &json["experiments"][0];
    assert_eq!((&report["id"], &report["seeds"]), (&"delays".into(), &1.into()));
    assert_eq!(report["quantities"][0]["name"], "goodput");
}

#[test]
fn a_plan_that_is_wrong_is_told_with_its_place() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("delays.toml");
    let plan = documented("## A plan of your own", "toml");
    fs::write(&file, plan.replace("goodput_mbit_s", "goodput")).unwrap();
    let file = file.to_str().unwrap();
    let told = |arguments: &[&str], message: &str| {
        let Output { status, stderr, .. } = reproduce(arguments);
        let stderr = String::from_utf8(stderr).unwrap();
        assert!(status.code() == Some(2) && stderr.contains(message), "{stderr}");
    };
    told(&[file], "value: no \"goodput\" in connections.bond; allowed are aggregation_benefit, ");
    told(&[file, "--set", "seeds=0"], "--set seeds=0: seeds: 0 is out of range");
    told(&[file, file], "no \"goodput\"");
    told(&["./none.toml"], "./none.toml: cannot be read: ");
    told(&["r4-7", "--set", "seeds=3"], "--set: allowed with the file of a plan");
}

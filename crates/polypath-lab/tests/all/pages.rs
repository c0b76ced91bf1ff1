//! The pages of the experiments: their figures come from `make reproduction`.
//!
//! The script writes what stands between marks. What stands beside these may have no figure but
//! those that are given: by the paper, in a plan, or in a scenario.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const EXPERIMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
const PAPERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/papers");
const SCRIPT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/reproduction"));

/// The heading of the part of a page that tells what the paper says.
const CLAIMED: &str = "## What the paper claims";
/// The heading behind it.
const RESULTS: &str = "## What comes out";

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect()
}

/// The folder of each experiment.
fn experiments() -> Vec<PathBuf> {
    let entries = fs::read_dir(EXPERIMENTS).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.join("README.md").exists()).collect();
    folders.sort();
    folders
}

/// The text without what the script writes: from `<!-- KIND... -->` to `<!-- end of KIND -->`.
fn without_blocks(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, mark)) = rest.split_once("<!-- ") {
        let kind: String = mark.chars().take_while(char::is_ascii_alphabetic).collect();
        let end = format!("<!-- end of {kind} -->");
        let (_, behind) = mark.split_once(&end).unwrap_or_else(|| panic!("no mark {end}"));
        text.push_str(before);
        rest = behind;
    }
    text + rest
}

/// The parts of a text between pairs of `open` and `close`, and the text without these.
fn cut(text: &str, open: &str, close: &str) -> (Vec<String>, String) {
    let (mut parts, mut left, mut rest) = (Vec::new(), String::new(), text);
    while let Some((before, behind)) = rest.split_once(open) {
        let Some((part, after)) = behind.split_once(close) else { break };
        left.push_str(before);
        parts.push(part.to_owned());
        rest = after;
    }
    (parts, left + rest)
}

/// The numbers of a text, without digits that belong to a name, such as `R2-1`, `5G` and `BBRv3`.
fn numbers(text: &str) -> BTreeSet<String> {
    let ends_word = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',' | '-' | '_'));
    let of_word = |word: &str| -> Option<String> {
        let word = word.trim_matches(['.', ',', '-']).replace(',', "");
        let number: f64 = word.parse().ok()?;
        Some(number.to_string())
    };
    text.split(ends_word).filter_map(of_word).collect()
}

/// The numbers that are given: in the plans of the experiment, in the scenarios, in what the page
/// quotes, and in the pages on the papers.
fn given(folder: &Path, page: &str) -> BTreeSet<String> {
    let (_, behind) = page.split_once(CLAIMED).unwrap();
    let (quoted, _) = behind.split_once(RESULTS).unwrap();
    let networks = files(&format!("{EXPERIMENTS}/networks"), "toml");
    let sources = files(folder.to_str().unwrap(), "toml").into_iter().chain(networks);
    let sources = sources.chain(files(PAPERS, "md")).map(|file| read(&file));
    // In settings and sets of values there is no space beside a number.
    let split = |text: String| numbers(&text.replace(['=', '"', '\'', '|'], " "));
    sources.chain([quoted.to_owned()]).flat_map(split).collect()
}

#[test]
fn figures_on_the_pages_of_experiments_are_written_by_the_script_or_given() {
    let measured = |folder: PathBuf| {
        let page = read(&folder.join("README.md"));
        let (_, prose) = cut(&without_blocks(&page), "`", "`");
        let (_, prose) = cut(&prose, "](", ")");
        let found: Vec<_> = numbers(&prose).difference(&given(&folder, &page)).cloned().collect();
        (!found.is_empty()).then(|| format!("{}: {}", folder.display(), found.join(", ")))
    };
    let measured: Vec<_> = experiments().into_iter().filter_map(measured).collect();
    assert!(
        measured.is_empty(),
        "figures that nothing writes anew; refer to a table, or measure them in causes.toml:\n{}",
        measured.join("\n")
    );
}

#[test]
fn commands_on_the_pages_of_experiments_are_what_the_script_runs() {
    assert!(SCRIPT.contains("/causes.toml >"), "the script runs the plans about causes");
    for folder in experiments() {
        let page = read(&folder.join("README.md"));
        let name = folder.file_name().unwrap().to_str().unwrap();
        let command = format!("polypath reproduce {} --out {name}", name.to_uppercase());
        let (code, _) = cut(&page, "`", "`");
        // `polypath model` is a name, not a command that gives a figure.
        let is_run = |code: &&String| code.starts_with("polypath ") && code.split(' ').count() > 2;
        let commands: Vec<_> = code.iter().filter(is_run).collect();
        assert_eq!(commands, [&command], "{name}");
        assert_eq!(code.iter().find(|code| code.contains("--set")), None, "{name}");
    }
}

#[test]
fn a_page_has_what_the_plan_about_causes_comes_to() {
    for folder in experiments() {
        let page = read(&folder.join("README.md"));
        let plan = folder.join("causes.toml");
        assert_eq!(page.contains("<!-- causes -->"), plan.exists(), "{}", folder.display());
        if plan.exists() {
            let name = folder.file_name().unwrap().to_str().unwrap().to_uppercase();
            let id = format!("id = \"{name}-causes\"");
            assert!(read(&plan).contains(&id), "{} has no {id}", plan.display());
        }
    }
}

#[test]
fn a_figure_in_prose_is_found() {
    let page = "BBR has 5.30 of 1,000 Mbit/s (R4-4c) in 5G, -0.2 dB.\n\
                <!-- values: a=b -->\n7 8\n<!-- end of values -->\nand 9.";
    let expected = BTreeSet::from(["5.3", "1000", "0.2", "9"].map(str::to_owned));
    assert_eq!(numbers(&without_blocks(page)), expected);
}

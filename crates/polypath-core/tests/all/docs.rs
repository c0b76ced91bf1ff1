//! The book has a page for every algorithm in the registry, and none for others.

use polypath_core::registry::{self, Description, Kind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder(kind: Kind) -> PathBuf {
    let name = match kind {
        Kind::Congestion => "congestion",
        Kind::SlowStart => "slow_start",
        Kind::Scheduler => "scheduler",
        Kind::Failure => "failure",
    };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms").join(name)
}

fn page(row: &Description) -> PathBuf {
    folder(row.kind).join(row.name).with_extension("md")
}

/// What is missing from a page of the usual form.
fn missing(row: &Description, text: &str) -> Vec<String> {
    let mut wanted: Vec<_> = ["## Scope", "## Usage", "## Validation"].map(String::from).into();
    wanted.insert(0, format!("# {}", row.name));
    let lines: BTreeSet<_> = text.lines().collect();
    wanted.retain(|heading| !lines.contains(heading.as_str()));
    let parameters = row.parameters.iter().map(|parameter| format!("`{}`", parameter.name));
    wanted.extend(parameters.filter(|name| !text.contains(name)));
    wanted
}

#[test]
fn every_algorithm_has_a_page_that_names_its_parameters() {
    for row in registry::all() {
        let page = page(row);
        let text = std::fs::read_to_string(&page)
            .unwrap_or_else(|error| panic!("{}: {error}; write this page", page.display()));
        let missing = missing(row, &text);
        assert!(missing.is_empty(), "{} lacks {missing:?}", page.display());
    }
}

#[test]
fn every_page_is_of_an_algorithm() {
    let pages: BTreeSet<_> = registry::all().into_iter().map(page).collect();
    let kinds: BTreeSet<_> = registry::all().iter().map(|row| row.kind).collect();
    for folder in kinds.into_iter().map(folder) {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            assert!(pages.contains(&path), "{}: no such algorithm", path.display());
        }
    }
}

#[test]
fn the_index_links_every_page() {
    let index = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/README.md");
    let index = std::fs::read_to_string(index).unwrap();
    for row in registry::all() {
        let page = page(row);
        let link = page.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs"));
        let link = link.unwrap().display().to_string();
        assert!(index.contains(&format!("({link})")), "docs/README.md lacks {link}");
    }
}

/// The scheduler that CONTRIBUTING.md shows is a file that is compiled and tested.
#[test]
fn the_example_of_contributing_is_what_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../CONTRIBUTING.md")).unwrap();
    let file = std::fs::read_to_string(root.join("src/scheduler/contributing.rs")).unwrap();
    let indented =
        |line: &str| if line.is_empty() { line.to_owned() } else { format!("   {line}") };
    let block = file.lines().map(indented).collect::<Vec<_>>().join("\n");
    assert!(page.contains(&format!("   ```rust\n{block}\n   ```\n")), "CONTRIBUTING.md is stale");
}

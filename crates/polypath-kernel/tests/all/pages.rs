//! What the pages of algorithms say of the worlds that these run in, against the tables.

use polypath_core::registry::{self, Description, Kind};
use polypath_kernel::{CONGESTION, SLOW_STARTS};
use std::path::Path;

const BOTH: &str = "Runs in the simulator and in the bond on sockets";
const ALL: &str = "Runs in the simulator, in the bond on sockets, and";
const KERNEL: &str = "([the kernel world](../../kernel.md)).";

/// The paragraph about it in the page of an algorithm, in one line.
fn said(row: &Description, folder: &str) -> String {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms").join(folder);
    let text = std::fs::read_to_string(pages.join(row.name).with_extension("md")).unwrap();
    let mut about = text.split("\n\n").filter(|paragraph| paragraph.starts_with("Runs in "));
    let said = about.next().unwrap_or_else(|| panic!("{} does not say where it runs", row.name));
    assert_eq!(about.next(), None, "{} says twice where it runs", row.name);
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Of an algorithm that the kernel is given the whole of the paragraph is known; of another one the
/// two worlds, and that no third one is among them.
fn hold(row: &Description, folder: &str, in_kernel: Option<String>) {
    let said = said(row, folder);
    match in_kernel {
        Some(how) => assert_eq!(said, format!("{ALL} {how} {KERNEL}"), "{}", row.name),
        None => {
            let rest = said.strip_prefix(BOTH).unwrap_or_else(|| panic!("{}: {said}", row.name));
            let ends = rest.starts_with('.') || rest == ", not in the kernel.";
            assert!(ends && !said.contains(KERNEL), "{}: {said}", row.name);
        }
    }
}

#[test]
fn pages_say_kernel_of_what_is_in_the_tables_alone() {
    for row in registry::all() {
        match row.kind {
            Kind::Congestion => {
                let given = CONGESTION.iter().find(|given| given.kind.name() == row.name);
                let how = |name| format!("as `{name}` in the kernel's TCP and Multipath TCP");
                hold(row, "congestion", given.map(|given| how(given.kernel_name)));
            }
            Kind::SlowStart => {
                let given = SLOW_STARTS.iter().any(|(kind, _)| kind.name() == row.name);
                let how = "in the kernel, before each of Polypath's congestion controls there";
                hold(row, "slow_start", given.then(|| how.to_owned()));
            }
            Kind::Scheduler => hold(row, "scheduler", None),
            // The path manager has one of them, and is no program of the kernel.
            Kind::Failure => {}
        }
    }
}

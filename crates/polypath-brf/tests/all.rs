//! The page of routing feedback in the book.

use polypath_brf::{DetectionParameters, SwitchParameters};
use std::path::Path;

/// The parameters that `Debug` prints of a struct of plain numbers.
fn fields(parameters: &str) -> impl Iterator<Item = &str> {
    parameters.split(['{', ',']).filter_map(|part| Some(part.split_once(':')?.0.trim()))
}

#[test]
fn the_page_of_routing_feedback_names_its_parameters() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms/feedback.md");
    let page = std::fs::read_to_string(page).unwrap();
    let switch = format!("{:?}", SwitchParameters::DEFAULT);
    let detection = format!("{:?}", DetectionParameters::DEFAULT);
    let names: Vec<_> = fields(&switch).chain(fields(&detection)).collect();
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "feedback.md lacks {name}");
    }
}

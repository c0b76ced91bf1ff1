//! A table of figures, of which some must hold.

use crate::common::{golden, golden_part};
use std::fmt::Write;

/// Lines, and what of them is not as it must be.
#[derive(Debug)]
pub(crate) struct Table {
    text: String,
    wrong: Vec<String>,
}

impl Table {
    pub(crate) fn new(header: &str) -> Self {
        Self { text: format!("{header}\n"), wrong: Vec::new() }
    }

    /// A line, which is wrong unless `holds`.
    pub(crate) fn line(&mut self, line: &str, holds: bool) {
        writeln!(self.text, "{line}").expect("a string");
        if !holds {
            self.wrong.push(line.to_owned());
        }
    }

    /// Something that must hold of several lines.
    pub(crate) fn check(&mut self, holds: bool, what: &str) {
        if !holds {
            self.wrong.push(what.to_owned());
        }
    }

    /// Panics if something is wrong, or differs from the golden file of this name.
    pub(crate) fn finish(self, name: &str) {
        golden(&format!("equilibria/{name}.txt"), &self.right());
    }

    /// The same for a table that has some of the lines of that file.
    pub(crate) fn finish_part(self, name: &str) {
        golden_part(&format!("equilibria/{name}.txt"), &self.right());
    }

    /// The text, if all of it is as it must be.
    fn right(self) -> String {
        let Self { text, wrong } = self;
        assert!(wrong.is_empty(), "wrong:\n{}\nof\n{text}", wrong.join("\n"));
        text
    }
}

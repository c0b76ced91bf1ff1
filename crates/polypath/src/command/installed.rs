//! The configuration files that packages install, for tests: lines that begin with `#` and the name
//! of an option show what can be said.

use std::collections::BTreeSet;

use clap::Command;
use polypath_bond::identity::SecretKey;

/// A file as it is installed, with a key where it stands for one.
pub(super) struct Installed(String);

impl Installed {
    pub(super) fn new(text: &str) -> Self {
        let key = SecretKey::from_seed([7; 32]).public().to_string();
        Self(text.replace("ppp1...", &key))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// What is said of an option, and whether it holds.
    fn said(line: &str) -> Option<(&str, &str, bool)> {
        let shown = line.strip_prefix('#');
        let setting = shown.unwrap_or(line);
        let (option, _) = setting.split_once(" = ")?;
        let is_name = option.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        is_name.then_some((option, setting, shown.is_none()))
    }

    /// The file with each of the options that it only shows, one at a time. An option of which
    /// `instead_of` is there takes the place of that one; those of `needing` need the one in front
    /// of them.
    pub(super) fn with_each_option(
        &self,
        instead_of: [&str; 2],
        needing: &[(&str, &[&str])],
    ) -> Vec<String> {
        let all: Vec<_> = self.0.lines().filter_map(Self::said).collect();
        let shown = all.iter().filter(|(.., holds)| !holds);
        let with = |(option, setting, _): &(&str, &str, bool)| {
            let gives_way = if *option == instead_of[0] { instead_of[1] } else { option };
            let kept = all.iter().filter(|(other, _, holds)| *holds && *other != gives_way);
            let kept = kept.map(|(_, setting, _)| *setting);
            let is_needed =
                |other: &str| needing.iter().any(|(of, by)| *of == other && by.contains(option));
            let needed = all.iter().filter(|(other, ..)| is_needed(other));
            let needed = needed.map(|(_, setting, _)| *setting);
            kept.chain(needed).chain([*setting]).collect::<Vec<_>>().join("\n")
        };
        shown.map(with).collect()
    }

    /// It has each option of the command, and no other.
    pub(super) fn assert_complete(&self, command: &Command) {
        let said: BTreeSet<_> =
            self.0.lines().filter_map(Self::said).map(|(option, ..)| option).collect();
        let options = command.get_arguments().map(|option| option.get_id().as_str());
        assert_eq!(said, options.filter(|&option| option != "config").collect());
    }
}

//! What came of it, for people: printed in the end, and meanwhile in a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::disturbances::Disturbance;
use super::transfers::Kind;
use crate::process::stdout;

/// The environment variable with the name of the file.
const FILE: &str = "POLYPATH_ABUSE_REPORT";

/// How the transfers went, and lines about all that happened.
pub(super) struct Report(Mutex<Contents>);

#[derive(Default)]
pub(super) struct Contents {
    lines: Vec<String>,
    file: Option<File>,
    pub(super) arrived: BTreeMap<Kind, u64>,
    /// With cause and reason.
    repeated: BTreeMap<(Kind, Disturbance, String), u64>,
    /// Transfers that failed without a cause, or arrived changed.
    pub(super) lost: Vec<String>,
}

impl Report {
    pub(super) fn new() -> Self {
        let file = std::env::var(FILE).ok().map(|name| File::create(name).expect(FILE));
        Self(Mutex::new(Contents { file, ..Contents::default() }))
    }

    pub(super) fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn arrived(&self, kind: Kind) {
        *self.contents().arrived.entry(kind).or_default() += 1;
    }

    pub(super) fn repeated(&self, kind: Kind, cause: Disturbance, why: &str) {
        self.line(&format!("{kind:?} failed because of {cause:?}: {why}"));
        *self.contents().repeated.entry((kind, cause, why.to_owned())).or_default() += 1;
    }

    pub(super) fn lost(&self, kind: Kind, why: &str) {
        let loss = format!("{kind:?}: {why}");
        self.line(&format!("lost: {loss}"));
        self.contents().lost.push(loss);
    }

    /// A line with the time, by which it can be found in the logs.
    pub(super) fn line(&self, text: &str) {
        let time = Command::new("date").args(["-u", "+%FT%TZ"]).output().unwrap();
        let line = format!("{} {text}", stdout(&time).trim());
        let mut contents = self.contents();
        if let Some(file) = &mut contents.file {
            writeln!(file, "{line}").unwrap();
        }
        contents.lines.push(line);
    }

    /// Lines about all transfers.
    fn sum_up(&self) {
        let lines: Vec<_> = {
            let contents = self.contents();
            let arrived = contents.arrived.iter().map(|(kind, n)| format!("arrived: {n} {kind:?}"));
            let repeated = contents.repeated.iter().map(|((kind, cause, why), n)| {
                format!("repeated: {n} {kind:?} because of {cause:?}: {why}")
            });
            arrived.chain(repeated).collect()
        };
        lines.iter().for_each(|line| self.line(line));
    }
}

/// However it ended.
impl Drop for Report {
    #[expect(clippy::print_stdout, reason = "it is for who ran the test")]
    fn drop(&mut self) {
        self.sum_up();
        self.contents().lines.iter().for_each(|line| println!("{line}"));
    }
}

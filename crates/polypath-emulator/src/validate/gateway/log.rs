//! What a program says, line by line.

use super::Interrupt;
use super::error::GatewayError;
use crate::realtime::Clock;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Lines that are kept: of a start no more are waited for.
const KEPT: usize = 64;
/// Lines that an error shows.
const SHOWN: usize = 6;
/// For a start. An edge that finds its hub has all paths after a few round trips.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether all is to end.
const LOOK: Duration = Duration::from_millis(100);

/// The last lines of a program's standard output and standard error.
#[derive(Debug, Default)]
pub(super) struct Log {
    said: Mutex<Said>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Said {
    lines: VecDeque<String>,
    /// How many of the two streams have ended.
    ended: usize,
}

/// Why a line was not found.
#[derive(Debug)]
pub(super) enum NotSaid {
    /// The program has closed both streams.
    Ended,
    /// It took too long.
    Late,
    /// All is to end.
    Interrupted,
}

impl Log {
    /// Reads a stream of the program to its end, in a thread of its own.
    pub(super) fn follow(self: &Arc<Self>, stream: impl Read + Send + 'static) {
        let log = self.clone();
        thread::spawn(move || {
            // What is no text ends the stream like its end: programs of ours say nothing else.
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                log.add(line);
            }
            log.said.lock().unwrap_or_else(PoisonError::into_inner).ended += 1;
            log.changed.notify_all();
        });
    }

    fn add(&self, line: String) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.lines.len() == KEPT {
            said.lines.pop_front();
        }
        said.lines.push_back(line);
        self.changed.notify_all();
    }

    /// What the first line for which there is something has, waited for.
    pub(super) fn find<T>(
        &self,
        interrupt: &Interrupt,
        find: impl Fn(&str) -> Option<T>,
    ) -> Result<T, NotSaid> {
        let clock = Clock::start();
        let end = clock.now() + PATIENCE;
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = said.lines.iter().find_map(|line| find(line)) {
                return Ok(found);
            }
            if said.ended == 2 {
                return Err(NotSaid::Ended);
            }
            if clock.now() >= end {
                return Err(NotSaid::Late);
            }
            interrupt.check().map_err(|_| NotSaid::Interrupted)?;
            let waited = self.changed.wait_timeout(said, LOOK);
            said = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The last lines, each behind a line break.
    pub(super) fn tail(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = said.lines.len().saturating_sub(SHOWN);
        said.lines.iter().skip(skipped).map(|line| format!("\n  {line}")).collect()
    }
}

/// Whether this is a line of a log in JSON with this message, and with these values if any.
pub(super) fn says(line: &str, message: &str, values: &[(&str, &str)]) -> Option<()> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    let has = |(key, value): &(&str, &str)| event[*key] == *value;
    (event["message"] == message && values.iter().all(has)).then_some(())
}

impl NotSaid {
    /// The error of this program, which has not said what it should.
    pub(super) fn of(self, program: &'static str, wanted: &str, log: &Log) -> GatewayError {
        let problem = match self {
            Self::Ended => format!("it has ended before {wanted}"),
            Self::Late => format!("{wanted} took more than {} s", PATIENCE.as_secs()),
            Self::Interrupted => return GatewayError::Interrupted,
        };
        GatewayError::Program { program, problem, log: log.tail() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_and_the_last_ones_told() {
        let (log, interrupt) = (Arc::new(Log::default()), Interrupt::default());
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        log.follow(std::io::Cursor::new(text));
        let last = |line: &str| (line == "line 99").then_some(());
        log.find(&interrupt, last).unwrap();
        assert!(log.tail().starts_with("\n  line 94\n"), "{}", log.tail());
        log.follow(std::io::empty());
        let missing = log.find(&interrupt, |line| (line == "line 0").then_some(()));
        assert!(matches!(missing, Err(NotSaid::Ended)), "only {KEPT} lines are kept");
    }

    #[test]
    fn a_line_of_the_log_has_its_message_and_values() {
        let line = r#"{"level":"INFO","message":"joined","path":"a","bond":"0"}"#;
        assert_eq!(says(line, "joined", &[("path", "a")]), Some(()));
        assert_eq!(says(line, "joined", &[("path", "b")]), None);
        assert_eq!(says(line, "lost", &[]), None);
        assert_eq!(says("polypath:1/...", "joined", &[]), None);
    }
}

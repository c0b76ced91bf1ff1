//! The progress of a transfer: one line for each path.
//!
//! On a terminal the lines stay in place. Elsewhere, in a log or a pipe, a plain line for each
//! path is written at most once a second, so that nothing overwrites anything.

use std::io::{self, Write};
use std::time::Duration;

use console::{Term, truncate_str};
use polypath_units::{Bandwidth, ByteCount, Timestamp};

/// How often plain lines are written.
const PLAIN_INTERVAL: Duration = Duration::from_secs(1);

/// The state of a path for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// It is being joined.
    Joining,
    /// It carries data.
    Up,
    /// It was declared dead.
    Failed,
}

/// One path at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathProgress {
    /// Its state.
    pub state: PathState,
    /// What it carries now.
    pub rate: Bandwidth,
    /// What it has carried.
    pub carried: ByteCount,
}

/// Shows the progress of a transfer.
pub struct Progress {
    names: Vec<String>,
    view: View,
}

enum View {
    /// A terminal, and how many lines of it are ours.
    Live {
        terminal: Term,
        drawn: usize,
    },
    Plain {
        out: Box<dyn Write + Send>,
        last: Option<Timestamp>,
    },
}

impl Progress {
    /// Progress of the paths `names` on standard error.
    pub fn stderr(names: Vec<String>) -> Self {
        let terminal = Term::buffered_stderr();
        if terminal.is_term() {
            Self { names, view: View::Live { terminal, drawn: 0 } }
        } else {
            Self::plain(names, io::stderr())
        }
    }

    /// Plain lines on `out`.
    fn plain(names: Vec<String>, out: impl Write + Send + 'static) -> Self {
        Self { names, view: View::Plain { out: Box::new(out), last: None } }
    }

    /// The paths are these from now on.
    pub fn set_names(&mut self, names: Vec<String>) {
        self.names = names;
    }

    /// Shows `paths`, in the order of the names, as they are at `now`.
    ///
    /// # Errors
    /// When the lines cannot be written.
    pub fn update(&mut self, now: Timestamp, paths: &[PathProgress]) -> io::Result<()> {
        match &mut self.view {
            View::Live { terminal, drawn } => draw(terminal, drawn, &self.names, paths),
            View::Plain { last: Some(last), .. } if now.since(*last) < PLAIN_INTERVAL => Ok(()),
            View::Plain { out, last } => {
                *last = Some(now);
                write_lines(out, &self.names, paths)
            }
        }
    }

    /// Shows `paths` for the last time; the lines stay.
    ///
    /// # Errors
    /// When the lines cannot be written.
    pub fn finish(mut self, paths: &[PathProgress]) -> io::Result<()> {
        match &mut self.view {
            View::Live { terminal, drawn } => draw(terminal, drawn, &self.names, paths),
            View::Plain { out, .. } => write_lines(out, &self.names, paths),
        }
    }
}

/// Writes a line for each path in place of those of before. None is longer than the terminal is
/// wide: it would take two lines of it.
fn draw(
    terminal: &Term,
    drawn: &mut usize,
    names: &[String],
    paths: &[PathProgress],
) -> io::Result<()> {
    terminal.clear_last_lines(*drawn)?;
    let width = terminal.size().1.into();
    for (name, path) in names.iter().zip(paths) {
        terminal.write_line(&truncate_str(&describe(names, name, path), width, ""))?;
    }
    *drawn = names.len().min(paths.len());
    terminal.flush()
}

fn write_lines(out: &mut dyn Write, names: &[String], paths: &[PathProgress]) -> io::Result<()> {
    for (name, path) in names.iter().zip(paths) {
        writeln!(out, "{}", describe(names, name, path))?;
    }
    out.flush()
}

fn describe(names: &[String], name: &str, path: &PathProgress) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let state = match path.state {
        PathState::Joining => "joining",
        PathState::Up => "up",
        PathState::Failed => "failed",
    };
    let rate = path.rate.mbit_per_sec();
    let carried = path.carried.get() as f64 / 1e6;
    format!("{name:width$}  {state:7}  {rate:8.1} Mbit/s  {carried:10.1} MB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Log {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn names() -> Vec<String> {
        vec!["wifi".to_owned(), "lte-2".to_owned()]
    }

    fn at(mbit_s: f64) -> [PathProgress; 2] {
        let path = |state, mbit_s| PathProgress {
            state,
            rate: Bandwidth::from_mbit_per_sec(mbit_s),
            carried: ByteCount::new(12_345_678),
        };
        [path(PathState::Up, mbit_s), path(PathState::Failed, 0.0)]
    }

    #[test]
    fn plain_lines_come_once_a_second_and_at_the_end() {
        let log = Log::default();
        let mut progress = Progress::plain(names(), log.clone());
        for millis in [0, 400, 999, 1_000, 1_500] {
            progress.update(Timestamp::from_millis(millis), &at(millis as f64)).unwrap();
        }
        progress.finish(&at(93.25)).unwrap();
        assert_eq!(
            log.text(),
            "wifi   up            0.0 Mbit/s        12.3 MB\n\
             lte-2  failed        0.0 Mbit/s        12.3 MB\n\
             wifi   up         1000.0 Mbit/s        12.3 MB\n\
             lte-2  failed        0.0 Mbit/s        12.3 MB\n\
             wifi   up           93.2 Mbit/s        12.3 MB\n\
             lte-2  failed        0.0 Mbit/s        12.3 MB\n"
        );
    }

    /// As uplinks come while a file is being sent.
    #[test]
    fn a_path_that_comes_later_has_a_line_too() {
        let log = Log::default();
        let mut progress = Progress::plain(names()[..1].to_vec(), log.clone());
        progress.update(Timestamp::ZERO, &at(1.0)[..1]).unwrap();
        progress.set_names(names());
        progress.finish(&at(2.0)).unwrap();
        assert_eq!(
            log.text(),
            "wifi  up            1.0 Mbit/s        12.3 MB\n\
             wifi   up            2.0 Mbit/s        12.3 MB\n\
             lte-2  failed        0.0 Mbit/s        12.3 MB\n"
        );
    }

    /// The terminal is told to go up by two lines and to clear them before they are drawn again.
    #[test]
    fn live_lines_stay_in_place() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let terminal = Term::read_write_pair(file.reopen().unwrap(), file.reopen().unwrap());
        let mut drawn = 0;
        for mbit_s in [1.0, 93.25] {
            draw(&terminal, &mut drawn, &names(), &at(mbit_s)).unwrap();
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        let lines = |mbit_s: &str| {
            format!(
                "wifi   up       {mbit_s:>8} Mbit/s        12.3 MB\n\
                 lte-2  failed        0.0 Mbit/s        12.3 MB\n"
            )
        };
        let (first, rest) = text.split_at(lines("1.0").len());
        assert_eq!(first, lines("1.0"));
        assert!(rest.starts_with("\u{1b}[2A") && rest.ends_with(&lines("93.2")), "{rest:?}");
    }
}

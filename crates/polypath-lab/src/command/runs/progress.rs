//! How far many runs are: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use polypath::output;

/// Lines elsewhere than on a terminal come no closer than this.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Progress of many runs, told from several threads.
pub(super) struct Progress {
    bar: ProgressBar,
    runs: usize,
    /// When the last line was written; `None` on a terminal.
    line: Option<Mutex<Instant>>,
}

impl Progress {
    /// Of `runs` runs on standard error, of which `known` need not be done.
    pub(super) fn stderr(runs: usize, known: usize) -> Self {
        let live = io::stderr().is_terminal();
        let target = if live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let template = "{bar:40} {pos} of {len} runs  {elapsed} (left {eta})";
        let style = ProgressStyle::with_template(template).expect("the template is well formed");
        let bar = ProgressBar::with_draw_target(Some(runs as u64), target).with_style(style);
        bar.set_position(known as u64);
        bar.reset_eta();
        Self { bar, runs, line: (!live).then(|| Mutex::new(now())) }
    }

    /// A run is over.
    pub(super) fn done(&self) {
        self.bar.inc(1);
        let Some(line) = &self.line else { return };
        let mut last = line.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if last.elapsed() >= LINE_INTERVAL {
            *last = now();
            output::tell(&format!("{} of {} runs\n", self.bar.position(), self.runs));
        }
    }

    /// All is over: the bar goes.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[expect(clippy::disallowed_methods, reason = "progress is shown in real time")]
fn now() -> Instant {
    Instant::now()
}

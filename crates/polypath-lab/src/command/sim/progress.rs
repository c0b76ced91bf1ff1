//! How far the runs are: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use polypath_units::Timestamp;

use polypath::output;

/// Lines elsewhere than on a terminal come no closer than this.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// The bar counts milliseconds of simulated time.
const PER_SECOND: f64 = 1e3;

/// Progress of a number of runs, told from several threads.
pub(super) struct Progress {
    bar: ProgressBar,
    state: Mutex<State>,
}

struct State {
    /// Simulated seconds of each run, and how many runs are over.
    seconds: Vec<f64>,
    done: usize,
    /// How long each run may take; unknown for those that end by themselves.
    duration: Option<Duration>,
    /// When the last line was written; `None` on a terminal.
    line: Option<Instant>,
}

impl Progress {
    /// Of `runs` runs on standard error.
    pub(super) fn stderr(runs: usize, duration: Option<Duration>) -> Self {
        let live = io::stderr().is_terminal();
        let target = if live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let length = duration.map(|each| (each.as_secs_f64() * PER_SECOND) as u64 * runs as u64);
        let template = match length {
            Some(_) => "{bar:40} {percent:>3} %  {msg}  {elapsed} (left {eta})",
            None => "{spinner} {msg}  {elapsed}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is well formed");
        let bar = ProgressBar::with_draw_target(length, target).with_style(style);
        let line = (!live).then(started);
        let state = State { seconds: vec![0.0; runs], done: 0, duration, line };
        Self { bar, state: Mutex::new(state) }
    }

    /// A run has come to `now`.
    pub(super) fn update(&self, run: usize, now: Timestamp) {
        self.show(|state| state.seconds[run] = now.as_secs_f64());
    }

    /// A run is over.
    pub(super) fn done(&self, run: usize, seconds: f64) {
        self.show(|state| {
            // One that ended early has nothing left.
            state.seconds[run] = state.duration.map_or(seconds, |whole| whole.as_secs_f64());
            state.done += 1;
        });
    }

    fn show(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        change(&mut state);
        let simulated: f64 = state.seconds.iter().sum();
        let text =
            format!("{} of {} runs, {simulated:.1} s simulated", state.done, state.seconds.len());
        match &mut state.line {
            None => {
                self.bar.set_position((simulated * PER_SECOND) as u64);
                self.bar.set_message(text);
            }
            Some(last) if last.elapsed() >= LINE_INTERVAL => {
                *last = started();
                output::tell(&format!("{text}\n"));
            }
            Some(_) => {}
        }
    }

    /// All is over: the bar goes.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[expect(clippy::disallowed_methods, reason = "progress is shown in real time")]
fn started() -> Instant {
    Instant::now()
}

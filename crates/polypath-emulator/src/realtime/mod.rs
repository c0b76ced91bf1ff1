//! What threads that move packets on time have in common: the clock, waiting, and how late they
//! were.

mod lateness;
mod mover;

pub use lateness::{Lateness, LatenessSummary, OVERRUN};
pub use mover::{Mover, Shared};

use polypath_units::Timestamp;
use rustix::event::{PollFd, Timespec, poll};
use std::io;
use std::time::{Duration, Instant};

/// Monotonic time since the start of the clock. Copies tell the same time.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that starts at zero.
    #[expect(clippy::disallowed_methods, reason = "links between sockets live in real time")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time.
    pub fn now(self) -> Timestamp {
        Timestamp::ZERO + self.0.elapsed()
    }

    /// Waits for one of `fds`, at the longest until `until`. A signal can end it early.
    ///
    /// # Errors
    /// What poll(2) fails with, a signal excepted.
    pub fn wait(self, fds: &mut [PollFd<'_>], until: Option<Timestamp>) -> io::Result<()> {
        let timeout = until.map(|until| timespec(until.since(self.now())));
        match poll(fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

/// Sleeps, for links that wake up at most so often.
#[expect(clippy::disallowed_methods, reason = "nothing may end it early: it limits the wake-ups")]
pub fn rest(duration: Duration) {
    std::thread::sleep(duration);
}

/// Linux may fire the timers of a thread 50 microseconds late by default; not those of the calling
/// thread from now on.
pub(crate) fn sharpen_timers() {
    #[cfg(target_os = "linux")]
    {
        // A refusal costs accuracy only, which shows in the lateness.
        let _ = rustix::thread::set_current_timer_slack(core::num::NonZeroU64::new(1));
    }
}

//! Signals that a supervisor gets for its program.

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Those that are passed on.
const PASSED_ON: [Signal; 6] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// Blocks signals of this thread, and of threads that it starts, until it is dropped.
#[derive(Debug)]
pub(super) struct Signals {
    arrived: SignalFd,
    before: SigSet,
}

/// A signal that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) signal: Signal,
    /// Otherwise the kernel has sent it: a terminal does so, to all processes in its foreground.
    pub(super) sent_by_process: bool,
}

/// Whether a signal asks a process to end.
pub(super) const fn ends(signal: Signal) -> bool {
    matches!(signal, Signal::SIGHUP | Signal::SIGINT | Signal::SIGQUIT | Signal::SIGTERM)
}

impl Signals {
    pub(super) fn block() -> io::Result<Self> {
        let blocked: SigSet = PASSED_ON.into_iter().collect();
        let before = SigSet::thread_get_mask()?;
        blocked.thread_block()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self { arrived: SignalFd::with_flags(&blocked, flags)?, before })
    }

    /// What this thread had blocked before.
    pub(super) const fn before(&self) -> SigSet {
        self.before
    }

    /// The next one, if one has arrived.
    pub(super) fn next(&self) -> io::Result<Option<Arrived>> {
        let Some(info) = self.arrived.read_signal()? else { return Ok(None) };
        let signal = Signal::try_from(info.ssi_signo.cast_signed())?;
        // `SI_USER` and the other codes of kill(2), sigqueue(3) and tgkill(2) are not positive.
        Ok(Some(Arrived { signal, sent_by_process: info.ssi_code <= 0 }))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // It was the mask of a thread: there is no reason to refuse it.
        let _ = self.before.thread_set_mask();
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.arrived.as_fd()
    }
}

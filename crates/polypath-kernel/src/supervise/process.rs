//! The program itself, the first of its processes.

use nix::sys::signal::{SigSet, Signal};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

/// A process, readable once it has ended.
#[derive(Debug)]
pub(super) struct Main {
    child: Child,
    handle: OwnedFd,
}

impl Main {
    /// Starts it with these signals blocked: in this process they are so until it has ended, as a
    /// thread that had them open would end the process by one.
    #[expect(unsafe_code, reason = "nothing safe sets the signal mask of a program that starts")]
    pub(super) fn start(mut command: Command, blocked: SigSet) -> io::Result<Self> {
        // SAFETY: pthread_sigmask(3) may be called between fork and exec.
        unsafe { command.pre_exec(move || Ok(blocked.thread_set_mask()?)) };
        let child = command.spawn()?;
        let pid = rustix::process::Pid::from_child(&child);
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { child, handle })
    }

    /// Sends it a signal, unless it has ended.
    pub(super) fn send(&self, signal: Signal) -> io::Result<()> {
        let signal = rustix::process::Signal::from_named_raw(signal as i32);
        let Some(signal) = signal else { return Ok(()) };
        match pidfd_send_signal(&self.handle, signal) {
            Err(Errno::SRCH) => Ok(()),
            sent => Ok(sent?),
        }
    }

    /// How it has ended, waited for.
    pub(super) fn status(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

impl AsFd for Main {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

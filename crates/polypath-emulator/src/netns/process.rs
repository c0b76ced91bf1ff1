//! Processes that are known for certain, and their end.

use super::error::CleanError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;

/// For a process that is asked to end, before it is made to.
const GRACE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// For a process that the kernel ends.
const KILLED: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// A process: its number, and when it started, because numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The number.
    pub pid: u32,
    /// When it started, in clock ticks since the system did (`/proc/PID/stat`, field 22).
    pub start_time_ticks: u64,
}

impl Process {
    /// This process.
    pub(super) fn current() -> io::Result<Self> {
        let pid = std::process::id();
        Self::of(pid)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// The process of this number, if there is one that has not ended.
    pub(super) fn of(pid: u32) -> io::Result<Option<Self>> {
        match fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => parse(&stat)
                .map(|alive| alive.map(|start_time_ticks| Self { pid, start_time_ticks }))
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, stat)),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether it runs.
    pub(super) fn runs(self) -> io::Result<bool> {
        Ok(Self::of(self.pid)? == Some(self))
    }
}

/// The file is not there, or its process ended while it was read.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// The start time in a line of `/proc/PID/stat`, `Some(None)` if the process has ended (a zombie).
fn parse(stat: &str) -> Option<Option<u64>> {
    // The name of the program, in parentheses, may hold any character.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let start_time = fields.nth(18)?.parse().ok()?;
    Some((!matches!(state, "Z" | "X")).then_some(start_time))
}

/// A process that cannot be taken for another: its number is its own while this is held.
pub(super) struct Held {
    pid: u32,
    fd: OwnedFd,
}

impl Held {
    /// The process of this number, if there is one.
    pub(super) fn open(pid: u32) -> Result<Option<Self>, CleanError> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        match pidfd_open(number, PidfdFlags::empty()) {
            Ok(fd) => Ok(Some(Self { pid, fd })),
            Err(rustix::io::Errno::SRCH) => Ok(None),
            Err(error) => Err(CleanError::Signal { pid, error: error.into() }),
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Asks it to end, then makes it. Whether it has ended.
    pub(super) fn end(&self) -> Result<bool, CleanError> {
        let failed =
            |error: rustix::io::Errno| CleanError::Signal { pid: self.pid, error: error.into() };
        for (signal, patience) in [(Signal::TERM, GRACE), (Signal::KILL, KILLED)] {
            match pidfd_send_signal(&self.fd, signal) {
                Err(rustix::io::Errno::SRCH) => return Ok(true),
                sent => sent.map_err(failed)?,
            }
            if self.has_ended_within(patience).map_err(failed)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_ended_within(&self, patience: Timespec) -> rustix::io::Result<bool> {
        loop {
            match poll(&mut [PollFd::new(&self.fd, PollFlags::IN)], Some(&patience)) {
                Err(rustix::io::Errno::INTR) => {}
                ready => return Ok(ready? > 0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_start_time_is_found_behind_any_name() {
        let line = "7 (a) b) (c) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 1234 9 9";
        assert_eq!(parse(line), Some(Some(1234)));
        assert_eq!(parse(&line.replace(") S", ") Z")), Some(None));
        assert_eq!(parse("7 (a"), None);
    }

    #[test]
    fn a_number_alone_is_no_process() {
        let this = Process::current().unwrap();
        assert!(this.runs().unwrap());
        let other = Process { start_time_ticks: this.start_time_ticks + 1, ..this };
        assert!(!other.runs().unwrap());
    }

    #[test]
    fn a_process_that_was_not_waited_for_has_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::of(child.id()).unwrap().unwrap();
        assert!(process.runs().unwrap());
        assert!(Held::open(child.id()).unwrap().unwrap().end().unwrap());
        assert!(!process.runs().unwrap());
        child.wait().unwrap();
        assert!(Held::open(child.id()).unwrap().is_none());
    }
}

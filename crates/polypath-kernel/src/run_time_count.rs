//! Counts what programs take of the processor.

use crate::{Loaded, RunTime};
use libbpf_rs::Program;
use libbpf_rs::libbpf_sys::{BPF_STATS_RUN_TIME, bpf_enable_stats};
use libbpf_rs::query::ProgInfoIter;
use std::io;
use std::iter::Sum;
use std::ops::Sub;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};
use std::time::Duration;

/// The kernel counts the run time of all eBPF programs as long as this lives. Each call takes two
/// readings of a clock longer meanwhile.
#[derive(Debug)]
pub struct RunTimeCount(#[expect(dead_code, reason = "it counts until it is closed")] OwnedFd);

impl RunTimeCount {
    /// Begins to count. Needs root.
    ///
    /// # Errors
    /// What the kernel says.
    #[expect(unsafe_code, reason = "libbpf-rs has no safe form of this call")]
    pub fn start() -> io::Result<Self> {
        // SAFETY: the call takes a number and touches no memory of this process.
        let made = unsafe { bpf_enable_stats(BPF_STATS_RUN_TIME) };
        if made < 0 {
            return Err(io::Error::from_raw_os_error(-made));
        }
        // SAFETY: the kernel has just made this descriptor, and nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(made) }))
    }
}

impl Loaded {
    /// What its programs have taken while [`RunTimeCount`]s were there.
    ///
    /// # Errors
    /// What the kernel says when asked about its programs.
    pub fn run_time(&self) -> io::Result<RunTime> {
        let ids = self.programs().map(|program| Program::id_from_fd(program.as_fd()));
        let ids = ids.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
        let own = ProgInfoIter::default().filter(|program| ids.contains(&program.id));
        let each = own.map(|program| RunTime {
            calls: program.run_cnt,
            time: Duration::from_nanos(program.run_time_ns),
        });
        Ok(each.sum())
    }
}

impl Sum for RunTime {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::default(), |sum, one| Self {
            calls: sum.calls + one.calls,
            time: sum.time + one.time,
        })
    }
}

impl Sub for RunTime {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { calls: self.calls - before.calls, time: self.time - before.time }
    }
}

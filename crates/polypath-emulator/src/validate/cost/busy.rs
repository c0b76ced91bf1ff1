//! How busy the one processor is that does everything.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::time::{Duration, Instant};
use std::{fs, io};

/// The processor that the calling thread, and those that it starts, run on from now on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processor(usize);

/// A moment, and how long the processor has been idle by then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    at: Instant,
    idle: Duration,
}

impl Processor {
    /// The first one that the calling thread may run on.
    pub(super) fn take_first() -> io::Result<Self> {
        let allowed = sched_getaffinity(None)?;
        let number = (0..CpuSet::MAX_CPU).find(|&number| allowed.is_set(number));
        let number = number.ok_or_else(|| io::Error::other("none may be used"))?;
        let mut one = CpuSet::new();
        one.set(number);
        sched_setaffinity(None, &one)?;
        Ok(Self(number))
    }

    /// The kernel tells idle time in hundredths of a second.
    #[expect(clippy::disallowed_methods, reason = "a processor is busy in real time")]
    pub(super) fn read(self) -> io::Result<Reading> {
        let statistics = fs::read_to_string("/proc/stat")?;
        let at = Instant::now();
        let idle = idle(&statistics, self.0)
            .ok_or_else(|| io::Error::other("/proc/stat does not tell how long it was idle"))?;
        Ok(Reading { at, idle })
    }

    /// How long it has not been idle since a reading.
    pub(super) fn busy_since(self, before: Reading) -> io::Result<Duration> {
        let now = self.read()?;
        let idle = now.idle.saturating_sub(before.idle);
        Ok((now.at - before.at).saturating_sub(idle))
    }
}

/// The unit of /proc/stat, of which Linux makes a hundred in a second for programs (proc_stat(5)).
const TICK: Duration = Duration::from_millis(10);

/// What a line `cpuN user nice system idle iowait ...` says of idle time.
fn idle(statistics: &str, processor: usize) -> Option<Duration> {
    let name = format!("cpu{processor}");
    let mut lines = statistics.lines().map(str::split_ascii_whitespace);
    let mut line = lines.find_map(|mut line| (line.next() == Some(&*name)).then_some(line))?;
    let ticks = |text: &str| text.parse::<u32>().ok();
    let (idle, waiting) = (ticks(line.nth(3)?)?, ticks(line.next()?)?);
    Some(TICK * idle + TICK * waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_that_of_the_processor() {
        let text = "cpu 1 2 3 4 5 6\ncpu0 10 20 30 40 50 60\ncpu1 11 21 31 41 9 61\nintr 7\n";
        assert_eq!(idle(text, 1), Some(Duration::from_millis(500)));
        assert_eq!(idle(text, 2), None);
        assert_eq!(idle("cpu0 1 2 3\n", 0), None);
    }

    /// A thread that works is not idle. It may be held up by others, which are work of the
    /// processor, too, so that the reading grows by at least as much as its own processor time.
    #[test]
    fn a_processor_is_busy_while_a_thread_works() {
        let processor = Processor::take_first().unwrap();
        let before = processor.read().unwrap();
        let work = Duration::from_millis(300);
        while thread_time() < work {}
        let busy = processor.busy_since(before).unwrap();
        // Two readings are in ticks.
        assert!(busy + 2 * TICK >= work, "{busy:?}");
    }

    fn thread_time() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
    }
}

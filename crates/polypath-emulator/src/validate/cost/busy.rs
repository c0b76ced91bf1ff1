//! How busy the one processor is that does everything.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::time::{Duration, Instant};
use std::{fs, io};

/// The processor that the calling thread, and those that it starts, run on from now on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busy {
    processor: usize,
    start: Instant,
}

impl Busy {
    /// The first one that the calling thread may run on.
    #[expect(clippy::disallowed_methods, reason = "a processor is busy in real time")]
    pub(super) fn of_one_processor() -> io::Result<Self> {
        let allowed = sched_getaffinity(None)?;
        let processor = (0..CpuSet::MAX_CPU).find(|&number| allowed.is_set(number));
        let processor = processor.ok_or_else(|| io::Error::other("none may be used"))?;
        let mut one = CpuSet::new();
        one.set(processor);
        sched_setaffinity(None, &one)?;
        Ok(Self { processor, start: Instant::now() })
    }

    /// How long it has not been idle, since some moment that stays the same. The kernel tells idle
    /// time in hundredths of a second.
    pub(super) fn read(&self) -> io::Result<Duration> {
        let statistics = fs::read_to_string("/proc/stat")?;
        let elapsed = self.start.elapsed();
        let idle = idle(&statistics, self.processor)
            .ok_or_else(|| io::Error::other("/proc/stat does not tell how long it was idle"))?;
        // What it was idle before the start is in there, too, and the same in all readings.
        Ok((elapsed + OFFSET).saturating_sub(idle))
    }
}

/// More than any processor has been idle: so that differences are never cut off.
const OFFSET: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
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
        let busy = Busy::of_one_processor().unwrap();
        let before = busy.read().unwrap();
        let work = Duration::from_millis(300);
        while thread_time() < work {}
        let grown = busy.read().unwrap() - before;
        // Two readings are in ticks.
        assert!(grown + 2 * TICK >= work, "{grown:?}");
    }

    fn thread_time() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
    }
}

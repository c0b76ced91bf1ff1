//! How busy all programs together kept the processors.

use std::fs;

/// Times since the machine started, in the unit of /proc/stat (proc_stat(5)).
#[derive(Clone, Copy)]
pub(super) struct Processors {
    total: u64,
    idle: u64,
}

impl Processors {
    pub(super) fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap();
        let times = stat.lines().next().unwrap().split_whitespace().skip(1);
        let times: Vec<u64> = times.map(|time| time.parse().unwrap()).collect();
        Self { total: times.iter().sum(), idle: times[3] }
    }

    /// The share of the time since then in which they had nothing to do.
    pub(super) fn idle_since(self) -> f64 {
        let now = Self::now();
        (now.idle - self.idle) as f64 / (now.total - self.total) as f64
    }
}

//! What is seen of a run, be it in the simulator or by the kernel.

use polypath_emulator::validate::KernelRun;
use polypath_sim::record::series::Recording;
use polypath_sim::run::{LinkReport, Outcome};
use std::time::Duration;

/// A run of which something is observed.
pub(crate) trait Seen {
    /// The goodput of the first connection in Mbit/s.
    fn goodput_mbit_s(&self) -> Option<f64>;
    /// The time series.
    fn recording(&self) -> &Recording;
    /// How long the first flow of the first connection took; `None` if it has no end, or did not
    /// come to it.
    fn completion(&self) -> Option<Duration>;
    /// Packets that the links dropped.
    fn dropped_packets(&self) -> u64;
}

impl Seen for Outcome {
    fn goodput_mbit_s(&self) -> Option<f64> {
        self.report.connections.first().map(|connection| connection.goodput_mbit_s)
    }

    fn recording(&self) -> &Recording {
        &self.recording
    }

    fn completion(&self) -> Option<Duration> {
        let flow = self.report.connections.first()?.flows.first()?;
        Some(Duration::from_secs_f64((flow.finished_s? - flow.start_s).max(0.0)))
    }

    fn dropped_packets(&self) -> u64 {
        let of_link = |link: &LinkReport| {
            let dropped = link.dropped_packets;
            dropped.queue_full + dropped.aqm + dropped.loss + dropped.blackout + dropped.mtu
        };
        self.report.queues.iter().map(of_link).sum()
    }
}

impl Seen for KernelRun {
    fn goodput_mbit_s(&self) -> Option<f64> {
        self.goodputs_mbit_s.first().copied()
    }

    fn recording(&self) -> &Recording {
        &self.recording
    }

    fn completion(&self) -> Option<Duration> {
        self.completions.first().copied()?
    }

    fn dropped_packets(&self) -> u64 {
        self.dropped_packets
    }
}

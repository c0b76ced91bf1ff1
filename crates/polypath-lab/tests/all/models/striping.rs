//! The striping tunnel of the simulator, and what the models say of it.

use polypath_model::{
    StripedLink, StripedTransfer, StripingOptions, TunnelControl, TunnelLink, TunnelTransfer,
    striped_throughput, tunnel_throughput,
};
use polypath_sim::run::{Keep, Plan};
use polypath_sim::scenario::Scenario;
use polypath_units::Bandwidth;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// A transfer through a tunnel over these links.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Rate in Mbit/s, RTT in ms, loss.
    pub(crate) links: Vec<(f64, f64, f64)>,
    pub(crate) transfer: TunnelTransfer,
}

/// Packets that may wait for a link.
const QUEUE: u32 = 100;
/// Neither model knows of a transfer that does not end.
const LONGEST: &str = "1000 s";

impl Case {
    /// What the simulator makes of it, in bytes/s.
    pub(crate) fn simulated(&self) -> f64 {
        let scenario =
            Scenario::parse(&self.scenario(), Path::new("case.toml"), &mut |_| unreachable!());
        let plan = Plan::new(scenario.expect("the scenario is sound")).expect("it can be run");
        let report = plan.run(1, Keep::default(), &mut |_| {}).expect("it runs").report;
        let finished = report.connections[0].flows[0].finished_s.expect("the transfer ends");
        self.transfer.bytes as f64 / finished
    }

    fn scenario(&self) -> String {
        let mut text = format!("duration = \"{LONGEST}\"\n");
        for (index, (rate, rtt, loss)) in self.links.iter().enumerate() {
            let _ = write!(
                text,
                "[[path]]\nname = \"l{index}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{} ms\"\n\
                 loss = {loss}\nqueue = \"{QUEUE} packets\"\n",
                rtt / 2.0
            );
        }
        let TunnelTransfer { bytes, segment_bytes, receive_buffer, .. } = self.transfer;
        let control = match self.transfer.control {
            TunnelControl::NewReno => "reno",
            TunnelControl::Cubic => "cubic",
        };
        let initial = self.transfer.initial_window_segments;
        text + &format!(
            "[connection]\ntransport = \"tunnel\"\nscheduler = \"round_robin\"\n\
             congestion = \"{control}\"\nslow_start = \"standard\"\n\
             receive_buffer = \"{receive_buffer} B\"\n\
             [connection.tcp]\nmss = \"{segment_bytes} B\"\nsack = false\ntimestamps = false\n\
             initial_window = {initial}\n\
             [[flow]]\nkind = \"bulk\"\nbytes = \"{bytes} B\"\n"
        )
    }

    /// What the model of tunnels says, in bytes/s.
    pub(crate) fn predicted(&self) -> f64 {
        let link = |&(rate, rtt, loss): &(f64, f64, f64)| TunnelLink {
            rate: Bandwidth::from_mbit_per_sec(rate),
            rtt: Duration::from_secs_f64(rtt / 1e3),
            loss,
            queue_packets: QUEUE,
        };
        let links: Vec<_> = self.links.iter().map(link).collect();
        tunnel_throughput(&links, &self.transfer).expect("the case is sound").bytes_per_sec
    }

    /// What S1's model says, in bytes/s.
    pub(crate) fn by_s1(&self) -> f64 {
        let link = |&(rate, rtt, _): &(f64, f64, f64)| StripedLink {
            rate: Bandwidth::from_mbit_per_sec(rate),
            delay: Duration::from_secs_f64(rtt / 1e3),
        };
        let links: Vec<_> = self.links.iter().map(link).collect();
        let transfer = StripedTransfer { bytes: self.transfer.bytes, ..StripedTransfer::default() };
        let options = StripingOptions::default();
        striped_throughput(&links, &transfer, &options).expect("the case is sound").bytes_per_sec
    }
}

/// S1 equation 24: 1 is exact; below 0 the prediction is more than twice what was measured.
pub(crate) fn accuracy(predicted: f64, measured: f64) -> f64 {
    1.0 - (measured - predicted).abs() / measured
}

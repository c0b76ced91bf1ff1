//! S1: one transfer over links that differ, by the simulator and by models.

pub(super) mod links;
pub(super) mod live;
pub(super) mod simulated;

use crate::experiment::{Evaluate, LiveTransfer, Observation, TrialFailure};
use links::{Link, LinkKeys};
use polypath_model::{
    MultipathOptions, Reading, Rounding, SchedulerFamily, SingleLink, StripedTransfer,
    StripingOptions, TunnelLink, TunnelTransfer, multipath_rate, striped_throughput,
    tunnel_throughput,
};
use polypath_sim::scenario::declare::{choices, keys};
use polypath_units::ByteCount;
use std::time::Duration;

choices! {
    /// What tells the throughput.
    pub(super) enum By {
        /// The simulator: a TCP in the tunnel, which deals its packets to the links in turn.
        Simulation = "simulation",
        /// The simulator: a bond as it ships.
        Bond = "bond",
        /// S1's model.
        S1 = "s1",
        /// Our model of the tunnel, segment by segment.
        Tunnel = "tunnel",
        /// Our model of the tunnel on the best single link.
        BestLink = "best_link",
        /// Our model of the bond, of a long transfer.
        BondModel = "bond_model",
    }
}

choices! {
    /// What becomes of a fraction of a segment, in S1's model.
    pub(super) enum Fraction {
        /// It waits.
        Floor = "floor",
        /// The nearest whole number is sent.
        Nearest = "nearest",
        /// It waits, and so does a whole segment whose number binary arithmetic has a little below.
        BinaryFloor = "binary_floor",
        /// It is sent.
        Real = "real",
    }
}

choices! {
    /// What S1's model takes for sure of a single link.
    pub(super) enum Alone {
        /// Segments arrive in order.
        InOrder = "in_order",
        /// They arrive in random order, as with several links.
        Permutation = "permutation",
    }
}

choices! {
    /// Equations 3, 9 and 11.
    pub(super) enum Print {
        /// With what is wrong in print corrected.
        Corrected = "corrected",
        /// As printed.
        Printed = "printed",
    }
}

keys! {
    /// The transfer, its TCP, and the readings of S1's model.
    #[derive(Debug)]
    pub(super) struct Parameters {
        /// What tells the throughput.
        by: By = "s1";
        /// What is sent.
        bytes: ByteCount = "1 MB";
        /// Payload of a segment.
        segment: ByteCount = "536 B" where "1 B" to "64 kB";
        /// Initial window in segments.
        initial_window: u32 = 1 where 1 to 1000;
        /// The slow-start threshold of the model, and the receive window of the TCP.
        window: ByteCount = "65535 B" where "1 B" to "1 GB";
        /// Packets that may wait for a link.
        queue: u32 = 100 where 1 to 100000;
        /// By how much the delay of each packet varies in the simulator, plus or minus, one way.
        jitter: Duration = "0 ms";
        /// How long an acknowledgement waits for a second segment.
        delayed_ack: Duration = "40 ms";
        /// What S1's model makes of fractions.
        fraction: Fraction = "floor";
        /// What it makes of a single link.
        alone: Alone = "in_order";
        /// How it is read.
        print: Print = "corrected";
        ..links: LinkKeys;
    }
}

impl Evaluate for Parameters {
    fn evaluate(&self, seed: u32) -> Result<Observation, TrialFailure> {
        let bytes_per_sec = self.bytes_per_sec(&self.links.drawn(seed), seed)?;
        Ok(Observation::default().with("throughput", bytes_per_sec * 8e-6))
    }

    fn live(&self, seed: u32) -> Result<Option<LiveTransfer>, TrialFailure> {
        live::transfer(self, &self.links.drawn(seed)).map(Some)
    }
}

impl Parameters {
    fn bytes_per_sec(&self, links: &[Link], seed: u32) -> Result<f64, TrialFailure> {
        match self.by {
            By::Simulation => simulated::tunnel(self, links, seed),
            By::Bond => simulated::bond(self, links, seed),
            By::S1 => {
                let striped: Vec<_> = links.iter().map(Link::striped).collect();
                let told = striped_throughput(&striped, &self.striped(), &self.reading())?;
                Ok(told.bytes_per_sec)
            }
            By::Tunnel => self.tunnelled(links),
            By::BestLink => links.iter().try_fold(0.0_f64, |best, link| {
                Ok(best.max(self.tunnelled(std::slice::from_ref(link))?))
            }),
            By::BondModel => {
                let paths: Vec<_> = links.iter().map(Link::path).collect();
                let family = SchedulerFamily::Ahead;
                Ok(multipath_rate(&paths, &MultipathOptions::BOND, family)?.bytes_per_sec)
            }
        }
    }

    fn tunnelled(&self, links: &[Link]) -> Result<f64, TrialFailure> {
        let queue_packets = self.queue;
        let link = |link: &Link| TunnelLink { queue_packets, ..link.tunnelled() };
        let links: Vec<_> = links.iter().map(link).collect();
        let transfer = TunnelTransfer {
            bytes: self.bytes.get(),
            segment_bytes: self.segment_bytes(),
            initial_window_segments: self.initial_window,
            receive_buffer: self.window.get(),
            delayed_ack: self.delayed_ack,
            ..TunnelTransfer::default()
        };
        Ok(tunnel_throughput(&links, &transfer)?.bytes_per_sec)
    }

    fn striped(&self) -> StripedTransfer {
        StripedTransfer {
            bytes: self.bytes.get(),
            segment_bytes: self.segment_bytes(),
            initial_window_bytes: self.segment_bytes() * self.initial_window,
            threshold_bytes: self.window.get() as u32,
        }
    }

    fn reading(&self) -> StripingOptions {
        let print = match self.print {
            Print::Corrected => Reading::Corrected,
            Print::Printed => Reading::Printed,
        };
        StripingOptions {
            delay: print,
            acknowledged: print,
            rounding: match self.fraction {
                Fraction::Floor => Rounding::Floor,
                Fraction::BinaryFloor => Rounding::BinaryFloor,
                Fraction::Nearest => Rounding::Nearest,
                Fraction::Real => Rounding::Real,
            },
            single_link: match self.alone {
                Alone::InOrder => SingleLink::InOrder,
                Alone::Permutation => SingleLink::Permutation,
            },
            ..StripingOptions::default()
        }
    }

    /// The keys bound it.
    const fn segment_bytes(&self) -> u32 {
        self.segment.get() as u32
    }
}

/// S1 equation 24: 1 is exact; below 0 the prediction is more than twice what was measured.
pub(in crate::experiment) fn accuracy(predicted: f64, measured: f64) -> f64 {
    1.0 - (measured - predicted).abs() / measured
}

//! R1-3: the accuracy of S1's model on a train (S1, Figure 8).

use super::network::{in_mbit_s, mean_between, of_connection};
use super::striping::links::Link;
use super::striping::live::{paper, profile};
use super::striping::{By, accuracy, simulated};
use crate::experiment::{
    Evaluate, ExperimentPlan, LivePoint, LiveRow, LiveTransfer, Observation, Quantity, TrialFailure,
};
use core::fmt::Write;
use polypath_emulator::validate::gateway::DealtTransfer;
use polypath_link::RunSeed;
use polypath_link::trace::generate::Preset;
use polypath_model::metrics::mean;
use polypath_model::{
    MultipathOptions, SchedulerFamily, StripedTransfer, StripingOptions, TunnelControl,
    TunnelTransfer, multipath_rate, striped_throughput, tunnel_throughput,
};
use polypath_sim::Direction;
use polypath_sim::scenario::declare::keys;
use polypath_units::{Bandwidth, ByteCount};
use std::time::Duration;

keys! {
    /// Networks that a train passes, and what is downloaded over them.
    #[derive(Debug)]
    pub(super) struct Parameters {
        /// What tells the throughput.
        by: By = "s1";
        /// The highest rates of the networks.
        peaks: Vec<Bandwidth>;
        /// Their mean rates over the highest ones.
        mean_share: f64 = 0.5 where 0.01 to 1;
        /// How rates change.
        preset: Preset = "train";
        /// Round trips lie from here ...
        least_rtt: Duration = "40 ms";
        /// ... to there.
        most_rtt: Duration = "120 ms";
        /// What may wait for a network.
        queue: ByteCount = "500 kB";
        /// How long it lasts.
        duration: Duration = "60 s" where "1 s" to "1 h";
        /// How often rates are measured for the model.
        interval: Duration = "5 s" where "1 s" to "1 h";
        /// Payload of a segment.
        segment: ByteCount = "1400 B" where "1 B" to "64 kB";
        /// Whether the TCP acknowledges selectively.
        sack: bool = true;
    }
}

/// A network that was measured to carry nothing carries this little, in Mbit/s: models know no
/// rate of 0.
const LITTLE: f64 = 0.001;
/// So much of a transfer is predicted for each interval: it goes on for ever.
const LONG: u64 = 10_000_000;
/// The largest segment, in bytes of payload, whose packet a payload of the bond carries whole over
/// a link with an MTU of 1500 bytes, so that packets are dealt and not parts of them. The largest
/// UDP payload is 1452 bytes. Of these are QUIC's short header 1, a connection ID of 8, a packet
/// number of up to 4 and its tag 16, and the type of its DATAGRAM frame 1; of the bond's DATAGRAM
/// frame type 1, flow ID up to 2 and number up to 8 (docs/protocol.md 3.1). The packet's own
/// headers are IPv4 20 and TCP 20 with timestamps 12: 1359 are left.
const LARGEST_WHOLE: u32 = 1_350;
/// The receive buffer of the phone.
const RECEIVE_BUFFER: u64 = 6 << 20;

/// A network: the seed of its rates, the mean of them, and its round trip.
struct Network {
    seed: u64,
    mean: Bandwidth,
    rtt: Duration,
}

impl Evaluate for Parameters {
    fn evaluate(&self, seed: u32) -> Result<Observation, TrialFailure> {
        let networks = self.networks(seed);
        let over_time = match self.by {
            By::Simulation => self.simulated(&networks, TUNNEL, seed)?,
            By::Bond => self.simulated(&networks, "transport = \"bond\"\n", seed)?,
            by => self.predicted(&networks, by)?,
        };
        let rates: Vec<f64> = over_time.iter().map(|(_, rate)| *rate).collect();
        let observation = Observation::default().with("throughput", mean(&rates));
        Ok(observation.with_curve("throughput", over_time))
    }

    fn live(&self, seed: u32) -> Result<Option<LiveTransfer>, TrialFailure> {
        let profile = profile(&self.scenario(&self.networks(seed), TUNNEL))?;
        let transfer = DealtTransfer {
            direction: Direction::Down,
            bytes: None,
            limit: self.duration,
            congestion: "cubic",
            segment_bytes: LARGEST_WHOLE.min(self.segment.get() as u32),
            initial_window: None,
            window_bytes: RECEIVE_BUFFER,
            sack: self.sack,
            timestamps: true,
        };
        Ok(Some(LiveTransfer { profile, transfer, interval: Some(self.interval) }))
    }
}

/// A row of the mean throughput, with the paper's accuracy.
pub(super) fn live_rows(plan: &ExperimentPlan, points: &[LivePoint<'_>]) -> Vec<LiveRow> {
    let all: Vec<_> = points.iter().collect();
    vec![LiveRow::of_throughput("6 networks", &paper(plan, "accuracy"), &all)]
}

/// That of Linux 3.13, whose loss detection counts duplicates.
const TUNNEL: &str = "transport = \"tunnel\"\nscheduler = \"round_robin\"\n\
                      congestion = \"cubic\"\nslow_start = \"hystart\"\n";

impl Parameters {
    fn networks(&self, seed: u32) -> Vec<Network> {
        let seed = RunSeed::new(seed.into(), 0);
        let network = |(index, peak): (u64, &Bandwidth)| {
            let part = (seed.stream(2 * index) >> 11) as f64 / (1_u64 << 53) as f64;
            let spread = self.most_rtt.saturating_sub(self.least_rtt);
            Network {
                // Seeds of scenarios have 32 bits.
                seed: seed.stream(2 * index + 1) >> 32,
                mean: Bandwidth::from_mbit_per_sec(peak.mbit_per_sec() * self.mean_share),
                rtt: self.least_rtt + spread.mul_f64(part),
            }
        };
        (0..).zip(&self.peaks).map(network).collect()
    }

    /// Mbit/s in each interval.
    fn simulated(
        &self,
        networks: &[Network],
        connection: &str,
        seed: u32,
    ) -> Result<Vec<(f64, f64)>, TrialFailure> {
        let outcome = simulated::run(&self.scenario(networks, connection), seed)?;
        let goodput = of_connection(&outcome.recording, "goodput").unwrap_or_default();
        let goodput = in_mbit_s(goodput);
        let interval = self.interval.as_secs_f64();
        let rate = |end: f64| Some((end, mean_between(&goodput, end - interval, end)?));
        Ok(self.ends().filter_map(rate).collect())
    }

    fn scenario(&self, networks: &[Network], connection: &str) -> String {
        let mut text = format!("duration = \"{} ns\"\n", self.duration.as_nanos());
        for (index, Network { seed, mean, rtt }) in networks.iter().enumerate() {
            let _ = write!(
                text,
                "[[path]]\nname = \"n{index}\"\ndelay = \"{} ns\"\nqueue = \"{} B\"\n\
                 generate = {{ preset = \"{}\", mean = \"{} bit/s\", seed = {seed} }}\n",
                rtt.as_nanos() / 2,
                self.queue.get(),
                self.preset.name(),
                mean.bits_per_sec(),
            );
        }
        let tcp = match connection == TUNNEL {
            true => format!(
                "[connection.tcp]\nmss = \"{} B\"\nsack = {}\nrack = false\ntlp = false\n",
                self.segment.get(),
                self.sack
            ),
            false => String::new(),
        };
        text + &format!(
            "[connection]\n{connection}receive_buffer = \"{RECEIVE_BUFFER} B\"\n{tcp}\
             [[flow]]\nkind = \"bulk\"\ndirection = \"down\"\n\
             [record]\nseries = [\"goodput\"]\ninterval = \"500 ms\"\n"
        )
    }

    /// The same by a model that is given the rates of each interval.
    fn predicted(&self, networks: &[Network], by: By) -> Result<Vec<(f64, f64)>, TrialFailure> {
        let rates: Vec<Vec<f64>> = networks.iter().map(|network| self.rates(network)).collect();
        let at = |(interval, end): (usize, f64)| {
            let link = |(network, rates): (&Network, &Vec<f64>)| Link {
                rate: Bandwidth::from_mbit_per_sec(
                    rates.get(interval).copied().unwrap_or_default().max(LITTLE),
                ),
                rtt: network.rtt,
            };
            let links: Vec<_> = networks.iter().zip(&rates).map(link).collect();
            Ok((end, self.by_model(by, &links)? * 8e-6))
        };
        self.ends().enumerate().map(at).collect()
    }

    /// What was measured of a network: the mean rate of each interval in Mbit/s.
    fn rates(&self, network: &Network) -> Vec<f64> {
        let series = self.preset.model().generate(network.mean, self.duration, network.seed);
        let bins = series.map(|series| series.bins(self.interval)).unwrap_or_default();
        bins.iter().map(|rate| rate.mbit_per_sec()).collect()
    }

    fn by_model(&self, by: By, links: &[Link]) -> Result<f64, TrialFailure> {
        let segment = self.segment.get() as u32;
        if by == By::S1 {
            let links: Vec<_> = links.iter().map(Link::striped).collect();
            let transfer = StripedTransfer {
                bytes: LONG,
                segment_bytes: segment,
                initial_window_bytes: segment,
                ..StripedTransfer::default()
            };
            let options = StripingOptions::default();
            return Ok(striped_throughput(&links, &transfer, &options)?.bytes_per_sec);
        }
        if by == By::BondModel {
            let paths: Vec<_> = links.iter().map(Link::path).collect();
            let options =
                MultipathOptions { receive_buffer: RECEIVE_BUFFER, ..MultipathOptions::BOND };
            let family = SchedulerFamily::Ahead;
            return Ok(multipath_rate(&paths, &options, family)?.bytes_per_sec);
        }
        let transfer = TunnelTransfer {
            bytes: LONG,
            segment_bytes: segment,
            initial_window_segments: 10,
            receive_buffer: RECEIVE_BUFFER,
            control: TunnelControl::Cubic,
            ..TunnelTransfer::default()
        };
        let links: Vec<_> = links.iter().map(Link::tunnelled).collect();
        Ok(tunnel_throughput(&links, &transfer)?.bytes_per_sec)
    }

    /// When each interval ends, in seconds.
    fn ends(&self) -> impl Iterator<Item = f64> + use<> {
        let (interval, duration) = (self.interval.as_secs_f64(), self.duration.as_secs_f64());
        (1..).map(move |n| f64::from(n) * interval).take_while(move |end| *end <= duration + 1e-9)
    }
}

pub(super) const QUANTITIES: &[Quantity] = &[Quantity {
    name: "accuracy",
    unit: "",
    meaning: "accuracy of the model's mean throughput",
    of: |runs| {
        let [model, measured] = ["s1", "simulation"].map(|by| runs.only(by, "throughput"));
        Some(accuracy(model?, measured?))
    },
}];

//! What `polypath validate gateway` is asked for.

use std::num::NonZeroU8;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::gateway::{
    Carrier, GatewayProfile, GatewaySettings, Interrupt, LEAST_PACKET_BYTES, Traffic,
};
use polypath_units::{Bandwidth, parse_duration};

use super::profiles::{self, Links};
use crate::command::program;
use crate::compare::drawn::DRAW_SEED;

/// The most payload of a UDP datagram over IPv4: 65,535 bytes less both headers.
const LARGEST_UDP: u64 = 65_507;
/// The profile, if none is named: unequal paths, the slower of which is worth a quarter.
const DEFAULT_LINKS: &str = "300Mbit/s,10ms+80Mbit/s,30ms";

/// Measure what traffic of a LAN makes of the gateway
///
/// Starts `polypath hub` and `polypath edge` with a gateway in network namespaces, over emulated
/// links, with a host in a LAN behind the edge and a server behind the hub, sends traffic between
/// these two, and removes all of it. Takes the program nft, and root.
#[derive(Clone, Debug, PartialEq, Args)]
pub(in super::super) struct GatewayOptions {
    /// What traffic, one after the other [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = traffic())]
    traffic: Vec<Traffic>,
    /// The paths of a profile, joined by `+`: RATE,DELAY[,LOSS] each, with a queue of one
    /// bandwidth-delay product; any number of times
    #[arg(long, value_name = "LINKS")]
    links: Vec<Links>,
    /// A profile with the paths of this scenario; any number of times
    #[arg(long, value_name = "FILE")]
    scenario: Vec<PathBuf>,
    /// The profiles of the suite: 24 that a seed draws, eight each of the families grid, foul and
    /// steady of `polypath compare --drawn`, as far as two processors carry them
    #[arg(long)]
    suite: bool,
    /// A profile with so many veth pairs as Linux has them, without emulated links, for line rate;
    /// for `tcp` alone
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=8),
        conflicts_with_all = ["links", "scenario", "suite"])]
    unshaped: Option<u8>,
    /// What carries TCP connections: the bond, or the kernel's Multipath TCP with a subflow from
    /// each path, without encryption or with TLS
    #[arg(long, value_name = "NAME", default_value = "bond", value_parser = carrier())]
    transport: Carrier,
    /// The seed of the suite's draw
    #[arg(long, value_name = "S", requires = "suite", default_value_t = DRAW_SEED)]
    draw_seed: u64,
    /// How many runs of each traffic over each profile
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = value_parser!(u64).range(1..=99))]
    pub(super) runs: u64,
    /// The seed of the links in the first run; the next run has the next one
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(super) seed: u64,
    /// What passes before a measurement begins
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration)]
    warm_up: Duration,
    /// How long a measurement lasts
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = measured_time)]
    duration: Duration,
    /// How many connections `tcp` has at once, beside one alone
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = value_parser!(u16).range(2..=256))]
    flows: u16,
    /// The payload of `udp`
    #[arg(long, value_name = "RATE", default_value = "330Mbit/s", value_parser = rate)]
    rate: Bandwidth,
    /// The size of the datagrams of `udp`, in bytes of payload
    #[arg(long, value_name = "BYTES", default_value_t = 1_200,
        value_parser = value_parser!(u64).range(LEAST_PACKET_BYTES as u64..=LARGEST_UDP))]
    packet: u64,
    /// The program that is measured [default: target/release/polypath of the checkout that this
    /// program was built in, if it is there, or else the one beside this program]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// What the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", default_value = "polypath_gateway")]
    netns: Prefix,
    /// List the profiles and measure nothing
    #[arg(long)]
    pub(super) list: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The names of traffic, for help and completion too.
fn traffic() -> impl TypedValueParser<Value = Traffic> {
    let named = |name: String| Traffic::ALL.into_iter().find(|kind| kind.name() == name);
    PossibleValuesParser::new(Traffic::ALL.map(Traffic::name))
        .try_map(move |name| named(name).ok_or("no such traffic"))
}

/// The names of transports, for help and completion too.
fn carrier() -> impl TypedValueParser<Value = Carrier> {
    let named = |name: String| Carrier::ALL.into_iter().find(|carrier| carrier.name() == name);
    PossibleValuesParser::new(Carrier::ALL.map(Carrier::name))
        .try_map(move |name| named(name).ok_or("no such transport"))
}

/// A time in which something can be measured.
fn measured_time(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    match time {
        time if time >= Duration::from_millis(100) => Ok(time),
        _ => Err(format!("{text:?} is too short; allowed: 100 ms and more")),
    }
}

fn rate(text: &str) -> Result<Bandwidth, String> {
    match text.parse::<Bandwidth>().map_err(|error| error.to_string())? {
        Bandwidth::ZERO => Err(format!("{text:?} is 0; it must be above 0")),
        rate => Ok(rate),
    }
}

impl GatewayOptions {
    /// What is measured over each profile.
    ///
    /// # Errors
    /// When it needs links, and there are none.
    pub(super) fn traffic(&self) -> anyhow::Result<&[Traffic]> {
        let of_links = self.traffic.iter().find(|kind| **kind != Traffic::Tcp);
        match (self.unshaped, of_links) {
            (Some(_), Some(kind)) => {
                bail!("--traffic {} over --unshaped paths; allowed: tcp", kind.name())
            }
            (Some(_), None) => Ok(&[Traffic::Tcp]),
            (None, _) if self.traffic.is_empty() => Ok(&Traffic::ALL),
            (None, _) => Ok(&self.traffic),
        }
    }

    /// The profiles, in the order of their options.
    pub(super) fn profiles(&self) -> anyhow::Result<Vec<GatewayProfile>> {
        if let Some(count) = self.unshaped.and_then(NonZeroU8::new) {
            return Ok(vec![profiles::unshaped(count)]);
        }
        let mut profiles: Vec<_> = self.links.iter().map(Links::profile).collect();
        for file in &self.scenario {
            profiles.push(profiles::of_scenario(file)?);
        }
        if self.suite {
            profiles.extend(profiles::suite(self.draw_seed)?);
        }
        if profiles.is_empty() {
            profiles.push(DEFAULT_LINKS.parse::<Links>()?.profile());
        }
        Ok(profiles)
    }

    /// What all traffic has in common.
    pub(super) fn settings(&self, interrupt: Interrupt) -> anyhow::Result<GatewaySettings> {
        Ok(GatewaySettings {
            program: program::find(self.program.as_deref())?,
            prefix: self.netns.clone(),
            warm_up: self.warm_up,
            duration: self.duration,
            flows: self.flows.into(),
            mbit_s: self.rate.mbit_per_sec(),
            packet_bytes: self.packet as usize,
            carrier: self.transport,
            interrupt,
        })
    }
}

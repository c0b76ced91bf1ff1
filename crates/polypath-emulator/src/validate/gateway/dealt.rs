//! One transfer by the kernel's TCP whose packets are dealt to the paths in turn and come out as
//! they arrive.
//!
//! That is the tunnel of a model of such transfers (Sustainability 10(5):1337, 2018), with what the
//! product has beside it: its packets are encrypted, acknowledged, and sent within the window of
//! each path.

use super::error::GatewayError;
use super::profile::{EDGE, GatewayProfile, HUB, LAN, SERVER};
use super::program::Given;
use super::rig::Rig;
use super::settings::GatewaySettings;
use super::site::{LAN_DEVICE, LAN_EDGE, SERVER_DEVICE, SERVER_HOST, SERVER_NET, Site};
use crate::kernel::{Looks, Source, Timeline, Transfer, tcp_info};
use crate::plan::Step;
use crate::realtime::Clock;
use polypath_sim::Direction;
use polypath_units::Timestamp;
use socket2::SockRef;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const FAILED: &str = "a TCP connection through the tunnel";
/// For the handshake beyond the gateway.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often is looked whether all has arrived; what is measured are times of the receiver.
const LOOK: Duration = Duration::from_millis(5);
/// What windows hold without being scaled (RFC 7323 section 2.2).
const UNSCALED_WINDOW: u64 = 65_535;
/// Room for a window in buffers, of which the kernel counts what surrounds the payload, too: of
/// segments of 536 bytes that is more than their payload.
const ROOM_FOR_WINDOW: u64 = 4;
/// Packets in turn, one each: the turn of a path whose window is full is waited for, as the paper
/// has it (equation 2).
const IN_TURN: [&str; 2] = ["--scheduler", "round_robin,cwnd_limited=0"];
const IN_TURN_AS_PACKETS: [&str; 4] = [IN_TURN[0], IN_TURN[1], "--tcp", "tunnel"];
/// The tunnel knows of no order and sends nothing again.
const POLICY: &str = "[[rule]]\nname = \"dealt\"\nprotocol = \"tcp\"\nmode = \"aggregate\"\n\
                      in_order = false\nresend = false\n";

/// A transfer, and the TCP that does it.
#[derive(Clone, Debug, PartialEq)]
pub struct DealtTransfer {
    /// Up is from the LAN to the server.
    pub direction: Direction,
    /// What is sent, in bytes; `None`: without end.
    pub bytes: Option<u64>,
    /// How long it lasts if it has not ended before.
    pub limit: Duration,
    /// The congestion control, as the kernel calls it.
    pub congestion: &'static str,
    /// The payload of a segment, in bytes.
    pub segment_bytes: u32,
    /// The initial window in segments; `None`: the kernel's.
    pub initial_window: Option<u32>,
    /// The receive window, in bytes.
    pub window_bytes: u64,
    /// Whether it acknowledges selectively.
    pub sack: bool,
    /// Whether segments carry timestamps.
    pub timestamps: bool,
}

/// What came of a transfer.
#[derive(Clone, Debug)]
pub struct DealtOutcome {
    /// What the receiver got, over the time since the connection was opened.
    pub received: Timeline,
    /// When all had arrived; `None` if the time was over before.
    pub finished: Option<Timestamp>,
    /// Segments that were sent, those that were sent again included.
    pub segments: u64,
    /// How many of them were sent again.
    pub sent_again: u64,
    /// How many came when one before them was still missing.
    pub out_of_order: u64,
    /// Packets that entered the links in the direction of the transfer meanwhile, those of the bond
    /// itself included.
    pub packets: u64,
    /// How many of a hundred packets the emulator handed over late or lost.
    pub late_percent: f64,
}

impl DealtTransfer {
    /// Makes the network of a profile, transfers once, and removes the network.
    ///
    /// # Errors
    /// See [`GatewayError`]; nothing is left then either.
    pub fn run(
        &self,
        profile: &GatewayProfile,
        settings: &GatewaySettings,
        seed: u64,
    ) -> Result<DealtOutcome, GatewayError> {
        let site = Site::new(profile, settings, seed)?;
        site.take(&self.steps(&site))?;
        let given = Given { policy: Some(POLICY), edge: &IN_TURN_AS_PACKETS, hub: &IN_TURN };
        let rig = Rig::start_on(site, settings, given)?;
        let outcome = self.transfer(rig.site(), settings)?;
        let late_percent = rig.stop()?.value.unwrap_or_default();
        Ok(DealtOutcome { late_percent, ..outcome })
    }

    /// What makes the hosts' TCP this one. Each packet has one segment, so that the bond deals
    /// segments and the receiver answers as many as come.
    fn steps(&self, site: &Site) -> Vec<Step> {
        let Self { segment_bytes, initial_window, .. } = self;
        let window =
            initial_window.map_or_else(String::new, |window| format!(" initcwnd {window}"));
        let tcp = format!("advmss {}{window}", segment_bytes + self.options_bytes());
        let host = |node, route: String| Step {
            sysctls: self.sysctls(),
            ..site.step(node, vec![format!("route replace {route} {tcp}")])
        };
        let single =
            |node, device| site.step(node, vec![format!("link set dev {device} gso_max_segs 1")]);
        vec![
            host(LAN, format!("default via {LAN_EDGE}")),
            host(SERVER, format!("{SERVER_NET} dev {SERVER_DEVICE} scope link src {SERVER_HOST}")),
            single(LAN, LAN_DEVICE),
            single(EDGE, LAN_DEVICE),
            single(HUB, SERVER_DEVICE),
            single(SERVER, SERVER_DEVICE),
        ]
    }

    /// Each segment has them, and the MSS that is advertised counts them (RFC 6691).
    const fn options_bytes(&self) -> u32 {
        if self.timestamps { 12 } else { 0 }
    }

    /// Three duplicates tell a loss, whatever was reordered before; nothing else does, as far as
    /// the kernel can be told so.
    fn sysctls(&self) -> Vec<(String, String)> {
        let is_scaled = self.window_bytes > UNSCALED_WINDOW;
        let buffer = self.window_bytes.saturating_mul(ROOM_FOR_WINDOW);
        let buffers = format!("4096 {buffer} {buffer}");
        let number = |is_on: bool| u8::from(is_on).to_string();
        [
            ("tcp_no_metrics_save", number(true)),
            ("tcp_sack", number(self.sack)),
            ("tcp_dsack", number(false)),
            ("tcp_timestamps", number(self.timestamps)),
            ("tcp_window_scaling", number(is_scaled)),
            ("tcp_ecn", number(false)),
            ("tcp_reordering", "3".to_owned()),
            ("tcp_max_reordering", "3".to_owned()),
            ("tcp_recovery", number(false)),
            ("tcp_early_retrans", number(false)),
            ("tcp_moderate_rcvbuf", number(false)),
            ("tcp_rmem", buffers),
        ]
        .map(|(name, value)| (format!("net.ipv4.{name}"), value))
        .into()
    }

    fn transfer(
        &self,
        site: &Site,
        settings: &GatewaySettings,
    ) -> Result<DealtOutcome, GatewayError> {
        let failed = GatewayError::of(FAILED);
        let clock = site.clock();
        let before = self.packets(site);
        let start = clock.now();
        let (client, server) = self.connection(site).map_err(failed)?;
        let (sender, receiver) = match self.direction {
            Direction::Up => (&client, &server),
            Direction::Down => (&server, &client),
        };
        let transfer =
            Transfer::start(sender, receiver, Source::Bulk(self.bytes), clock, Looks::default())
                .map_err(failed)?;
        wait_for(&transfer, settings, clock, start + self.limit)?;
        let told = tcp_info(sender).and_then(|sent| Ok((sent, tcp_info(receiver)?)));
        let (sent, came) = told.map_err(failed)?;
        let is_whole = transfer.is_over();
        let received = transfer.stop().map_err(failed)?.received.since(start);
        Ok(DealtOutcome {
            finished: received.times().last().filter(|_| is_whole),
            received,
            segments: sent.tcpi_data_segs_out.into(),
            sent_again: sent.tcpi_total_retrans.into(),
            out_of_order: came.tcpi_rcv_ooopack.into(),
            packets: self.packets(site) - before,
            late_percent: 0.0,
        })
    }

    /// From the LAN to the server.
    fn connection(&self, site: &Site) -> io::Result<(TcpStream, TcpStream)> {
        let listener = site.within(SERVER, || TcpListener::bind(Site::server_address()))?;
        // What the hub cannot reach is never accepted.
        SockRef::from(&listener).set_read_timeout(Some(PATIENCE))?;
        let target = listener.local_addr()?;
        let client = site.within(LAN, || TcpStream::connect(target))?;
        let (server, _) = listener.accept()?;
        for socket in [&client, &server].map(SockRef::from) {
            socket.set_tcp_congestion(self.congestion.as_bytes())?;
            // Acknowledgements are delayed from the first one on.
            socket.set_tcp_quickack(false)?;
        }
        Ok((client, server))
    }

    /// That have entered the links in the direction of the transfer.
    fn packets(&self, site: &Site) -> u64 {
        let links = site.network().report().links;
        let way = links.iter().map(|link| match self.direction {
            Direction::Up => &link.up,
            Direction::Down => &link.down,
        });
        way.map(|way| way.link.entered.packets).sum()
    }
}

/// Waits until all has arrived, or until a time.
fn wait_for(
    transfer: &Transfer,
    settings: &GatewaySettings,
    clock: Clock,
    end: Timestamp,
) -> Result<(), GatewayError> {
    while !transfer.is_over() && clock.now() < end {
        settings.interrupt.wait(clock, end.min(clock.now() + LOOK))?;
    }
    Ok(())
}

impl DealtOutcome {
    /// The payload over the time in which it came, from the opening of the connection on, in
    /// Mbit/s; of a transfer that did not end, over `limit`.
    pub fn mbit_s(&self, limit: Duration) -> f64 {
        let end = self.finished.unwrap_or(Timestamp::ZERO + limit);
        self.received.mbit_s(Timestamp::ZERO, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    /// 1 MB in 2 s, or in 4 s if more was to come.
    #[test]
    fn a_transfer_that_has_not_ended_counts_with_what_has_come() {
        let mut received = Timeline::default();
        received.add(seconds(2), 1_000_000);
        for (finished, expected) in [(Some(seconds(2)), 4.0), (None, 2.0)] {
            let outcome = DealtOutcome {
                received: received.clone(),
                finished,
                segments: 0,
                sent_again: 0,
                out_of_order: 0,
                packets: 0,
                late_percent: 0.0,
            };
            assert_eq!(outcome.mbit_s(Duration::from_secs(4)), expected);
        }
    }
}

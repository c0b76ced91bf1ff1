//! Bulk transfers by the kernel's TCP.

use super::error::GatewayError;
use super::figure::Figure;
use super::profile::{GatewayProfile, LAN, SERVER};
use super::rig::Rig;
use super::settings::GatewaySettings;
use super::site::Site;
use crate::kernel::{Looks, Source, Timeline, Transfer};
use polypath_sim::Direction;
use socket2::SockRef;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

const FAILED: &str = "a TCP connection through the gateway";
/// For the handshake beyond the gateway.
const PATIENCE: Duration = Duration::from_secs(10);

/// One connection and several, up and down, one after the other over the same bond.
pub(super) fn run(
    profile: &GatewayProfile,
    settings: &GatewaySettings,
    seed: u64,
) -> Result<Vec<Figure>, GatewayError> {
    let rig = Rig::start(profile, settings, seed, None)?;
    let mut figures = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        for flows in [1, settings.flows] {
            let mbit_s = goodput(rig.site(), settings, direction, flows)?;
            let what = format!("{flows} {}", direction.name());
            figures.push(Figure::new(&what, "Mbit/s", mbit_s));
            if profile.unshaped() > 0 {
                continue;
            }
            let share = mbit_s / profile.mbit_s(direction);
            let of_ceiling = mbit_s / profile.stream_ceiling_mbit_s(direction);
            figures.push(Figure::new(format!("{what}, of the sum"), "", share));
            figures.push(Figure::new(format!("{what}, of the ceiling"), "", of_ceiling));
        }
    }
    figures.push(rig.stop()?);
    Ok(figures)
}

/// What so many transfers carry together, in Mbit/s.
fn goodput(
    site: &Site,
    settings: &GatewaySettings,
    direction: Direction,
    flows: usize,
) -> Result<f64, GatewayError> {
    let downloads = Downloads::start(site, direction, flows)?;
    let (from, end) = settings.window(site.clock().now());
    settings.interrupt.wait(site.clock(), end)?;
    let timelines = downloads.stop()?;
    Ok(timelines.iter().map(|timeline| timeline.mbit_s(from, end)).sum())
}

/// Transfers without end.
#[derive(Debug)]
pub(super) struct Downloads(Vec<Transfer>);

impl Downloads {
    /// Opens connections from the LAN, and begins to send in this direction.
    pub(super) fn start(
        site: &Site,
        direction: Direction,
        count: usize,
    ) -> Result<Self, GatewayError> {
        let start = || {
            let listener = site.within(SERVER, || TcpListener::bind(Site::server_address()))?;
            // What the hub cannot reach is never accepted.
            SockRef::from(&listener).set_read_timeout(Some(PATIENCE))?;
            let target = listener.local_addr()?;
            let transfer = |_| transfer(site, direction, target, &listener);
            (0..count).map(transfer).collect::<io::Result<_>>()
        };
        start().map(Self).map_err(GatewayError::of(FAILED))
    }

    /// How many have ended, which none does by itself.
    pub(super) fn ended(&self) -> usize {
        self.0.iter().filter(|transfer| transfer.is_over()).count()
    }

    /// What the receivers got until now.
    pub(super) fn stop(self) -> Result<Vec<Timeline>, GatewayError> {
        let stop = |transfer: Transfer| Ok(transfer.stop()?.received);
        let stopped: io::Result<_> = self.0.into_iter().map(stop).collect();
        stopped.map_err(GatewayError::of(FAILED))
    }
}

fn transfer(
    site: &Site,
    direction: Direction,
    target: SocketAddr,
    listener: &TcpListener,
) -> io::Result<Transfer> {
    let client = site.within(LAN, || TcpStream::connect(target))?;
    let (server, _) = listener.accept()?;
    let (sender, receiver) = match direction {
        Direction::Up => (&client, &server),
        Direction::Down => (&server, &client),
    };
    Transfer::start(sender, receiver, Source::Bulk(None), site.clock(), Looks::default())
}

//! Datagrams at a steady rate: what is lost, overtaken and late.

use super::datagrams::{Conversation, Stream};
use super::error::GatewayError;
use super::figure::Figure;
use super::profile::GatewayProfile;
use super::reception::Reception;
use super::rig::Rig;
use super::settings::GatewaySettings;
use super::site::Site;
use polypath_sim::Direction;
use polypath_units::millis;
use std::time::Duration;

/// Every datagram on the path where the scheduler expects it first, whatever its size.
const POLICY: &str = "[[rule]]\nname = \"measured\"\nprotocol = \"udp\"\nmode = \"aggregate\"\n";

/// Up and down, one after the other over the same bond.
pub(super) fn run(
    profile: &GatewayProfile,
    settings: &GatewaySettings,
    seed: u64,
) -> Result<Vec<Figure>, GatewayError> {
    let rig = Rig::start(profile, settings, seed, Some(POLICY))?;
    let mut figures = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        let seen = measure(rig.site(), settings, direction)?;
        figures.extend(figures_of(direction, &seen, settings.duration));
    }
    figures.push(rig.stop()?);
    Ok(figures)
}

fn measure(
    site: &Site,
    settings: &GatewaySettings,
    direction: Direction,
) -> Result<Reception, GatewayError> {
    let conversation = Conversation::open(site)?;
    let start = site.clock().now();
    let (from, end) = settings.window(start);
    let bits = settings.packet_bytes as f64 * 8.0;
    let interval = Duration::from_secs_f64(bits * 1e-6 / settings.mbit_s);
    let stream = Stream { interval, bytes: settings.packet_bytes, start, end };
    let streaming = conversation.stream(direction, stream, site.clock())?;
    settings.interrupt.wait(site.clock(), streaming.over_at())?;
    Ok(streaming.stop(from)?.reception())
}

fn figures_of(direction: Direction, seen: &Reception, duration: Duration) -> Vec<Figure> {
    let name = |what: &str| format!("{}, {what}", direction.name());
    let rate = |count: u64| count as f64 / duration.as_secs_f64();
    vec![
        Figure::new(name("sent"), "packets/s", rate(seen.sent)),
        Figure::new(name("received"), "packets/s", rate(seen.received)),
        Figure::new(name("lost"), "%", seen.loss() * 100.0),
        Figure::new(name("out of order"), "packets", seen.out_of_order as f64),
        Figure::new(name("twice"), "packets", seen.repeated as f64),
        Figure::maybe(name("delay p50"), "ms", seen.delay_p50_ms),
        Figure::maybe(name("delay p99"), "ms", seen.delay_p99_ms),
        Figure::maybe(name("jitter p99"), "ms", seen.jitter_p99_ms),
        Figure::new(name("longest gap"), "ms", millis(seen.longest_gap)),
    ]
}

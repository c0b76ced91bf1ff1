//! What tests of the bond's parts begin with.

use super::{Bond, PathSettings, Transmit};
use crate::codec::{Parameters, Side};
use crate::config::BondConfig;
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

/// Bytes of a packet of [`hub`]'s path beyond its datagram.
pub(super) const OVERHEAD: u64 = 30;

/// A hub's side with one path, whose set-up showed this RTT. Streams have large windows at once.
pub(super) fn hub(config: BondConfig, rtt: Option<Duration>) -> Bond {
    let config = BondConfig { stream_window: 1 << 20, ..config };
    let parameters: Parameters = Bond::parameters(&config);
    let mut bond = Bond::new(Side::Hub, config, &parameters, Timestamp::ZERO);
    bond.add_path(PathId::default(), settings("a", rtt), Timestamp::ZERO);
    bond
}

/// A path whose set-up showed this RTT.
pub(super) fn settings(name: &str, rtt: Option<Duration>) -> PathSettings {
    PathSettings {
        name: name.to_owned(),
        backup: false,
        weight: 0.0,
        max_datagram: 1_200,
        packet_overhead: OVERHEAD as usize,
        rtt,
    }
}

/// Sends all that goes now, as packets from `number`: the path of each, and the DSN that it starts
/// with.
pub(super) fn send_all(
    bond: &mut Bond,
    number: &mut u64,
    now: Timestamp,
) -> Vec<(PathId, Option<u64>)> {
    let mut sent = Vec::new();
    while let Some(Transmit { path, payload, .. }) = bond.poll_transmit(now) {
        sent.push((path, payload.chunk.as_ref().map(|chunk| chunk.dsn)));
        bond.on_packet_sent(path, *number, payload.len + OVERHEAD, payload, now);
        *number += 1;
    }
    sent
}

//! How much passes over an uplink, as an operator sees it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The header of UDP (RFC 768).
const UDP_HEADER: u64 = 8;
/// Those of IP without options and extensions (RFC 791, RFC 8200).
const IPV4_HEADER: u64 = 20;
const IPV6_HEADER: u64 = 40;

/// Bytes of IP packets in both directions. Clones count together: sockets that follow each other
/// on a path have the same meter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<AtomicU64>);

impl Meter {
    /// Counts datagrams to or from `peer`, with `payload` bytes together.
    pub(super) fn count(&self, peer: SocketAddr, datagrams: usize, payload: usize) {
        let ip = if peer.ip().to_canonical().is_ipv4() { IPV4_HEADER } else { IPV6_HEADER };
        let bytes = datagrams as u64 * (ip + UDP_HEADER) + payload as u64;
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What was counted since this was asked last.
    pub(crate) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// How many datagrams `bytes` are, of `segment` bytes each but the last: an empty one is one.
pub(super) const fn datagrams(bytes: usize, segment: usize) -> usize {
    if bytes <= segment || segment == 0 { 1 } else { bytes.div_ceil(segment) }
}

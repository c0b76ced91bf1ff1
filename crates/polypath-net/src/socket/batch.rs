//! Buffers for received datagrams.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;

use noq_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta};

/// Largest UDP payload in bytes; what GRO joins fits in it too.
const MAX_UDP_PAYLOAD: usize = 65_535;

/// Buffers that a receive fills; meant to be kept and used again.
#[derive(Debug)]
pub(crate) struct ReceiveBatch {
    pub(super) buffers: Vec<Box<[u8]>>,
    pub(super) meta: Vec<RecvMeta>,
    pub(super) filled: usize,
}

/// A received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram<'a> {
    /// Who sent it.
    pub source: SocketAddr,
    /// The local address that it was sent to, where the system tells.
    pub destination: Option<IpAddr>,
    /// Its ECN codepoint.
    pub ecn: Option<EcnCodepoint>,
    /// Its payload.
    pub contents: &'a [u8],
}

impl ReceiveBatch {
    pub(super) fn new(gro_segments: NonZeroUsize) -> Self {
        // With GRO one buffer holds many datagrams, and few buffers do.
        let count = if gro_segments.get() > 1 { BATCH_SIZE.min(8) } else { BATCH_SIZE };
        Self {
            buffers: (0..count).map(|_| vec![0; MAX_UDP_PAYLOAD].into()).collect(),
            meta: vec![RecvMeta::default(); count],
            filled: 0,
        }
    }

    /// The datagrams of the last receive, with those that GRO joined taken apart again.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        let filled = self.buffers.iter().zip(&self.meta).take(self.filled);
        filled.flat_map(|(buffer, meta)| {
            let contents = buffer.get(..meta.len).unwrap_or_default();
            split(contents, meta.stride).map(|contents| Datagram {
                source: meta.addr,
                destination: meta.dst_ip,
                ecn: meta.ecn,
                contents,
            })
        })
    }
}

/// An empty datagram is one datagram, not none.
fn split(contents: &[u8], stride: usize) -> impl Iterator<Item = &[u8]> {
    let empty = contents.is_empty().then_some(contents);
    empty.into_iter().chain(contents.chunks(stride.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_datagrams_come_apart_and_empty_ones_stay() {
        let parts = |contents, stride| split(contents, stride).map(<[u8]>::len).collect::<Vec<_>>();
        assert_eq!(parts(&[0; 7], 3), [3, 3, 1]);
        assert_eq!(parts(&[0; 3], 3), [3]);
        assert_eq!(parts(&[], 0), [0]);
    }
}

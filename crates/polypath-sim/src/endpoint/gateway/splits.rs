//! TCP connections that end at the edge and begin anew at the hub: streams of the bond.

use crate::endpoint::bond_stream::BondStream;
use bytes::{Bytes, BytesMut};
use polypath_bond::{Bond, StreamId};
use polypath_steering::RuleCounters;
use polypath_units::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Stands in the head of a stream that is of no connection, but the bond's own.
pub(in crate::endpoint) const OWN_STREAM: u32 = u32::MAX;
/// A stream begins with the number of its connection, as it begins with the target's address in the
/// product.
const HEAD: usize = 8;

/// The connections that go through one end.
#[derive(Debug)]
pub(super) struct Splits {
    /// An edge counts by rules, a hub does not.
    counts: bool,
    connections: BTreeMap<u32, Split>,
    /// Streams that the other end has opened, with what has come of their heads.
    nameless: Vec<(StreamId, BytesMut)>,
}

#[derive(Debug)]
struct Split {
    stream: BondStream,
    /// Without them a rule refuses the connection: nothing of it passes.
    counters: Option<Arc<RuleCounters>>,
    /// Bytes that were counted as sent and as received.
    counted: (u64, u64),
}

/// The head of a stream of this connection.
pub(in crate::endpoint) fn head(connection: u32) -> Bytes {
    Bytes::copy_from_slice(&u64::from(connection).to_be_bytes())
}

impl Splits {
    /// None, at an end that counts what passes or does not.
    pub(super) fn new(counts: bool) -> Self {
        Self { counts, connections: BTreeMap::new(), nameless: Vec::new() }
    }

    pub(super) fn add(&mut self, connection: u32, counters: Option<Arc<RuleCounters>>) {
        let stream = BondStream::with_head(head(connection));
        self.connections.insert(connection, Split { stream, counters, counted: (0, 0) });
    }

    pub(super) fn get(&self, connection: u32) -> Option<&BondStream> {
        self.connections.get(&connection).map(|split| &split.stream)
    }

    pub(super) fn get_mut(&mut self, connection: u32) -> Option<&mut BondStream> {
        self.connections.get_mut(&connection).map(|split| &mut split.stream)
    }

    pub(super) fn on_opened(&mut self, stream: StreamId) {
        self.nameless.push((stream, BytesMut::new()));
    }

    /// Payload bytes that have come.
    pub(super) fn delivered(&self) -> u64 {
        self.connections.values().map(|split| split.stream.delivered()).sum()
    }

    /// Lets all of them go on. Returns the bond's own stream, if its head has come.
    pub(super) fn drive(&mut self, bond: &mut Bond, now: Timestamp) -> Option<StreamId> {
        let own = self.read_heads(bond, now);
        for split in self.connections.values_mut() {
            if let Some(counters) = &split.counters {
                split.stream.drive(bond, now);
                if !self.counts {
                    continue;
                }
                // What was taken back again has been counted.
                let sent = split.stream.written().max(split.counted.0);
                let received = split.stream.delivered();
                counters.send((sent - split.counted.0) as usize);
                counters.receive((received - split.counted.1) as usize);
                split.counted = (sent, received);
            }
        }
        own
    }

    fn read_heads(&mut self, bond: &mut Bond, now: Timestamp) -> Option<StreamId> {
        let mut own = None;
        self.nameless.retain_mut(|(stream, head)| {
            while head.len() < HEAD {
                match bond.read(*stream, HEAD - head.len(), now) {
                    Ok(Some(data)) if !data.is_empty() => head.extend_from_slice(&data),
                    _ => return true,
                }
            }
            let connection = head.last_chunk().map_or(0, |number| u32::from_be_bytes(*number));
            if connection == OWN_STREAM {
                own = Some(*stream);
            } else if let Some(split) = self.connections.get_mut(&connection) {
                split.stream.take_incoming(*stream);
            }
            false
        });
        own
    }
}

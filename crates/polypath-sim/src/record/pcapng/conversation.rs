//! What the headers of a connection's packets need beside the packets themselves.

use super::keys::{self, Key};
use crate::fabric::EndpointId;
use crate::tcp::{Flags, Segment};
use polypath_units::Timestamp;

/// The ports of the end that opens a connection and of the other one.
const PORTS: [u16; 2] = [40_000, 50_000];
/// Shift of the window field that every SYN offers (RFC 7323 section 2): windows up to 64 MiB.
pub(super) const WINDOW_SHIFT: u8 = 10;

/// A connection as far as its packets have shown it.
#[derive(Debug)]
pub(super) struct Conversation {
    ends: [EndpointId; 2],
    keys: [Key; 2],
    /// By path.
    subflows: Vec<Subflow>,
}

/// What is known of the TCP connection on a path.
#[derive(Clone, Copy, Debug, Default)]
struct Subflow {
    /// Whether both ends scale their windows.
    scales: bool,
    /// When the client heard the first segment after the SYN-ACK: until then it repeats what
    /// authenticates it (RFC 8684 section 3.1).
    confirmed: Option<Timestamp>,
}

/// The network that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// That of a path.
    Path(u8),
    /// The one inside a tunnel.
    Inner,
}

/// A packet's way from one end to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketPath<'a> {
    conversation: &'a Conversation,
    /// The sender: 0 opened the connection.
    from: usize,
    network: Network,
    sent_at: Timestamp,
}

impl Conversation {
    /// A connection between two ends, of which the first opens it.
    pub(super) fn new(ends: [EndpointId; 2]) -> Self {
        Self { ends, keys: ends.map(Key::of), subflows: Vec::new() }
    }

    /// The way of a packet that end `from` sent.
    pub(super) const fn way(
        &self,
        from: usize,
        network: Network,
        sent_at: Timestamp,
    ) -> PacketPath<'_> {
        PacketPath { conversation: self, from, network, sent_at }
    }

    /// End `from` sends a segment.
    pub(super) fn on_sent(&mut self, from: usize, path: u8, segment: &Segment) {
        if let Some(options) = segment.syn.filter(|_| from == 1) {
            self.subflow(path).scales = options.window_scale;
        }
    }

    /// A segment of end `from` has come.
    pub(super) fn on_delivered(&mut self, from: usize, path: u8, segment: &Segment, at: Timestamp) {
        if from == 1 && segment.syn.is_none() {
            self.subflow(path).confirmed.get_or_insert(at);
        }
    }

    fn subflow(&mut self, path: u8) -> &mut Subflow {
        let index = usize::from(path);
        if self.subflows.len() <= index {
            self.subflows.resize(index + 1, Subflow::default());
        }
        &mut self.subflows[index]
    }
}

impl PacketPath<'_> {
    /// Whether the sender opened the connection.
    pub(super) const fn is_from_client(&self) -> bool {
        self.from == 0
    }

    /// The same on another path.
    pub(super) const fn on(&self, path: u8) -> Self {
        Self { network: Network::Path(path), ..*self }
    }

    /// The number of the path, which is that of the subflow.
    pub(super) const fn path(&self) -> u8 {
        match self.network {
            Network::Path(path) => path,
            Network::Inner => 0,
        }
    }

    fn subflow(&self) -> Subflow {
        let subflow = self.conversation.subflows.get(usize::from(self.path()));
        subflow.copied().unwrap_or_default()
    }

    /// How far the window field is shifted, outside SYNs.
    pub(super) fn window_shift(&self) -> u8 {
        if self.subflow().scales { WINDOW_SHIFT } else { 0 }
    }

    /// Whether the client has heard of the server beside the SYN-ACK when it sends.
    pub(super) fn is_confirmed(&self) -> bool {
        self.subflow().confirmed.is_some_and(|at| at <= self.sent_at)
    }

    /// The addresses of sender and receiver.
    pub(super) fn addresses(&self) -> [[u8; 4]; 2] {
        self.pair().map(|side| address(self.conversation.ends[side], self.network))
    }

    /// The ports of sender and receiver.
    pub(super) fn ports(&self) -> [u16; 2] {
        self.pair().map(|side| PORTS[side])
    }

    /// The initial sequence numbers of sender and receiver.
    pub(super) fn initial_sequences(&self) -> [u32; 2] {
        self.pair().map(|side| initial_sequence(self.conversation.ends[side], self.path()))
    }

    /// The keys of sender and receiver.
    pub(super) fn keys(&self) -> [Key; 2] {
        self.pair().map(|side| self.conversation.keys[side])
    }

    /// The random numbers of sender and receiver.
    pub(super) fn nonces(&self) -> [[u8; 4]; 2] {
        self.pair().map(|side| keys::nonce(self.conversation.ends[side], self.path()))
    }

    const fn pair(&self) -> [usize; 2] {
        [self.from, 1 - self.from]
    }
}

/// Whether this is the server's answer to a SYN.
pub(super) const fn is_syn_ack(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN.with(Flags::ACK))
}

/// An address: 10.PATH.x.y, inside a tunnel 172.16.x.y, with the end's number in x and y.
fn address(end: EndpointId, network: Network) -> [u8; 4] {
    let [_, _, high, low] = end.0.wrapping_add(1).to_be_bytes();
    match network {
        Network::Path(path) => [10, path, high, low],
        Network::Inner => [172, 16, high, low],
    }
}

/// The initial sequence number of an end: simulated ones begin at 0, which no real one does. An odd
/// factor spreads the ends over all numbers.
const fn initial_sequence(end: EndpointId, path: u8) -> u32 {
    end.0.wrapping_add(1).wrapping_mul(0x9e37_79b1) ^ ((path as u32) << 24)
}

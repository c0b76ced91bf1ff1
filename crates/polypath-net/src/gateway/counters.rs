//! What becomes of the packets of a gateway.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use polypath_ip::PacketErrorKind;
use serde::{Deserialize, Serialize};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketFate {
    /// It went into the bond.
    Sent,
    /// It came out of the bond, and went on to the host.
    Received,
    /// It was no IP packet that may be carried.
    Malformed(PacketErrorKind),
    /// There was no bond to send it on.
    Away,
    /// A rule drops it.
    DroppedByRule,
    /// It came from an address that its edge does not have.
    Spoofed,
    /// It went to where edges may not reach.
    Forbidden,
    /// No edge has the address that it goes to.
    NoEdge,
    /// The bond has no flow for it, or its socket no room.
    NoFlow,
    /// It is none that a hub without a device carries.
    NotCarried,
}

/// How many packets there were of each fate since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayCounts {
    /// Packets that went into the bond.
    pub sent: u64,
    /// Packets that came out of it, and went on.
    pub received: u64,
    /// No IP packets that may be carried.
    pub malformed: u64,
    /// While no bond was there.
    pub away: u64,
    /// Dropped by a rule.
    pub dropped_by_rule: u64,
    /// From an address that the edge does not have.
    pub spoofed: u64,
    /// To where edges may not reach.
    pub forbidden: u64,
    /// To an address that no edge has.
    pub no_edge: u64,
    /// For which the bond had no flow, or its socket no room.
    pub no_flow: u64,
    /// That a hub without a device does not carry.
    pub not_carried: u64,
}

impl GatewayCounts {
    /// Those that went nowhere, each with why.
    pub fn dropped(&self) -> [(&'static str, u64); 8] {
        [
            ("malformed", self.malformed),
            ("while the hub was away", self.away),
            ("by rules", self.dropped_by_rule),
            ("from addresses that their edge does not have", self.spoofed),
            ("to where edges may not send", self.forbidden),
            ("to addresses that no edge has", self.no_edge),
            ("for want of a flow", self.no_flow),
            ("that a hub without a device does not carry", self.not_carried),
        ]
    }
}

/// Counts as packets pass.
#[derive(Debug, Default)]
pub(super) struct Counters {
    sent: AtomicU64,
    received: AtomicU64,
    malformed: AtomicU64,
    away: AtomicU64,
    dropped_by_rule: AtomicU64,
    spoofed: AtomicU64,
    forbidden: AtomicU64,
    no_edge: AtomicU64,
    no_flow: AtomicU64,
    not_carried: AtomicU64,
}

impl Counters {
    pub(super) fn count(&self, fate: PacketFate) {
        let counter = match fate {
            PacketFate::Sent => &self.sent,
            PacketFate::Received => &self.received,
            PacketFate::Malformed(_) => &self.malformed,
            PacketFate::Away => &self.away,
            PacketFate::DroppedByRule => &self.dropped_by_rule,
            PacketFate::Spoofed => &self.spoofed,
            PacketFate::Forbidden => &self.forbidden,
            PacketFate::NoEdge => &self.no_edge,
            PacketFate::NoFlow => &self.no_flow,
            PacketFate::NotCarried => &self.not_carried,
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(super) fn counts(&self) -> GatewayCounts {
        GatewayCounts {
            sent: self.sent.load(Relaxed),
            received: self.received.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            away: self.away.load(Relaxed),
            dropped_by_rule: self.dropped_by_rule.load(Relaxed),
            spoofed: self.spoofed.load(Relaxed),
            forbidden: self.forbidden.load(Relaxed),
            no_edge: self.no_edge.load(Relaxed),
            no_flow: self.no_flow.load(Relaxed),
            not_carried: self.not_carried.load(Relaxed),
        }
    }
}

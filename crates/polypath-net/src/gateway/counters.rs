//! What becomes of the packets of a gateway.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(usize)]
pub enum PacketFate {
    /// It went into the bond.
    Sent,
    /// It came out of the bond, and went on to the host.
    Received,
    /// It was no IP packet that may be carried.
    Malformed,
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

impl PacketFate {
    /// All of them, in the order of their numbers (`fate as usize`).
    pub const ALL: [Self; 10] = [
        Self::Sent,
        Self::Received,
        Self::Malformed,
        Self::Away,
        Self::DroppedByRule,
        Self::Spoofed,
        Self::Forbidden,
        Self::NoEdge,
        Self::NoFlow,
        Self::NotCarried,
    ];

    /// Its name in texts for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Malformed => "malformed",
            Self::Away => "away",
            Self::DroppedByRule => "dropped_by_rule",
            Self::Spoofed => "spoofed",
            Self::Forbidden => "forbidden",
            Self::NoEdge => "no_edge",
            Self::NoFlow => "no_flow",
            Self::NotCarried => "not_carried",
        }
    }

    /// Why a packet went nowhere, in words that follow a number of packets; `None` of one that went
    /// on.
    pub const fn dropped(self) -> Option<&'static str> {
        Some(match self {
            Self::Sent | Self::Received => return None,
            Self::Malformed => "malformed",
            Self::Away => "while the hub was away",
            Self::DroppedByRule => "by rules",
            Self::Spoofed => "from addresses that their edge does not have",
            Self::Forbidden => "to where edges may not send",
            Self::NoEdge => "to addresses that no edge has",
            Self::NoFlow => "for want of a flow",
            Self::NotCarried => "that a hub without a device does not carry",
        })
    }
}

/// How many packets there were of each fate since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayCounts(BTreeMap<PacketFate, u64>);

impl GatewayCounts {
    /// How many there were of each fate, which has its name in `status --json`.
    pub fn by_fate(&self) -> impl Iterator<Item = (&'static str, u64)> {
        PacketFate::ALL.into_iter().map(|fate| (fate.name(), self.of(fate)))
    }

    /// How many there were of a fate.
    pub fn of(&self, fate: PacketFate) -> u64 {
        self.0.get(&fate).copied().unwrap_or_default()
    }
}

impl FromIterator<(PacketFate, u64)> for GatewayCounts {
    fn from_iter<I: IntoIterator<Item = (PacketFate, u64)>>(counts: I) -> Self {
        Self(counts.into_iter().collect())
    }
}

/// Counts as packets pass.
#[derive(Debug, Default)]
pub(super) struct Counters([AtomicU64; PacketFate::ALL.len()]);

impl Counters {
    pub(super) fn count(&self, fate: PacketFate) {
        self.count_many(fate, 1);
    }

    pub(super) fn count_many(&self, fate: PacketFate, packets: usize) {
        self.0[fate as usize].fetch_add(packets as u64, Relaxed);
    }

    pub(super) fn counts(&self) -> GatewayCounts {
        PacketFate::ALL
            .map(|fate| (fate, self.0[fate as usize].load(Relaxed)))
            .into_iter()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_is_counted_by_its_name() {
        let counters = Counters::default();
        for fate in PacketFate::ALL {
            counters.count_many(fate, fate as usize + 1);
        }
        let counts = counters.counts();
        let expected = "{\"sent\":1,\"received\":2,\"malformed\":3,\"away\":4,\
                        \"dropped_by_rule\":5,\"spoofed\":6,\"forbidden\":7,\"no_edge\":8,\
                        \"no_flow\":9,\"not_carried\":10}";
        assert_eq!(serde_json::to_string(&counts).unwrap(), expected);
        assert_eq!(serde_json::from_str::<GatewayCounts>(expected).unwrap(), counts);
        assert_eq!(counts.of(PacketFate::NoFlow), 9);
        for (name, packets) in counts.by_fate() {
            assert!(expected.contains(&format!("\"{name}\":{packets}")), "{name}");
        }
    }
}

//! What has become of connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

/// Why a connection went over the bond instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(usize)]
pub enum WhyBond {
    /// Its rule asks for what the kernel's scheduler does not do.
    Steered,
    /// The hub offers no session now.
    NotOffered,
    /// The kernel of the edge has no Multipath TCP.
    Unsupported,
    /// The hub's port could not be reached over any path, or could not a moment ago.
    Unreachable,
    /// The connection broke before the hub had answered, or the answer was not the hub's.
    Broken,
}

impl WhyBond {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] =
        [Self::Steered, Self::NotOffered, Self::Unsupported, Self::Unreachable, Self::Broken];

    /// Its name in texts for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steered => "steered",
            Self::NotOffered => "not_offered",
            Self::Unsupported => "unsupported",
            Self::Unreachable => "unreachable",
            Self::Broken => "broken",
        }
    }

    /// The reason in words that follow a number of connections.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Steered => "because of rules",
            Self::NotOffered => "while the hub did not offer Multipath TCP",
            Self::Unsupported => "because this kernel has no Multipath TCP",
            Self::Unreachable => "because the hub's TCP port could not be reached",
            Self::Broken => "because the hub did not answer as it must",
        }
    }
}

/// What was wrong with a connection that a hub has closed without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(usize)]
pub enum HeaderFault {
    /// It did not begin with a header.
    Malformed,
    /// The header did not come in time.
    Late,
    /// There is no such session, or not any more.
    UnknownSession,
    /// Its tag was not made with the session's key.
    Forged,
    /// Its number has been used, or is too old.
    Replayed,
    /// Its TLS handshake failed.
    Handshake,
    /// It was encrypted, and those of its session are not, or the other way round.
    NotAgreed,
    /// Too many from there, or in all, had not said who they are.
    TooMany,
}

impl HeaderFault {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Malformed,
        Self::Late,
        Self::UnknownSession,
        Self::Forged,
        Self::Replayed,
        Self::Handshake,
        Self::NotAgreed,
        Self::TooMany,
    ];

    /// Its name in texts for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Late => "late",
            Self::UnknownSession => "unknown_session",
            Self::Forged => "forged",
            Self::Replayed => "replayed",
            Self::Handshake => "handshake",
            Self::NotAgreed => "not_agreed",
            Self::TooMany => "too_many",
        }
    }

    /// The fault in words that follow a number of connections.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Malformed => "without a header",
            Self::Late => "whose header did not come in time",
            Self::UnknownSession => "of unknown sessions",
            Self::Forged => "with a forged header",
            Self::Replayed => "with a replayed header",
            Self::Handshake => "whose TLS handshake failed",
            Self::NotAgreed => "with or without TLS against what was agreed on",
            Self::TooMany => "beyond the limit of those that have not said who they are",
        }
    }
}

/// What has become of connections since the start. What there was none of is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MptcpCounts {
    /// Those that the hub has answered, over Multipath TCP.
    pub connections: u64,
    /// How many of these are encrypted, by TLS.
    #[serde(default)]
    pub encrypted: u64,
    /// How many of all the peer or a middlebox has made plain TCP, with one path.
    pub plain: u64,
    /// At an edge: those that went over the bond instead.
    #[serde(default)]
    pub over_bond: BTreeMap<WhyBond, u64>,
    /// At a hub: those that were closed without an answer.
    #[serde(default)]
    pub refused: BTreeMap<HeaderFault, u64>,
}

impl MptcpCounts {
    /// How many went over the bond for this reason.
    pub fn over_bond(&self, why: WhyBond) -> u64 {
        self.over_bond.get(&why).copied().unwrap_or_default()
    }

    /// How many were closed for this.
    pub fn refused(&self, fault: HeaderFault) -> u64 {
        self.refused.get(&fault).copied().unwrap_or_default()
    }
}

/// Counts as connections come and go.
#[derive(Debug, Default)]
pub(super) struct Counters {
    connections: AtomicU64,
    encrypted: AtomicU64,
    plain: AtomicU64,
    over_bond: [AtomicU64; WhyBond::ALL.len()],
    refused: [AtomicU64; HeaderFault::ALL.len()],
}

impl Counters {
    pub(super) fn connect(&self, is_encrypted: bool) {
        self.connections.fetch_add(1, Relaxed);
        self.encrypted.fetch_add(is_encrypted.into(), Relaxed);
    }

    pub(super) fn become_plain(&self) {
        self.plain.fetch_add(1, Relaxed);
    }

    pub(super) fn go_over_bond(&self, why: WhyBond) {
        self.over_bond[why as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn refuse(&self, fault: HeaderFault) {
        self.refused[fault as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn counts(&self) -> MptcpCounts {
        let over_bond = WhyBond::ALL.map(|why| (why, self.over_bond[why as usize].load(Relaxed)));
        let refused =
            HeaderFault::ALL.map(|fault| (fault, self.refused[fault as usize].load(Relaxed)));
        MptcpCounts {
            connections: self.connections.load(Relaxed),
            encrypted: self.encrypted.load(Relaxed),
            plain: self.plain.load(Relaxed),
            over_bond: over_bond.into_iter().filter(|(_, count)| *count > 0).collect(),
            refused: refused.into_iter().filter(|(_, count)| *count > 0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_counted_by_its_name() {
        let counters = Counters::default();
        counters.connect(false);
        counters.connect(true);
        WhyBond::ALL.into_iter().for_each(|why| counters.go_over_bond(why));
        HeaderFault::ALL.into_iter().for_each(|fault| counters.refuse(fault));
        counters.refuse(HeaderFault::Replayed);
        let counts = counters.counts();
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(serde_json::from_str::<MptcpCounts>(&text).unwrap(), counts);
        for why in WhyBond::ALL {
            assert!(text.contains(&format!("\"{}\":1", why.name())), "{text}");
        }
        for fault in HeaderFault::ALL {
            let times = if fault == HeaderFault::Replayed { 2 } else { 1 };
            assert!(text.contains(&format!("\"{}\":{times}", fault.name())), "{text}");
            assert_eq!(counts.refused(fault), times);
        }
        assert_eq!((counts.connections, counts.encrypted, counts.plain), (2, 1, 0));
    }
}

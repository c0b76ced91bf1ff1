//! What is told of conversations, in the form of programs.

use serde::{Deserialize, Serialize};

/// Which conversations somebody wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// So many at most, those of most bytes.
    pub most: usize,
    /// Those that this rule has decided about last; `None` for all.
    pub rule: Option<String>,
}

impl Wanted {
    /// Whether a conversation is among them that a rule of this name has decided about.
    pub(crate) fn has(&self, rule: Option<&str>) -> bool {
        self.rule.as_deref().is_none_or(|wanted| rule == Some(wanted))
    }
}

/// Conversations at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversations {
    /// Those of most bytes, which come first.
    pub conversations: Vec<Conversation>,
    /// How many more there are.
    pub left_out: usize,
}

impl Conversations {
    /// The same of several sources.
    pub fn merged(most: usize, sources: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for source in sources {
            all.conversations.extend(source.conversations);
            all.left_out += source.left_out;
        }
        all.conversations.sort_by_key(|told| std::cmp::Reverse(told.bytes()));
        all.left_out += all.conversations.len().saturating_sub(most);
        all.conversations.truncate(most);
        all
    }
}

/// How a conversation is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carried {
    /// As IP packets through a gateway.
    Packets,
    /// As a stream: a connection to a proxy or a forwarded port, or one that a gateway has split.
    Stream,
    /// As the payload of datagrams to a proxy or a forwarded port.
    Datagrams,
}

/// A conversation at one time. Sent is what this end sends to the other end of the bond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// How it is carried.
    pub carried: Carried,
    /// At a hub: whose it is, by name or key.
    pub edge: Option<String>,
    /// The protocol above IP, by name or number.
    pub protocol: String,
    /// Who is at the edge's side, as far as this end knows it: an address, with its port if there
    /// is one.
    pub source: Option<String>,
    /// Who is at the hub's side: an address or a name, with its port if there is one.
    pub destination: String,
    /// What answers of DNS have called that address.
    pub names: Vec<String>,
    /// At an edge: the rule that has decided about it last; null for none, and at a hub.
    pub rule: Option<String>,
    /// How its datagrams use the paths, or `aggregate`; null where this end does not know it.
    pub mode: Option<String>,
    /// The paths that it may take; null for all of the bond.
    pub may_take: Option<Vec<String>>,
    /// Packets sent; null of a stream.
    pub packets_sent: Option<u64>,
    /// Packets received.
    pub packets_received: Option<u64>,
    /// Bytes sent: of IP packets, of a stream or of the payload of datagrams.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Seconds since its beginning, or since this end knows of it.
    pub age_s: f64,
    /// Seconds since something passed.
    pub idle_s: f64,
    /// What became of the order of packets that this end has received, where the flow that they
    /// come in is that of this conversation alone.
    pub order: Option<OrderCounts>,
}

impl Conversation {
    fn bytes(&self) -> u64 {
        self.bytes_sent + self.bytes_received
    }
}

/// What became of the order of packets that have come for a conversation since it has its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderCounts {
    /// Those that came after a later one and were put in order.
    pub reordered: u64,
    /// Those that came after a later one which had not waited for them, or not for so long.
    pub late: u64,
    /// Those that never came, and are not waited for any more.
    pub lost: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes_sent: u64) -> Conversation {
        Conversation {
            carried: Carried::Stream,
            edge: None,
            protocol: "tcp".to_owned(),
            source: None,
            destination: "a.org:443".to_owned(),
            names: Vec::new(),
            rule: None,
            mode: None,
            may_take: None,
            packets_sent: None,
            packets_received: None,
            bytes_sent,
            bytes_received: 1,
            age_s: 1.0,
            idle_s: 0.0,
            order: None,
        }
    }

    #[test]
    fn of_several_sources_those_of_most_bytes_are_told_and_the_others_counted() {
        let source = |bytes: &[u64], left_out| Conversations {
            conversations: bytes.iter().map(|bytes| told(*bytes)).collect(),
            left_out,
        };
        let merged = Conversations::merged(3, [source(&[9, 5], 4), source(&[7, 6], 0)]);
        let bytes: Vec<_> = merged.conversations.iter().map(|told| told.bytes_sent).collect();
        assert_eq!((bytes, merged.left_out), (vec![9, 7, 6], 5));
    }

    #[test]
    fn a_rule_is_wanted_by_its_name() {
        let wanted = |rule: Option<&str>| Wanted { most: 1, rule: rule.map(str::to_owned) };
        let of = [None, Some("dns"), Some("voice")];
        assert_eq!(of.map(|rule| wanted(None).has(rule)), [true, true, true]);
        assert_eq!(of.map(|rule| wanted(Some("dns")).has(rule)), [false, true, false]);
    }
}

//! Conversations for a terminal.

use polypath_net::conversations::{Carried, Conversation, Conversations};

use crate::output::columns;

/// What stands left: all that is no number.
const LEFT: usize = 8;
const HEADINGS: [&str; 17] = [
    "edge",
    "carried as",
    "protocol",
    "from",
    "to",
    "rule",
    "mode",
    "may take",
    "sent MB",
    "received MB",
    "packets sent",
    "received",
    "age s",
    "idle s",
    "reordered",
    "late",
    "lost",
];

/// A row for each, and a line for those that are left out.
pub fn conversation_table(told: &Conversations) -> String {
    let (shown, left_out) = (told.conversations.len(), told.left_out);
    let rows: Vec<_> = [HEADINGS.map(str::to_owned)]
        .into_iter()
        .chain(told.conversations.iter().map(row))
        .collect();
    let table = if shown == 0 { String::new() } else { columns(&rows, LEFT) };
    let rest = match left_out {
        0 => String::new(),
        _ => format!(", those of most bytes; left out: {left_out}"),
    };
    format!("{table}conversations: {shown}{rest}\n")
}

fn row(told: &Conversation) -> [String; HEADINGS.len()] {
    let unknown = || "-".to_owned();
    let text = |known: &Option<String>| known.clone().unwrap_or_else(unknown);
    let count = |known: Option<u64>| known.map_or_else(unknown, |known| known.to_string());
    let paths = told.may_take.as_ref().map(|paths| paths.join(", "));
    let rule = match (&told.rule, &told.edge) {
        (None, None) => "(no rule)".to_owned(),
        (rule, _) => text(rule),
    };
    [
        text(&told.edge),
        carried(told.carried).to_owned(),
        told.protocol.clone(),
        text(&told.source),
        destination(told),
        rule,
        text(&told.mode),
        paths.unwrap_or_else(|| "all paths".to_owned()),
        megabytes(told.bytes_sent),
        megabytes(told.bytes_received),
        count(told.packets_sent),
        count(told.packets_received),
        format!("{:.0}", told.age_s),
        format!("{:.0}", told.idle_s),
        count(told.order.map(|order| order.reordered)),
        count(told.order.map(|order| order.late)),
        count(told.order.map(|order| order.lost)),
    ]
}

const fn carried(carried: Carried) -> &'static str {
    match carried {
        Carried::Packets => "packets",
        Carried::Stream => "stream",
        Carried::Datagrams => "datagrams",
    }
}

/// With the names that it was asked for.
fn destination(told: &Conversation) -> String {
    match &told.names[..] {
        [] => told.destination.clone(),
        names => format!("{} ({})", told.destination, names.join(", ")),
    }
}

/// Conversations may be small.
fn megabytes(bytes: u64) -> String {
    format!("{:.3}", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_net::conversations::OrderCounts;

    fn packets() -> Conversation {
        Conversation {
            carried: Carried::Packets,
            edge: None,
            protocol: "udp".to_owned(),
            source: Some("192.168.5.2:5000".to_owned()),
            destination: "198.18.0.2:53".to_owned(),
            names: vec!["a.org".to_owned(), "b.org".to_owned()],
            rule: Some("dns".to_owned()),
            mode: Some("priority_based".to_owned()),
            may_take: Some(vec!["wifi".to_owned(), "lte".to_owned()]),
            packets_sent: Some(12),
            packets_received: Some(11),
            bytes_sent: 1_234,
            bytes_received: 5_600_000,
            age_s: 61.6,
            idle_s: 0.2,
            order: Some(OrderCounts { reordered: 3, late: 2, lost: 1 }),
        }
    }

    #[test]
    fn the_table_is_readable() {
        let stream = Conversation {
            carried: Carried::Stream,
            protocol: "tcp".to_owned(),
            destination: "a.org:443".to_owned(),
            names: Vec::new(),
            rule: None,
            mode: Some("aggregate".to_owned()),
            may_take: None,
            packets_sent: None,
            packets_received: None,
            order: None,
            ..packets()
        };
        let at_hub = Conversation {
            edge: Some("van 7".to_owned()),
            source: None,
            mode: None,
            names: Vec::new(),
            ..stream.clone()
        };
        let told = Conversations { conversations: vec![packets(), stream, at_hub], left_out: 9 };
        let expected = "\
edge   carried as  protocol  from              to                            rule       mode            may take   sent MB  received MB  packets sent  received  age s  idle s  reordered  late  lost
-      packets     udp       192.168.5.2:5000  198.18.0.2:53 (a.org, b.org)  dns        priority_based  wifi, lte    0.001        5.600            12        11     62       0          3     2     1
-      stream      tcp       192.168.5.2:5000  a.org:443                     (no rule)  aggregate       all paths    0.001        5.600             -         -     62       0          -     -     -
van 7  stream      tcp       -                 a.org:443                     -          -               all paths    0.001        5.600             -         -     62       0          -     -     -
conversations: 3, those of most bytes; left out: 9
";
        assert_eq!(conversation_table(&told), expected);
    }

    #[test]
    fn where_there_are_none_that_is_told() {
        assert_eq!(conversation_table(&Conversations::default()), "conversations: 0\n");
    }
}

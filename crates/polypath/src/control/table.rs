//! The status for a terminal.

use core::fmt::Write;

use polypath_net::gateway::{GatewayCounts, PacketFate};
use polypath_net::mptcp::MptcpCounts;
use polypath_net::proxy::RuleUse;

use super::subflow_table::subflow_table;
use super::{BondReport, PathReport, QuotaReport, Role, SameKeyReport, Status, rule_table};
use crate::output::columns;

/// Columns.
const COLUMNS: usize = 12;
/// Names, states and addresses stand left, numbers right.
const LEFT: usize = 3;
/// Of quotas name and period stand left.
const QUOTA_LEFT: usize = 2;

const fn headers(role: Role) -> [&'static str; COLUMNS] {
    let remote = match role {
        Role::Hub => "edge at",
        Role::Edge | Role::Send | Role::Agent => "hub at",
    };
    [
        "path",
        "state",
        remote,
        "out Mbit/s",
        "in Mbit/s",
        "estimated Mbit/s",
        "RTT ms",
        "loss %",
        "in flight",
        "sent MB",
        "received MB",
        "reinjected MB",
    ]
}

/// Writing to a `String` cannot fail.
pub(super) fn render(status: &Status) -> String {
    let role = match status.role {
        Role::Hub => "hub",
        Role::Edge => "edge",
        Role::Send => "send",
        Role::Agent => "agent",
    };
    let (version, uptime) = (&status.version, status.uptime_s);
    if let Some(mptcp) = &status.mptcp {
        let connections = mptcp.connections.len();
        let head = format!("{role} {version}, up {uptime:.0} s, connections: {connections}\n");
        return head + &subflow_table(mptcp);
    }
    let bonds = status.bonds.len();
    let mut text = format!("{role} {version}, up {uptime:.0} s, bonds: {bonds}\n");
    for bond in &status.bonds {
        render_bond(&mut text, status.role, bond);
    }
    if !status.quotas.is_empty() {
        text.push('\n');
        text.push_str(&render_quotas(&status.quotas));
    }
    if !status.rules.is_empty() {
        text.push('\n');
        text.push_str(&render_rules(&status.rules));
    }
    if let Some(gateway) = &status.gateway {
        render_gateway(&mut text, gateway);
    }
    if let Some(counts) = &status.mptcp_transport {
        render_mptcp(&mut text, status.role, counts);
    }
    text
}

fn render_quotas(quotas: &[QuotaReport]) -> String {
    let headings = ["quota of", "period", "used MB", "of MB", "used %", "until"];
    let row = |quota: &QuotaReport| {
        [
            quota.path.clone(),
            quota.period.clone(),
            megabytes(quota.used_bytes),
            megabytes(quota.quota_bytes),
            format!("{:.1}", quota.used_bytes as f64 / quota.quota_bytes as f64 * 100.0),
            quota.until.clone(),
        ]
    };
    let rows = [headings.map(str::to_owned)].into_iter().chain(quotas.iter().map(row));
    columns(&rows.collect::<Vec<_>>(), QUOTA_LEFT)
}

fn render_rules(rules: &[RuleUse]) -> String {
    rule_table(rules, |index, column| {
        format!("{:.*}", column.decimals(1), column.of(&rules[index].counts))
    })
}

fn render_gateway(text: &mut String, counts: &GatewayCounts) {
    let (sent, received) = (counts.of(PacketFate::Sent), counts.of(PacketFate::Received));
    let _ = write!(text, "\ngateway: {sent} packets sent, {received} received; dropped: ");
    let dropped = PacketFate::ALL.into_iter().filter(|fate| counts.of(*fate) > 0);
    let dropped =
        dropped.filter_map(|fate| Some(format!("{} {}", counts.of(fate), fate.dropped()?)));
    let dropped: Vec<_> = dropped.collect();
    text.push_str(if dropped.is_empty() { "none" } else { "" });
    let _ = writeln!(text, "{}", dropped.join(", "));
}

fn render_mptcp(text: &mut String, role: Role, counts: &MptcpCounts) {
    let MptcpCounts { connections, encrypted, plain, over_bond, refused } = counts;
    let _ = write!(
        text,
        "\nMultipath TCP: {connections} connections, {encrypted} of them encrypted by TLS, {plain} \
         of them became plain TCP"
    );
    let (what, numbers): (_, Vec<_>) = match role {
        Role::Hub => {
            ("closed unanswered", refused.iter().map(|(fault, n)| (n, fault.reason())).collect())
        }
        _ => {
            ("over the bond instead", over_bond.iter().map(|(why, n)| (n, why.reason())).collect())
        }
    };
    let told: Vec<_> = numbers.into_iter().map(|(n, why)| format!("{n} {why}")).collect();
    let none = if told.is_empty() { "none" } else { "" };
    let _ = writeln!(text, "; {what}: {none}{}", told.join(", "));
}

fn render_bond(text: &mut String, role: Role, bond: &BondReport) {
    let _ = writeln!(text, "\nbond {} with {}", bond.id, bond.peer);
    for &SameKeyReport { bond, elsewhere } in &bond.same_key {
        let _ = match elsewhere {
            true => writeln!(
                text,
                "this key has bond {bond} too, from other addresses: if these are two edges, give \
                 each a key of its own"
            ),
            false => writeln!(text, "this key has bond {bond} too, from the same address"),
        };
    }
    let headers = headers(role).map(str::to_owned);
    let rows: Vec<_> = [headers].into_iter().chain(bond.paths.iter().map(row)).collect();
    text.push_str(&columns(&rows, LEFT));
    for path in bond.paths.iter().filter(|path| path.state == "failed") {
        if let Some(cause) = &path.last_failure {
            let _ = writeln!(text, "{} has failed: {cause}", path.name);
        }
    }
    let queue = [bond.unsent, bond.unacked, bond.buffered].map(megabytes);
    let _ = writeln!(
        text,
        "queue: {} MB to send, {} MB unacknowledged, {} MB unread; reinjected {} MB",
        queue[0],
        queue[1],
        queue[2],
        megabytes(bond.bytes_reinjected)
    );
}

fn row(path: &PathReport) -> [String; COLUMNS] {
    let unknown = || "-".to_owned();
    let backup = if path.backup { " (backup)" } else { "" };
    [
        path.name.clone(),
        format!("{}{backup}", path.state),
        path.remote.map_or_else(unknown, |remote| remote.to_string()),
        format!("{:.1}", path.sent_mbit_s),
        format!("{:.1}", path.received_mbit_s),
        format!("{:.1}", path.mbit_s),
        path.srtt_ms.map_or_else(unknown, |srtt| format!("{srtt:.1}")),
        format!("{:.2}", path.loss * 100.0),
        format!("{} kB", path.in_flight_bytes / 1_000),
        megabytes(path.bytes_sent),
        megabytes(path.bytes_received),
        megabytes(path.bytes_reinjected),
    ]
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_net::mptcp::{HeaderFault, WhyBond};
    use polypath_net::proxy::RuleCounts;

    fn path(name: &str, state: &str, srtt_ms: Option<f64>) -> PathReport {
        PathReport {
            id: 0,
            name: name.to_owned(),
            remote: srtt_ms.map(|_| ([192, 0, 2, 1], 4_433).into()),
            state: state.to_owned(),
            backup: srtt_ms.is_none(),
            srtt_ms,
            min_rtt_ms: srtt_ms,
            sent_mbit_s: srtt_ms.map_or(0.0, |_| 12.34),
            received_mbit_s: 0.05,
            mbit_s: 93.26,
            cwnd_bytes: 100_000,
            in_flight_bytes: 34_567,
            loss: 0.0123,
            packets_sent: 1,
            bytes_sent: 123_456_789,
            bytes_received: 1_000_000,
            bytes_reinjected: 0,
            failures: 2,
            last_failure: Some("nothing came from the peer on any path".to_owned()),
        }
    }

    fn quota(path: &str, used_bytes: u64) -> QuotaReport {
        QuotaReport {
            path: path.to_owned(),
            period: "month".to_owned(),
            quota_bytes: 1_000_000_000,
            used_bytes,
            until: "2026-12-01T00:00:00Z".to_owned(),
            used_up: used_bytes >= 1_000_000_000,
        }
    }

    fn rule(name: Option<&str>, mode: &str, dropped: u64) -> RuleUse {
        RuleUse {
            name: name.map(str::to_owned),
            mode: mode.to_owned(),
            counts: RuleCounts {
                conversations: 17,
                datagrams_sent: 40,
                datagrams_received: 39,
                bytes_sent: 1_200_000,
                bytes_received: 34_560_000,
                dropped,
            },
        }
    }

    #[test]
    fn the_table_is_readable() {
        let bond = BondReport {
            id: 3,
            peer: "ppp1peer".to_owned(),
            same_key: vec![
                SameKeyReport { bond: 4, elsewhere: false },
                SameKeyReport { bond: 7, elsewhere: true },
            ],
            paths: vec![path("wifi", "active", Some(20.04)), path("lte-2", "failed", None)],
            unsent: 1_500_000,
            unacked: 200_000,
            buffered: 0,
            gaps: 0,
            bytes_read: 0,
            bytes_delivered: 0,
            bytes_reinjected: 400_000,
            bytes_duplicate: 0,
        };
        let status = Status {
            role: Role::Edge,
            version: "1.2.3".to_owned(),
            uptime_s: 61.7,
            bonds: vec![bond],
            rules: vec![rule(Some("dns"), "active_standby", 3), rule(None, "aggregate", 0)],
            quotas: vec![quota("lte-2", 850_000_000), quota("wifi", 1_000_000_123)],
            gateway: Some(GatewayCounts::from_iter([
                (PacketFate::Sent, 7),
                (PacketFate::Away, 2),
                (PacketFate::Spoofed, 1),
            ])),
            mptcp_transport: Some(MptcpCounts {
                connections: 12,
                encrypted: 7,
                plain: 1,
                over_bond: [(WhyBond::Steered, 3), (WhyBond::Unreachable, 2)].into(),
                refused: [(HeaderFault::Replayed, 4)].into(),
            }),
            mptcp: None,
        };
        let expected = "\
edge 1.2.3, up 62 s, bonds: 1

bond 3 with ppp1peer
this key has bond 4 too, from the same address
this key has bond 7 too, from other addresses: if these are two edges, give each a key of its own
path   state            hub at          out Mbit/s  in Mbit/s  estimated Mbit/s  RTT ms  loss %  in flight  sent MB  received MB  reinjected MB
wifi   active           192.0.2.1:4433        12.3        0.1              93.3    20.0    1.23      34 kB    123.5          1.0            0.0
lte-2  failed (backup)  -                      0.0        0.1              93.3       -    1.23      34 kB    123.5          1.0            0.0
lte-2 has failed: nothing came from the peer on any path
queue: 1.5 MB to send, 0.2 MB unacknowledged, 0.0 MB unread; reinjected 0.4 MB

quota of  period  used MB   of MB  used %                 until
lte-2     month     850.0  1000.0    85.0  2026-12-01T00:00:00Z
wifi      month    1000.0  1000.0   100.0  2026-12-01T00:00:00Z

rule       mode            conversations  datagrams sent  received  sent MB  received MB  dropped
dns        active_standby             17              40        39      1.2         34.6        3
(no rule)  aggregate                  17              40        39      1.2         34.6        0

gateway: 7 packets sent, 0 received; dropped: 2 while the hub was away, 1 from addresses that their edge does not have

Multipath TCP: 12 connections, 7 of them encrypted by TLS, 1 of them became plain TCP; \
over the bond instead: 3 because of rules, 2 because the hub's TCP port could not be reached
";
        assert_eq!(render(&status), expected);
        let hub = render(&Status { role: Role::Hub, ..status });
        assert!(hub.ends_with("closed unanswered: 4 with a replayed header\n"), "{hub}");
    }
}

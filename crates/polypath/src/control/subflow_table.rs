//! Subflows of the kernel's Multipath TCP for a terminal.

use polypath_mptcp::{ConnectionStatus, PathStatus, Status, SubflowStatus};

use crate::output::columns;

/// What stands left: all that is no number.
const LEFT: usize = 6;
const HEADINGS: [&str; 14] = [
    "connection",
    "over",
    "from",
    "to",
    "state",
    "backup",
    "RTT ms",
    "window",
    "outstanding",
    "silent ms",
    "sent again",
    "reinjected",
    "sent MB",
    "received MB",
];

/// A line with the paths, and a row for each subflow.
pub(super) fn subflow_table(told: &Status) -> String {
    let paths: Vec<_> = told.paths.iter().map(path).collect();
    let paths = if paths.is_empty() { "none".to_owned() } else { paths.join(", ") };
    let rows = told.connections.iter().flat_map(|connection| {
        connection.subflows.iter().map(move |subflow| row(connection, subflow))
    });
    let rows: Vec<_> = [HEADINGS.map(str::to_owned)].into_iter().chain(rows).collect();
    let table = if rows.len() > 1 { columns(&rows, LEFT) } else { String::new() };
    format!("paths: {paths}\n{table}")
}

fn path(path: &PathStatus) -> String {
    let PathStatus { interface, address, backup, priority, .. } = path;
    let backup = if *backup { ", backup" } else { "" };
    let priority = if *priority > 0 { format!(", priority {priority}") } else { String::new() };
    format!("{interface} ({address}{backup}{priority})")
}

fn row(connection: &ConnectionStatus, subflow: &SubflowStatus) -> [String; HEADINGS.len()] {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    [
        format!("{:08x}", connection.token),
        subflow.interface.clone().unwrap_or_else(|| "-".to_owned()),
        subflow.local.clone(),
        subflow.remote.clone(),
        subflow.state.clone(),
        if subflow.backup { "yes" } else { "no" }.to_owned(),
        format!("{:.1}", subflow.rtt_ms),
        subflow.window.to_string(),
        subflow.outstanding.to_string(),
        format!("{:.0}", subflow.silent_ms),
        subflow.retransmitted.to_string(),
        connection.reinjected.to_string(),
        megabytes(subflow.bytes_acked),
        megabytes(subflow.bytes_received),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_subflow() {
        let subflow = SubflowStatus {
            interface: Some("eth0".to_owned()),
            local: "10.0.0.1:4000".to_owned(),
            remote: "10.0.1.1:443".to_owned(),
            state: "open".to_owned(),
            backup: false,
            rtt_ms: 20.25,
            window: 40,
            outstanding: 12,
            silent_ms: 4.0,
            retransmitted: 3,
            bytes_acked: 1_250_000,
            bytes_received: 0,
        };
        let second = SubflowStatus { interface: None, backup: true, ..subflow.clone() };
        let subflows = vec![subflow, second];
        let connections = vec![ConnectionStatus { token: 0xa1b2, reinjected: 5, subflows }];
        let path = PathStatus {
            id: 1,
            interface: "eth0".to_owned(),
            address: [10, 0, 0, 1].into(),
            backup: true,
            priority: 2,
        };
        let expected = "\
paths: eth0 (10.0.0.1, backup, priority 2)
connection  over  from           to            state  backup  RTT ms  window  outstanding  silent ms  sent again  reinjected  sent MB  received MB
0000a1b2    eth0  10.0.0.1:4000  10.0.1.1:443  open   no        20.2      40           12          4           3           5      1.2          0.0
0000a1b2    -     10.0.0.1:4000  10.0.1.1:443  open   yes       20.2      40           12          4           3           5      1.2          0.0
";
        assert_eq!(subflow_table(&Status { paths: vec![path], connections }), expected);
        assert_eq!(subflow_table(&Status::default()), "paths: none\n");
    }
}

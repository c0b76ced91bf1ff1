//! How the status is told.

use core::fmt::Write as _;
use core::time::Duration;

use polypath_kernel::{Connection, Control, FlowState, Status, Subflow};
use polypath_mptcp::state::TcpState as Measured;
use polypath_units::millis as ms;
use serde_json::{Value, json};

use super::said;

/// An indented list: congestion controls, their connections, their subflows.
pub(super) fn text(status: &Status) -> String {
    if status.controls.is_empty() {
        return "nothing is loaded, and no connection of this network namespace uses any\n".into();
    }
    let mut text = String::new();
    for control in &status.controls {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}", heading(control));
        for connection in &control.connections {
            let _ = writeln!(text, "  {}", connection_line(connection));
            for (subflow, state) in &connection.subflows {
                let _ = writeln!(text, "    {}", subflow_line(subflow));
                let _ = writeln!(text, "      {}", state_line(*state));
            }
        }
    }
    text
}

fn heading(control: &Control) -> String {
    let name = control.row.kernel_name;
    let loaded = control.pinned.map_or_else(|| "not loaded any more".to_owned(), said::pinned);
    let here = control.connections.len();
    let elsewhere = match control.elsewhere {
        Some(0) | None => String::new(),
        Some(elsewhere) => format!("; in other network namespaces: {elsewhere} subflows"),
    };
    format!("{name}: {loaded}; connections in this network namespace: {here}{elsewhere}")
}

fn connection_line(connection: &Connection) -> String {
    let token = connection.token.map_or_else(String::new, |token| format!(" {token:08x}"));
    match (connection.is_multipath, connection.is_coupled()) {
        (false, _) => "TCP connection".to_owned(),
        (true, true) => format!("connection{token}, coupled"),
        (true, false) => format!("connection{token}"),
    }
}

fn subflow_line(subflow: &Subflow) -> String {
    let Subflow { state, measured, .. } = subflow;
    let Measured { window, mss, srtt, min_rtt, delivery_rate, pacing_rate, .. } = measured;
    let pacing = pacing_rate.map_or_else(|| "not limited".to_owned(), rate);
    format!(
        "{} -> {}  {state}  window {window} packets ({} bytes)  RTT {} (least {})  delivers {}  \
         pacing {pacing}",
        subflow.local(),
        subflow.remote(),
        u64::from(*window) * u64::from(*mss),
        millis(*srtt),
        millis(*min_rtt),
        rate(*delivery_rate),
    )
}

fn state_line(state: Option<FlowState>) -> String {
    let Some(state) = state else {
        return "no state of the congestion control".to_owned();
    };
    let FlowState { window, threshold, srtt, in_flight, in_recovery, usable } = state;
    let threshold =
        threshold.map_or_else(|| "none".to_owned(), |bytes| format!("{bytes:.0} bytes"));
    let recovery = if in_recovery { ", in recovery" } else { "" };
    let stale = if usable { "" } else { ", stale" };
    format!(
        "state: window {window:.1} bytes, threshold {threshold}, RTT {}, in flight {in_flight} \
         bytes{recovery}{stale}",
        millis(srtt),
    )
}

fn rate(bytes_per_second: u64) -> String {
    format!("{:.2} Mbit/s", mbit_s(bytes_per_second))
}

fn mbit_s(bytes_per_second: u64) -> f64 {
    bytes_per_second as f64 * 8.0 / 1e6
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", ms(time))
}

/// The same for programs.
pub(super) fn to_json(status: &Status) -> serde_json::Result<String> {
    let controls: Vec<_> = status.controls.iter().map(control_to_json).collect();
    let told = json!({ "of_this_network_namespace": true, "controls": controls });
    Ok(serde_json::to_string_pretty(&told)? + "\n")
}

fn control_to_json(control: &Control) -> Value {
    json!({
        "name": control.row.kind.name(),
        "kernel_name": control.row.kernel_name,
        "loaded": control.pinned.map(said::pinned_to_json),
        "subflows_in_other_network_namespaces": control.elsewhere,
        "connections_with_state": control.states,
        "connections": control.connections.iter().map(connection_to_json).collect::<Vec<_>>(),
    })
}

fn connection_to_json(connection: &Connection) -> Value {
    let subflows = connection.subflows.iter();
    json!({
        "token": connection.token.map(|token| format!("{token:08x}")),
        "multipath": connection.is_multipath,
        "coupled": connection.is_coupled(),
        "subflows": subflows.map(|(of, state)| subflow_to_json(of, *state)).collect::<Vec<_>>(),
    })
}

fn subflow_to_json(subflow: &Subflow, state: Option<FlowState>) -> Value {
    json!({
        "local": subflow.local(),
        "remote": subflow.remote(),
        "state": subflow.state.to_string(),
        "window_packets": subflow.measured.window,
        "window_bytes": u64::from(subflow.measured.window) * u64::from(subflow.measured.mss),
        "mss_bytes": subflow.measured.mss,
        "rtt_ms": ms(subflow.measured.srtt),
        "min_rtt_ms": ms(subflow.measured.min_rtt),
        "delivery_mbit_s": mbit_s(subflow.measured.delivery_rate),
        "pacing_mbit_s": subflow.measured.pacing_rate.map(mbit_s),
        "bytes_acked": subflow.measured.bytes_acked,
        "bytes_retransmitted": subflow.measured.bytes_retransmitted,
        "congestion_state": state.map(state_to_json),
    })
}

fn state_to_json(state: FlowState) -> Value {
    json!({
        "window_bytes": state.window,
        "threshold_bytes": state.threshold,
        "srtt_ms": ms(state.srtt),
        "in_flight_bytes": state.in_flight,
        "in_recovery": state.in_recovery,
        "usable": state.usable,
    })
}

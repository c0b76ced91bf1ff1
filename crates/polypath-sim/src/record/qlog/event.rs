//! Events of qlog (draft-ietf-quic-qlog-quic-events, as of qlog 0.3).

use super::exchange::{Kind, Sent};
use crate::record::events::EventKind;
use crate::tcp::{LossReason, PathMetrics, State};
use polypath_units::{Timestamp, millis};
use serde_json::{Value, json};

/// One event.
pub(super) fn event(at: Timestamp, name: &str, data: &Value) -> Value {
    json!({ "time": millis(at.since(Timestamp::ZERO)), "name": name, "data": data })
}

/// The data of `packet_sent` and `packet_received`.
pub(super) fn packet(number: usize, sent: &Sent) -> Value {
    let mut frames = Vec::new();
    if !sent.acked.is_empty() {
        let ranges: Vec<_> = sent.acked.iter().map(|&(from, to)| [from, to]).collect();
        frames.push(json!({ "frame_type": "ack", "acked_ranges": ranges }));
    }
    frames.extend(frame(sent.content.kind));
    json!({ "header": header(number), "raw": { "length": sent.bytes }, "frames": frames })
}

fn header(number: usize) -> Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

fn frame(kind: Kind) -> Option<Value> {
    Some(match kind {
        Kind::Handshake => json!({ "frame_type": "ping" }),
        Kind::Data { offset, len, ends } => json!({
            "frame_type": "stream", "stream_id": 0, "offset": offset, "length": len, "fin": ends,
        }),
        Kind::Datagram { len: 0 } => json!({ "frame_type": "ping" }),
        Kind::Datagram { len } => json!({ "frame_type": "datagram", "length": len }),
        Kind::Ack => return None,
        Kind::Reset => json!({
            "frame_type": "connection_close", "error_space": "transport", "error_code": 0,
        }),
    })
}

/// The data of `packet_lost`.
pub(super) fn lost(number: usize, reason: Option<LossReason>) -> Value {
    let mut data = json!({ "header": header(number) });
    let trigger = reason.map(|reason| match reason {
        LossReason::Time => "time_threshold",
        LossReason::SackedAbove | LossReason::DuplicateAcks | LossReason::PartialAck => {
            "reordering_threshold"
        }
        LossReason::Timeout => "pto_expired",
    });
    if let Some(trigger) = trigger {
        data["trigger"] = trigger.into();
    }
    data
}

/// The data of `metrics_updated`.
pub(super) fn metrics(metrics: &PathMetrics) -> Value {
    let mut data =
        json!({ "congestion_window": metrics.window, "bytes_in_flight": metrics.in_flight });
    if let Some(ssthresh) = metrics.ssthresh {
        data["ssthresh"] = ssthresh.into();
    }
    if let Some(rtt) = metrics.rtt {
        data["latest_rtt"] = millis(rtt.latest).into();
        data["min_rtt"] = millis(rtt.min).into();
        data["smoothed_rtt"] = millis(rtt.smoothed).into();
        data["rtt_variance"] = millis(rtt.variation).into();
    }
    data
}

/// The state of a QUIC connection that is most like one of TCP; `None` before there is one.
pub(super) const fn connection_state(state: State) -> Option<&'static str> {
    Some(match state {
        State::Listen => return None,
        State::SynSent => "attempted",
        State::SynReceived => "handshake_started",
        State::Established => "handshake_confirmed",
        State::FinWait1 | State::FinWait2 | State::CloseWait | State::Closing | State::LastAck => {
            "closing"
        }
        State::TimeWait => "draining",
        State::Closed => "closed",
    })
}

/// The name and data of an event that has no like in QUIC, in a name space of its own.
pub(super) fn own(kind: &EventKind) -> (String, Value) {
    let data = match *kind {
        EventKind::Reinjected { dsn, bytes } => json!({ "dsn": dsn, "length": bytes }),
        EventKind::Undone { reason, window } => {
            json!({ "reason": reason.name(), "congestion_window": window })
        }
        EventKind::TailLossRepaired { window } | EventKind::EcnReduction { window } => {
            json!({ "congestion_window": window })
        }
        _ => json!({}),
    };
    (format!("polypath:{}", kind.name()), data)
}

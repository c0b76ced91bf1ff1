//! The trace of one end of a path: its packets and its log, by time.

use super::event::{self, event};
use super::exchange::{Exchange, Received, Sent};
use crate::endpoint::{EndEvent, LogEntry};
use crate::record::events::EventKind;
use crate::tcp::{PathMetrics, TcpEvent};
use polypath_units::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What begins each record of a JSON text sequence (RFC 7464).
const RECORD_SEPARATOR: u8 = 0x1e;

/// Something that is to be written. At equal times what came is first, for the end reacts to it;
/// then what the end made of it, then what it sent.
#[derive(Clone, Copy, Debug)]
enum Item<'a> {
    Received(&'a Received),
    Logged(&'a LogEntry),
    Sent(usize, &'a Sent),
}

impl Item<'_> {
    const fn key(&self) -> (Timestamp, u8) {
        match self {
            Self::Received(received) => (received.at, 0),
            Self::Logged(entry) => (entry.time, 1),
            Self::Sent(_, sent) => (sent.at, 2),
        }
    }
}

/// Writes a trace as a JSON text sequence: a header and the events.
#[derive(Debug)]
pub(super) struct Trace<W> {
    out: W,
    /// The packet that carried each first byte last.
    carriers: BTreeMap<u64, usize>,
    metrics: Option<PathMetrics>,
    congestion: Option<&'static str>,
    connection: Option<&'static str>,
}

impl<W: Write> Trace<W> {
    /// A trace that begins with this header.
    pub(super) fn new(out: W, header: &Value) -> io::Result<Self> {
        let mut trace = Self {
            out,
            carriers: BTreeMap::new(),
            metrics: None,
            congestion: None,
            connection: None,
        };
        trace.record(header)?;
        Ok(trace)
    }

    /// Writes all of an end, and that is it.
    pub(super) fn write(
        mut self,
        exchange: &Exchange,
        end: usize,
        log: &[&LogEntry],
    ) -> io::Result<()> {
        let [own, peer] = [end, 1 - end].map(|end| &exchange.ends[end]);
        let mut items: Vec<_> = own.received.iter().map(Item::Received).collect();
        items.extend(log.iter().map(|entry| Item::Logged(entry)));
        items.extend(own.sent.iter().enumerate().map(|(number, sent)| Item::Sent(number, sent)));
        items.sort_by_key(Item::key);
        for item in items {
            match item {
                Item::Received(&Received { at, number }) => {
                    let data = event::packet(number, &peer.sent[number]);
                    self.event(at, "transport:packet_received", &data)?;
                }
                Item::Logged(entry) => self.logged(entry)?,
                Item::Sent(number, sent) => {
                    if sent.content.end > sent.content.first {
                        self.carriers.insert(sent.content.first, number);
                    }
                    let data = event::packet(number, sent);
                    self.event(sent.at, "transport:packet_sent", &data)?;
                }
            }
        }
        self.out.flush()
    }

    fn logged(&mut self, entry: &LogEntry) -> io::Result<()> {
        let at = entry.time;
        match entry.event {
            EndEvent::Tcp(TcpEvent::Acked { metrics, .. }) | EndEvent::PacketsAcked { metrics } => {
                self.metrics(at, metrics)
            }
            event => match EventKind::of(event) {
                Some(kind) => self.kind(at, &kind),
                // What was sent is known already.
                None => Ok(()),
            },
        }
    }

    fn kind(&mut self, at: Timestamp, kind: &EventKind) -> io::Result<()> {
        match *kind {
            EventKind::State(state) => self.connection_state(at, event::connection_state(state)),
            EventKind::Lost { number, reason, .. } => match self.carriers.get(&number) {
                Some(&number) => {
                    self.event(at, "recovery:packet_lost", &event::lost(number, reason))
                }
                None => Ok(()),
            },
            EventKind::Timeout { count } => {
                self.timer_expired(at)?;
                self.leave_recovery(at, "slow_start")?;
                self.event(at, "recovery:metrics_updated", &json!({ "pto_count": count }))
            }
            EventKind::TailLossProbe => self.timer_expired(at),
            EventKind::RecoveryEntered { window } => {
                self.window(at, window)?;
                self.congestion_state(at, Some("recovery"))
            }
            EventKind::RecoveryLeft { window } => {
                self.window(at, window)?;
                self.congestion_state(at, Some("congestion_avoidance"))
            }
            _ => {
                if matches!(kind, EventKind::Undone { .. }) {
                    self.leave_recovery(at, "congestion_avoidance")?;
                }
                let (name, data) = event::own(kind);
                self.event(at, &name, &data)
            }
        }
    }

    /// Windows and times after an acknowledgement, if they are others than before.
    fn metrics(&mut self, at: Timestamp, metrics: PathMetrics) -> io::Result<()> {
        if self.metrics != Some(metrics) {
            self.event(at, "recovery:metrics_updated", &event::metrics(&metrics))?;
        }
        self.metrics = Some(metrics);
        match (self.congestion, metrics.in_slow_start) {
            (Some("recovery"), _) => Ok(()),
            (_, true) => self.congestion_state(at, Some("slow_start")),
            (_, false) => self.congestion_state(at, Some("congestion_avoidance")),
        }
    }

    fn window(&mut self, at: Timestamp, window: u64) -> io::Result<()> {
        self.event(at, "recovery:metrics_updated", &json!({ "congestion_window": window }))
    }

    fn timer_expired(&mut self, at: Timestamp) -> io::Result<()> {
        let data = json!({ "timer_type": "pto", "event_type": "expired" });
        self.event(at, "recovery:loss_timer_updated", &data)
    }

    /// An episode of recovery, if there is one, ends otherwise than by its last acknowledgement.
    fn leave_recovery(&mut self, at: Timestamp, new: &'static str) -> io::Result<()> {
        let new = if self.congestion == Some("recovery") { Some(new) } else { self.congestion };
        self.congestion_state(at, new)
    }

    fn congestion_state(&mut self, at: Timestamp, new: Option<&'static str>) -> io::Result<()> {
        let old = std::mem::replace(&mut self.congestion, new);
        self.transition(at, "recovery:congestion_state_updated", old, new)
    }

    fn connection_state(&mut self, at: Timestamp, new: Option<&'static str>) -> io::Result<()> {
        let old = std::mem::replace(&mut self.connection, new);
        self.transition(at, "connectivity:connection_state_updated", old, new)
    }

    /// A state has become another, unless it is the same or there is none.
    fn transition(
        &mut self,
        at: Timestamp,
        name: &str,
        old: Option<&'static str>,
        new: Option<&'static str>,
    ) -> io::Result<()> {
        let Some(to) = new.filter(|_| old != new) else { return Ok(()) };
        let data = match old {
            Some(from) => json!({ "old": from, "new": to }),
            None => json!({ "new": to }),
        };
        self.event(at, name, &data)
    }

    fn event(&mut self, at: Timestamp, name: &str, data: &Value) -> io::Result<()> {
        self.record(&event(at, name, data))
    }

    fn record(&mut self, value: &Value) -> io::Result<()> {
        self.out.write_all(&[RECORD_SEPARATOR])?;
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }
}

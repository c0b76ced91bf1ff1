//! Acknowledgements that return another way: switches tell each other their allocations.
//!
//! Source: S4 section 3.2: about a tenth of the flows have their acknowledgements return over other
//! switches; a switch that sees none for long broadcasts the insertion of the flow, so that the one
//! on the return path can write feedback. S4 gives no messages. Those here are Polypath's own,
//! typed values; how they travel between switches that trust each other is the host's choice.
//!
//! All of this is soft state. A flow is announced to all neighbours once in each `T_ack` until one
//! has seen an acknowledgement; then to that one alone, every period, with the rate of the period.
//! What is not repeated expires, at either end.

use super::flow::Flow;
use super::hop::{Turns, Writer};
use super::{Class, Code, FlowKey, SwitchId, SwitchParameters};
use polypath_units::Timestamp;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// What switches tell each other. Flows are named in the direction of their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The acknowledgements of this flow do not pass here: write this rate into them.
    Announce {
        /// The flow.
        flow: FlowKey,
        /// Its allocation at the switch that tells.
        rate: Code,
        /// Its RTT: how often to write.
        rtt: Duration,
    },
    /// Acknowledgements of an announced flow pass here.
    Seen {
        /// The flow.
        flow: FlowKey,
    },
    /// The flow is gone.
    Withdraw {
        /// The flow.
        flow: FlowKey,
    },
}

/// A message to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// To whom.
    pub to: SwitchId,
    /// What.
    pub message: Message,
}

/// Messages that wait at most; the oldest go first. All of them are repeated.
const OUTBOX: usize = 65_536;

/// The neighbours of a switch, and the flows that they announced.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    ids: BTreeSet<SwitchId>,
    outbox: VecDeque<Outgoing>,
    announced: BTreeMap<(FlowKey, SwitchId), Announced>,
}

/// A flow of a neighbour.
#[derive(Clone, Copy, Debug)]
struct Announced {
    /// Bytes/s.
    rate: f64,
    rtt: Duration,
    heard_at: Timestamp,
    writer: Writer,
    /// Whether the neighbour knows since its last message that acknowledgements pass here.
    reported: bool,
}

impl Neighbours {
    pub(super) fn add(&mut self, id: SwitchId) {
        self.ids.insert(id);
    }

    pub(super) fn remove(&mut self, id: SwitchId) {
        self.ids.remove(&id);
        self.announced.retain(|&(_, owner), _| owner != id);
    }

    pub(super) fn knows(&self, id: SwitchId) -> bool {
        self.ids.contains(&id)
    }

    pub(super) fn poll(&mut self) -> Option<Outgoing> {
        self.outbox.pop_front()
    }

    pub(super) fn tell(&mut self, to: SwitchId, message: Message) {
        if self.outbox.len() >= OUTBOX {
            self.outbox.pop_front();
        }
        self.outbox.push_back(Outgoing { to, message });
    }

    pub(super) fn broadcast(&mut self, message: Message) {
        for to in self.ids.clone() {
            self.tell(to, message);
        }
    }

    /// A period of `flow` ended at `now`, and the next will last `period`: tells of it if its
    /// acknowledgements do not return here.
    pub(super) fn tell_of(
        &mut self,
        (now, period): (Timestamp, Duration),
        key: &FlowKey,
        flow: &mut Flow,
        parameters: &SwitchParameters,
    ) {
        let Some(since) = flow.sending_since.filter(|_| flow.is_active()) else { return };
        let rate = Code::encode(flow.allocated);
        if flow.class != Class::Brf || rate == Code::UNASSIGNED {
            return;
        }
        let rtt = flow.rtt.unwrap_or_else(|| parameters.unknown_rtt());
        let timeout = parameters.ack_timeout(parameters.period(rtt).max(period));
        let recent = |&at: &Timestamp| now - at <= timeout;
        let message = Message::Announce { flow: *key, rate, rtt };
        if let Some((via, _)) = flow.elsewhere.via.filter(|(_, at)| recent(at)) {
            return self.tell(via, message);
        }
        let lately = [Some(since), flow.acked_at, flow.elsewhere.asked_at];
        if !lately.iter().flatten().any(recent) {
            flow.elsewhere.asked_at = Some(now);
            self.broadcast(message);
        }
    }

    /// A neighbour announces a flow. One more than `parameters.flow_capacity` is not taken.
    pub(super) fn on_announce(
        &mut self,
        now: Timestamp,
        from: SwitchId,
        (flow, rate, rtt): (FlowKey, Code, Duration),
        parameters: &SwitchParameters,
    ) {
        let Some(rate) = rate.bytes_per_sec() else { return };
        let key = (flow, from);
        if !self.announced.contains_key(&key) && !self.has_room(now, parameters) {
            return;
        }
        let writer = self.announced.get(&key).map(|known| known.writer).unwrap_or_default();
        let news = Announced { rate, rtt, heard_at: now, writer, reported: false };
        self.announced.insert(key, news);
    }

    fn has_room(&mut self, now: Timestamp, parameters: &SwitchParameters) -> bool {
        if self.announced.len() >= parameters.flow_capacity {
            let lifetime = parameters.announcement_lifetime();
            self.announced.retain(|_, known| now - known.heard_at <= lifetime);
        }
        self.announced.len() < parameters.flow_capacity
    }

    pub(super) fn on_withdraw(&mut self, from: SwitchId, flow: FlowKey) {
        self.announced.remove(&(flow, from));
    }

    /// An acknowledgement of `flow` passes: writes what the neighbours announced.
    pub(super) fn write(
        &mut self,
        now: Timestamp,
        flow: FlowKey,
        mut code: Code,
        parameters: &SwitchParameters,
    ) -> Code {
        let lifetime = parameters.announcement_lifetime();
        let mut seen = Vec::new();
        let all = (flow, SwitchId(0))..=(flow, SwitchId(u32::MAX));
        for (&(_, owner), known) in self.announced.range_mut(all) {
            if now - known.heard_at > lifetime {
                continue;
            }
            code = known.writer.write(now, code, known.rate, turns(known.rtt, parameters));
            if !core::mem::replace(&mut known.reported, true) {
                seen.push(owner);
            }
        }
        for owner in seen {
            self.tell(owner, Message::Seen { flow });
        }
        code
    }
}

/// A flow's rate is written once in its RTT, but no less often than periods can be long.
pub(super) fn turns(rtt: Duration, parameters: &SwitchParameters) -> Turns {
    let interval = parameters.period(rtt).min(rtt.max(Duration::from_nanos(1)));
    Turns { interval, memory: parameters.active_window(interval) }
}

//! What has passed in a conversation, and in the flow that it has.

use std::collections::BTreeMap;

use polypath_bond::FlowCounters;
use polypath_ip::{Conversation, ConversationKey, ConversationTable, Direction, Membership};
use polypath_steering::FlowIndex;
use polypath_units::Timestamp;

use crate::conversations::{OrderCounts, PAGE, Top};

/// A conversation with what has passed in it.
#[derive(Debug)]
pub(super) struct Tallied<C> {
    pub(super) conversation: C,
    pub(super) tally: Tally,
}

/// What has passed in a conversation. Sent is what this end has sent to the other end of the bond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// From the edge's side.
    outward: Direction,
    begun: Timestamp,
    /// Since when it has its flow.
    in_flow: Timestamp,
    pub(super) sent: Passed,
    pub(super) received: Passed,
}

/// Packets of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) packets: u64,
    pub(super) bytes: u64,
}

impl Passed {
    /// A packet of so many bytes.
    pub(super) const fn count(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

impl Tally {
    /// That of a conversation whose first packet comes from the edge's side now.
    pub(super) fn begin(member: &Membership, now: Timestamp) -> Self {
        let (sent, received) = (Passed::default(), Passed::default());
        Self { outward: member.direction, begun: now, in_flow: now, sent, received }
    }

    /// It has another flow from now on.
    pub(super) const fn change_flow(&mut self, now: Timestamp) {
        self.in_flow = now;
    }

    const fn bytes(&self) -> u64 {
        self.sent.bytes + self.received.bytes
    }
}

/// What had become of the datagrams of each flow when a conversation has taken it up last.
#[derive(Debug, Default)]
pub(super) struct Before(BTreeMap<FlowIndex, FlowCounters>);

impl Before {
    /// A conversation takes a flow up, of whose datagrams this has become.
    pub(super) fn take_up(&mut self, flow: FlowIndex, counters: Option<FlowCounters>) {
        self.0.insert(flow, counters.unwrap_or_default());
    }
}

/// A conversation as it was met.
#[derive(Debug)]
pub(super) struct Met<T> {
    pub(super) key: ConversationKey,
    pub(super) tally: Tally,
    pub(super) used: Timestamp,
    pub(super) flow: FlowIndex,
    /// What had become of the datagrams of its flow when it took that up, if no other conversation
    /// has used it since.
    before: Option<FlowCounters>,
    /// What else its end knows of it.
    pub(super) more: T,
}

impl<T> Met<T> {
    /// What has become of the order of its packets, where this is known of its flow now.
    pub(super) fn order(&self, now: &FlowCounters) -> Option<OrderCounts> {
        let before = self.before?;
        Some(OrderCounts {
            reordered: now.reordered.saturating_sub(before.reordered),
            late: now.late.saturating_sub(before.late),
            lost: now.lost.saturating_sub(before.lost),
        })
    }

    /// Who is at the edge's side, and who at the hub's.
    pub(super) fn ends(&self) -> [polypath_ip::Endpoint; 2] {
        [self.key.source(self.tally.outward), self.key.destination(self.tally.outward)]
    }

    /// Seconds since it began, and since its last packet.
    pub(super) fn ages(&self, now: Timestamp) -> [f64; 2] {
        [self.tally.begun, self.used].map(|then| now.since(then).as_secs_f64())
    }
}

/// One look at all conversations of a table, page by page.
#[derive(Debug)]
pub(super) struct Look<T> {
    top: Top<Met<T>>,
    next: usize,
    /// When the two conversations of each flow that were used last were so.
    latest: BTreeMap<FlowIndex, [Timestamp; 2]>,
}

impl<T> Look<T> {
    /// For so many at most.
    pub(super) fn new(most: usize) -> Self {
        Self { top: Top::new(most), next: 0, latest: BTreeMap::new() }
    }

    /// Looks at the next page of the table; `view` says in which flow a conversation is, and what
    /// else is to be known of it, if it is wanted. Returns whether there are more pages.
    pub(super) fn page<C>(
        &mut self,
        table: &ConversationTable<Tallied<C>>,
        view: impl Fn(&C) -> (FlowIndex, Option<T>),
    ) -> bool {
        let end = self.next + PAGE;
        for known in table.in_places(self.next..end) {
            let Tallied { conversation, tally } = known.flow();
            let (flow, more) = view(conversation);
            self.note_use(flow, known);
            if let Some(more) = more {
                let met = || Met {
                    key: *known.key(),
                    tally: *tally,
                    used: known.last_packet(),
                    flow,
                    before: None,
                    more,
                };
                self.top.offer(tally.bytes(), met);
            }
        }
        self.next = end;
        end < table.places()
    }

    fn note_use<C>(&mut self, flow: FlowIndex, known: &Conversation<Tallied<C>>) {
        let used = known.last_packet();
        let [last, before] = self.latest.entry(flow).or_default();
        if used > *last {
            (*last, *before) = (used, *last);
        } else {
            *before = used.max(*before);
        }
    }

    /// Those of most bytes, and how many others there are.
    pub(super) fn finish(self, before: &Before) -> (Vec<(u64, Met<T>)>, usize) {
        let (mut kept, left_out) = self.top.finish();
        for (_, met) in &mut kept {
            // Another was used last, or as the second: before this one took the flow up?
            let [last, second] = self.latest.get(&met.flow).copied().unwrap_or_default();
            let other = if met.used == last { second } else { last };
            let is_alone = other < met.tally.in_flow;
            met.before = before.0.get(&met.flow).copied().filter(|_| is_alone);
        }
        (kept, left_out)
    }
}

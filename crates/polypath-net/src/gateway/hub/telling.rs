//! Conversations of edges that a hub tells of.

use std::sync::{Arc, PoisonError};

use polypath_bond::{FlowCounters, FlowStatus};
use polypath_steering::FlowIndex;
use tokio::task::yield_now;

use super::super::tally::Look;
use super::{HubGateway, Inner, Session};
use crate::conversations::{Conversation, Conversations, Top, Wanted};

impl HubGateway {
    /// Those conversations of edges that are wanted; by a rule none, which edges alone know.
    pub async fn conversations(&self, wanted: &Wanted) -> Conversations {
        if !wanted.has(None) {
            return Conversations::default();
        }
        let mut top = Top::new(wanted.most);
        for session in self.0.sessions() {
            let mut look = Look::new(wanted.most);
            while session.conversations().look(&mut look) {
                yield_now().await;
            }
            let (met, left_out) = session.conversations().met(look);
            top.leave_out(left_out);
            for (bytes, met) in met {
                top.offer(bytes, || (Arc::clone(&session), met));
            }
        }
        let (met, left_out) = top.finish();
        let told = met.into_iter().map(|(_, (session, met))| {
            let told = met.told(session.flow_status(met.flow), session.driver.now());
            Conversation { edge: Some(session.exit.client().to_string()), ..told }
        });
        Conversations { conversations: told.collect(), left_out }
    }
}

impl Inner {
    /// Each once, though it may have several networks.
    fn sessions(&self) -> Vec<Arc<Session>> {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        let mut each: Vec<_> = sessions.values().map(|(_, session)| Arc::clone(session)).collect();
        each.sort_by_key(Arc::as_ptr);
        each.dedup_by(|one, other| Arc::ptr_eq(one, other));
        each
    }
}

impl Session {
    /// What has become of the datagrams of a flow.
    pub(super) fn counters(&self, flow: FlowIndex) -> Option<FlowCounters> {
        let flow = self.flows().get(flow)?.id();
        self.driver.flow_counters(self.bond, flow)
    }

    fn flow_status(&self, flow: FlowIndex) -> Option<FlowStatus> {
        let flow = self.flows().get(flow)?.id();
        self.driver.flow_status(self.bond, flow)
    }
}

//! Conversations that an edge tells of.

use std::net::SocketAddr;

use polypath_bond::FlowStatus;
use polypath_ip::Endpoint;
use polypath_policy::Protocol;
use polypath_steering::FlowIndex;
use tokio::task::yield_now;

use super::super::tally::Look;
use super::{EdgeGateway, Session};
use crate::conversations::{Conversations, Wanted};
use crate::origin::{self, Ends};
use crate::proxy::Steering;

impl EdgeGateway {
    /// Those conversations in packets that are wanted; none while the hub is away.
    pub async fn conversations(&self, wanted: &Wanted) -> Conversations {
        match self.session() {
            Some(session) => session.conversations(wanted, &self.0.steering).await,
            None => Conversations::default(),
        }
    }
}

impl Session {
    /// Those conversations that are wanted. What is known of them beside their packets is added.
    async fn conversations(&self, wanted: &Wanted, steering: &Steering) -> Conversations {
        let mut look = Look::new(wanted.most);
        while self.state().conversations.look(&mut look, wanted) {
            yield_now().await;
        }
        let (met, left_out) = self.state().conversations.met(look);
        let mut told = Vec::with_capacity(met.len());
        for (_, met) in met {
            let mut conversation = met.told(self.flow_status(met.flow), self.driver.now());
            conversation.rule = met.more.as_deref().map(str::to_owned);
            let [source, destination] = met.ends();
            conversation.names = steering.names_of(destination.address);
            let before =
                ends(met.key.protocol(), source, destination).map(origin::source_of_packet);
            if let Some(Ok(Some(source))) = before {
                conversation.source = Some(source.to_string());
            }
            told.push(conversation);
            yield_now().await;
        }
        Conversations { conversations: told, left_out }
    }

    fn flow_status(&self, index: FlowIndex) -> Option<FlowStatus> {
        let flow = self.state().flows.get(index)?.id();
        self.driver.flow_status(self.bond, flow)
    }
}

/// Of a conversation whose protocol has ports.
fn ends(protocol: Protocol, source: Endpoint, destination: Endpoint) -> Option<Ends> {
    let socket = |end: Endpoint| Some(SocketAddr::new(end.address, end.port?));
    let (source, destination) = (socket(source)?, socket(destination)?);
    Some(Ends { protocol: protocol.number(), source, destination })
}

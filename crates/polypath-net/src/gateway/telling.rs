//! Conversations of a gateway, told.

use std::net::SocketAddr;

use polypath_bond::FlowStatus;
use polypath_ip::Endpoint;
use polypath_steering::steering_mode;
use polypath_units::Timestamp;

use super::tally::Met;
use crate::conversations::{Carried, Conversation};

impl<T> Met<T> {
    /// What is told of it, with what its flow says of itself, if that is still open. Who has it,
    /// its rule and its names are to be added.
    pub(super) fn told(&self, flow: Option<FlowStatus>, now: Timestamp) -> Conversation {
        let [source, destination] = self.ends().map(text);
        let [age_s, idle_s] = self.ages(now);
        let order = flow.as_ref().and_then(|flow| self.order(&flow.counters));
        let mode = flow.as_ref().map(|flow| steering_mode(flow.mode).name().to_owned());
        Conversation {
            carried: Carried::Packets,
            edge: None,
            protocol: self.key.protocol().to_string(),
            source: Some(source),
            destination,
            names: Vec::new(),
            rule: None,
            mode,
            may_take: flow.and_then(|flow| flow.paths),
            packets_sent: Some(self.tally.sent.packets),
            packets_received: Some(self.tally.received.packets),
            bytes_sent: self.tally.sent.bytes,
            bytes_received: self.tally.received.bytes,
            age_s,
            idle_s,
            order,
        }
    }
}

fn text(Endpoint { address, port }: Endpoint) -> String {
    match port {
        Some(port) => SocketAddr::new(address, port).to_string(),
        None => address.to_string(),
    }
}

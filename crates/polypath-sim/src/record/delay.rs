//! One-way delays of packets.

use super::series::PathKey;
use super::{End, Subject};
use crate::fabric::{EndpointId, Observer, Packet};
use crate::simulator::Simulator;
use crate::traffic::Delays;
use polypath_units::Timestamp;
use std::collections::BTreeMap;

/// Measures what packets take from the end that sends them to the one that gets them.
///
/// Give it to [`Fabric::observe`](crate::fabric::Fabric::observe), take it back with
/// `take_observer::<DelayObserver>()` at the end of the run.
#[derive(Debug)]
pub struct DelayObserver {
    connections: Vec<String>,
    /// By the number of the endpoint that receives; `None` for those that belong to nobody.
    receivers: Vec<Option<Receiver>>,
}

#[derive(Debug)]
struct Receiver {
    connection: usize,
    /// The end that sends.
    end: End,
    sender: EndpointId,
    /// By the number of the path.
    paths: BTreeMap<u8, Delays>,
}

/// The delays of what an end sent on a path: all packets, those without payload too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathDelay {
    /// The end and the path.
    pub key: PathKey,
    /// The delays of the packets that arrived.
    pub delays: Delays,
}

impl DelayObserver {
    /// An observer of the packets of these connections.
    pub fn new(subjects: &[Subject]) -> Self {
        let mut receivers = Vec::new();
        for (connection, subject) in subjects.iter().enumerate() {
            for end in End::BOTH {
                let [sender, to] = [end, end.other()].map(|end| subject.ends[end.index()]);
                if receivers.len() <= to.index() {
                    receivers.resize_with(to.index() + 1, || None);
                }
                receivers[to.index()] =
                    Some(Receiver { connection, end, sender, paths: BTreeMap::new() });
            }
        }
        let connections = subjects.iter().map(|subject| subject.name.clone()).collect();
        Self { connections, receivers }
    }

    /// What was measured, in the order of the connections. Ends that never sent any payload are
    /// left out.
    pub fn finish(self, simulator: &Simulator) -> Vec<PathDelay> {
        let mut all = Vec::new();
        for Receiver { connection, end, sender, paths } in self.receivers.into_iter().flatten() {
            let report = simulator.report(sender);
            if !report.has_sent() {
                continue;
            }
            for (path_id, delays) in paths {
                let path = report.paths.get(usize::from(path_id));
                let path = path.map(|path| path.name.clone()).unwrap_or_default();
                let connection_name = self.connections[connection].clone();
                let key = PathKey { connection: connection_name, end, path, path_id };
                all.push((connection, PathDelay { key, delays }));
            }
        }
        all.sort_by_key(|(connection, delay)| (*connection, delay.key.end, delay.key.path_id));
        all.into_iter().map(|(_, delay)| delay).collect()
    }
}

impl Observer for DelayObserver {
    fn on_delivered(&mut self, now: Timestamp, packet: &Packet, sent_at: Timestamp) {
        if let Some(Some(receiver)) = self.receivers.get_mut(packet.to.index()) {
            receiver.paths.entry(packet.path).or_default().add(now.since(sent_at));
        }
    }
}

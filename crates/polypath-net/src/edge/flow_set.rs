//! The flows of one association, as both of its ends have them (docs/tunnel.md, section 5).

use crate::proxy::{DatagramFlow, FlowError};
use crate::tunnel::{MAX_FLOWS, Target};
use bytes::Bytes;
use std::future::pending;
use std::sync::OnceLock;
use tokio::sync::Notify;

/// Which flow of an association, counted in the order in which both ends come to know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowIndex(usize);

impl FlowIndex {
    /// That of the request.
    pub(crate) const FIRST: Self = Self(0);
}

/// The flows of one association: the first, and those that are added while it lasts.
#[derive(Debug)]
pub(crate) struct FlowSet<F> {
    flows: [OnceLock<F>; MAX_FLOWS],
    added: Notify,
}

impl<F> FlowSet<F> {
    pub(crate) fn new(first: F) -> Self {
        let mut first = Some(first);
        // The first place is filled first.
        let place = |_| first.take().map_or_else(OnceLock::new, OnceLock::from);
        Self { flows: std::array::from_fn(place), added: Notify::new() }
    }

    /// Takes a further flow; gives it back where there are as many as an association may have.
    pub(crate) fn add(&self, mut flow: F) -> Result<FlowIndex, F> {
        for (at, place) in self.flows.iter().enumerate() {
            match place.set(flow) {
                Ok(()) => {
                    self.added.notify_waiters();
                    return Ok(FlowIndex(at));
                }
                Err(back) => flow = back,
            }
        }
        Err(flow)
    }

    pub(crate) fn get(&self, index: FlowIndex) -> Option<&F> {
        self.flows.get(index.0)?.get()
    }
}

impl<F: DatagramFlow> FlowSet<F> {
    /// Waits for the next datagram of any flow, also of those that are added meanwhile.
    /// Cancel-safe.
    pub(crate) async fn recv(&self) -> Result<(FlowIndex, Target, Bytes), FlowError> {
        loop {
            // Made before the flows are looked at, so that none is missed.
            let added = self.added.notified();
            tokio::select! {
                received = self.recv_by(FlowIndex(0)) => return received,
                received = self.recv_by(FlowIndex(1)) => return received,
                received = self.recv_by(FlowIndex(2)) => return received,
                received = self.recv_by(FlowIndex(3)) => return received,
                received = self.recv_by(FlowIndex(4)) => return received,
                received = self.recv_by(FlowIndex(5)) => return received,
                received = self.recv_by(FlowIndex(6)) => return received,
                received = self.recv_by(FlowIndex(7)) => return received,
                () = added => {}
            }
        }
    }

    async fn recv_by(&self, index: FlowIndex) -> Result<(FlowIndex, Target, Bytes), FlowError> {
        match self.get(index) {
            Some(flow) => flow.recv().await.map(|(target, payload)| (index, target, payload)),
            None => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use tokio::sync::{Mutex, mpsc};

    struct Queue(Mutex<mpsc::Receiver<u8>>);

    impl DatagramFlow for Queue {
        async fn send(&self, _: &Target, _: &[u8]) -> Result<(), FlowError> {
            Ok(())
        }

        async fn recv(&self) -> Result<(Target, Bytes), FlowError> {
            let byte = self.0.lock().await.recv().await.ok_or(FlowError::Closed)?;
            Ok(("192.0.2.1:1".parse().unwrap(), vec![byte].into()))
        }
    }

    fn queue() -> (mpsc::Sender<u8>, Queue) {
        let (sender, receiver) = mpsc::channel(8);
        (sender, Queue(Mutex::new(receiver)))
    }

    /// Each of as many as there may be.
    #[tokio::test]
    async fn a_flow_that_is_added_is_heard_by_who_waits_already() {
        let (_first, flow) = queue();
        let flows = FlowSet::new(flow);
        let mut received = pin!(flows.recv());
        let mut indices = vec![FlowIndex::FIRST];
        let mut senders = Vec::new();
        for number in 1..MAX_FLOWS {
            assert!(futures_util::poll!(&mut received).is_pending());
            let (sender, flow) = queue();
            let index = flows.add(flow).ok().unwrap();
            sender.send(number as u8).await.unwrap();
            let (from, _, payload) = received.as_mut().await.unwrap();
            assert_eq!((from, &payload[..]), (index, &[number as u8][..]));
            assert!(!indices.contains(&from), "{number}");
            indices.push(index);
            senders.push(sender);
            received.set(flows.recv());
        }
    }

    #[test]
    fn there_are_no_more_flows_than_an_association_may_have() {
        let flows = FlowSet::new(0);
        assert!((1..MAX_FLOWS).all(|flow| flows.add(flow).is_ok()));
        assert_eq!(flows.add(9), Err(9));
        assert_eq!(flows.get(FlowIndex::FIRST), Some(&0));
    }
}

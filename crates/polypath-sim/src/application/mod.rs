//! What uses the connections.

mod bulk;

pub use bulk::Bulk;

use crate::endpoint::Stream;
use crate::fabric::EndpointId;
use crate::simulator::{ApplicationId, Attached};
use core::any::Any;
use core::fmt::Debug;
use polypath_units::Timestamp;

/// Writes to streams and sees what comes out of them. It may use both ends of a connection: it
/// stands for the programs on both hosts.
pub trait Application: Any + Debug {
    /// It is [`due`](Self::next_due).
    fn on_due(&mut self, streams: &mut Streams<'_>);

    /// A stream has come as far as it was [watched](Streams::watch) for.
    fn on_progress(&mut self, endpoint: EndpointId, streams: &mut Streams<'_>);

    /// When to call [`Application::on_due`]; [`Timestamp::MAX`]: not before progress.
    fn next_due(&self) -> Timestamp;
}

/// The streams of a simulation, for an application to use.
#[derive(Debug)]
pub struct Streams<'a> {
    endpoints: &'a mut [Attached],
    application: ApplicationId,
    now: Timestamp,
    touched: Vec<EndpointId>,
}

impl<'a> Streams<'a> {
    pub(crate) fn new(
        endpoints: &'a mut [Attached],
        application: ApplicationId,
        now: Timestamp,
    ) -> Self {
        Self { endpoints, application, now, touched: Vec::new() }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// A stream to write to or to look at; `None` if the endpoint has none.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn get(&mut self, id: EndpointId) -> Option<&mut dyn Stream> {
        if !self.touched.contains(&id) {
            self.touched.push(id);
        }
        self.endpoints[id.index()].endpoint.stream()
    }

    /// Asks to be told once `id` has delivered `bytes` in order, counted from its beginning. A
    /// stream is watched by one application, for one number at a time.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn watch(&mut self, id: EndpointId, bytes: u64) {
        self.endpoints[id.index()].watch = Some((self.application, bytes));
    }

    pub(crate) fn into_touched(self) -> Vec<EndpointId> {
        self.touched
    }
}

//! The streams and datagrams that an application uses.

use crate::endpoint::{Datagrams, Endpoint, Stream};
use crate::engine::SourceId;
use crate::fabric::EndpointId;
use polypath_units::Timestamp;

/// An application, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationId(pub(crate) u32);

impl ApplicationId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An endpoint of a simulation, and who watches its stream.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(crate) endpoint: Box<dyn Endpoint>,
    pub(crate) source: SourceId,
    /// The application that is told of progress, and from how many delivered bytes on.
    pub(crate) watch: Option<(ApplicationId, u64)>,
    /// The application that is told of datagrams.
    pub(crate) takes_datagrams: Option<ApplicationId>,
    /// The endpoints whose streams it carries among its own.
    pub(crate) inner: Vec<EndpointId>,
}

/// The stream of an endpoint, wherever it is carried; `None` if it has none.
pub(crate) fn stream_of(endpoints: &mut [Attached], id: EndpointId) -> Option<&mut dyn Stream> {
    match endpoints[id.index()].endpoint.within() {
        Some((gateway, conversation)) => {
            endpoints[gateway.index()].endpoint.bond_end_mut()?.inner_stream(conversation)
        }
        None => endpoints[id.index()].endpoint.stream(),
    }
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
        self.touch(id);
        stream_of(self.endpoints, id)
    }

    /// The datagrams of an endpoint; `None` if it has none.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn datagrams(&mut self, id: EndpointId) -> Option<&mut dyn Datagrams> {
        self.touch(id).endpoint.datagrams()
    }

    /// Asks to be told from now on of the datagrams that come to an endpoint, which one application
    /// takes.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn await_datagrams(&mut self, id: EndpointId) {
        self.endpoints[id.index()].takes_datagrams = Some(self.application);
    }

    /// An endpoint that will act once the application is done; one within another is that one.
    fn touch(&mut self, id: EndpointId) -> &mut Attached {
        let within = self.endpoints[id.index()].endpoint.within();
        let id = within.map_or(id, |(gateway, _)| gateway);
        if !self.touched.contains(&id) {
            self.touched.push(id);
        }
        &mut self.endpoints[id.index()]
    }

    /// Lets small segments leave these ends at once, as programs that talk do.
    pub(super) fn set_no_delay<const N: usize>(&mut self, ends: [EndpointId; N]) {
        for end in ends {
            if let Some(stream) = self.get(end) {
                stream.set_no_delay();
            }
        }
    }

    /// Whether `id` has delivered `bytes` in order, counted from its beginning. If not, asks to be
    /// told once it has. A stream is watched by one application, for one number at a time: who
    /// waits for several begins with the smallest.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn watch(&mut self, id: EndpointId, bytes: u64) -> bool {
        let stream = stream_of(self.endpoints, id);
        let reached = stream.is_some_and(|stream| stream.delivered() >= bytes);
        self.endpoints[id.index()].watch = (!reached).then_some((self.application, bytes));
        reached
    }

    pub(crate) fn into_touched(self) -> Vec<EndpointId> {
        self.touched
    }
}

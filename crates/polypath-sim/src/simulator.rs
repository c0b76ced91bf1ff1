//! A network, its endpoints and applications, run through virtual time.

mod connect;

pub(crate) use connect::Gateway;

use crate::application::{Application, ApplicationId, Attached, FlowReport, Streams, stream_of};
use crate::endpoint::{Conversation, EndReport, Endpoint, GatewayRules, LogEntry};
use crate::engine::SourceId;
use crate::fabric::{Due, EndpointId, Fabric, Handed, Packet, RoutingFeedback, SwitchError};
use crate::tcp::LogDetail;
use crate::topology::{LinkId, Topology};
use core::any::Any;
use polypath_link::{ConfigError, RunSeed};
use polypath_units::Timestamp;

/// A simulation: a [`Fabric`] and what is attached to it.
///
/// Equal topologies, seeds and calls give equal runs. Nothing is global: any number of simulators
/// run side by side.
#[derive(Debug)]
pub struct Simulator {
    fabric: Fabric,
    endpoints: Vec<Attached>,
    applications: Vec<Running>,
    /// What each source of the agenda behind the links is.
    roles: Vec<Role>,
}

#[derive(Debug)]
struct Running {
    application: Box<dyn Application>,
    source: SourceId,
}

#[derive(Clone, Copy, Debug)]
enum Role {
    Endpoint(EndpointId),
    Application(ApplicationId),
    /// The switches of the network and their controller.
    Switches,
}

impl Simulator {
    /// A simulator of this network at time zero, with nothing attached.
    ///
    /// # Errors
    /// When a link's settings cannot be used.
    pub fn new(topology: &Topology, seed: RunSeed) -> Result<Self, ConfigError> {
        Ok(Self {
            fabric: Fabric::new(topology, seed)?,
            endpoints: Vec::new(),
            applications: Vec::new(),
            roles: Vec::new(),
        })
    }

    /// The network.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The network, to add routes and change links.
    pub fn fabric_mut(&mut self) -> &mut Fabric {
        &mut self.fabric
    }

    /// Makes nodes of the network switches that tell senders their rate ("brf"), watched by a
    /// controller; once, and before anything is sent.
    ///
    /// # Errors
    /// When a node or a link that leaves it is not fit for it.
    pub fn add_switches(
        &mut self,
        topology: &Topology,
        feedback: &RoutingFeedback,
    ) -> Result<(), SwitchError> {
        feedback.check(topology)?;
        self.fabric.add_switches(feedback, topology)?;
        self.roles.push(Role::Switches);
        Ok(())
    }

    /// The number that the next endpoint gets: two ends need each other's.
    pub(crate) fn next_endpoint(&self) -> EndpointId {
        EndpointId(self.endpoints.len() as u32)
    }

    /// Attaches an endpoint.
    pub fn attach(&mut self, endpoint: Box<dyn Endpoint>) -> EndpointId {
        let id = self.next_endpoint();
        let source = self.fabric.add_source();
        self.roles.push(Role::Endpoint(id));
        self.fabric.wake(source, endpoint.next_due());
        if let Some((gateway, _)) = endpoint.within() {
            self.endpoints[gateway.index()].inner.push(id);
        }
        self.endpoints.push(Attached {
            endpoint,
            source,
            watch: None,
            takes_datagrams: None,
            inner: Vec::new(),
        });
        id
    }

    /// Makes an end of a bond a gateway, by these rules; before anything goes through it. Other
    /// endpoints cannot be one.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn set_gateway(&mut self, id: EndpointId, rules: GatewayRules) {
        if let Some(end) = self.endpoints[id.index()].endpoint.bond_end_mut() {
            end.set_gateway(rules);
        }
    }

    /// A conversation goes through a gateway, the number of which is the `flow` of its packets.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn admit(&mut self, gateway: EndpointId, conversation: u32, kind: Conversation) {
        if let Some(end) = self.endpoints[gateway.index()].endpoint.bond_end_mut() {
            end.admit(conversation, kind);
        }
    }

    /// Adds an application.
    pub fn add_application(&mut self, application: Box<dyn Application>) -> ApplicationId {
        let id = ApplicationId(self.applications.len() as u32);
        let source = self.fabric.add_source();
        self.roles.push(Role::Application(id));
        self.fabric.wake(source, application.next_due());
        self.applications.push(Running { application, source });
        id
    }

    /// An endpoint of type `E`; `None` if it is of another.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn endpoint<E: Endpoint>(&self, id: EndpointId) -> Option<&E> {
        let endpoint: &dyn Any = self.endpoints[id.index()].endpoint.as_ref();
        endpoint.downcast_ref()
    }

    /// An application of type `A`; `None` if it is of another.
    ///
    /// # Panics
    /// If there is no such application.
    pub fn application<A: Application>(&self, id: ApplicationId) -> Option<&A> {
        let application: &dyn Any = self.applications[id.index()].application.as_ref();
        application.downcast_ref()
    }

    /// When an application ended and everything it had sent was there; `None`: not yet, or it
    /// never ends.
    ///
    /// # Panics
    /// If there is no such application.
    pub fn finished(&self, id: ApplicationId) -> Option<Timestamp> {
        self.applications[id.index()].application.finished()
    }

    /// What an application has seen so far.
    ///
    /// # Panics
    /// If there is no such application.
    pub fn flow_report(&self, id: ApplicationId) -> FlowReport {
        self.applications[id.index()].application.report(self.now())
    }

    /// What an endpoint has done so far.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn report(&self, id: EndpointId) -> EndReport {
        let endpoint = &self.endpoints[id.index()].endpoint;
        match endpoint.within() {
            Some((gateway, conversation)) => {
                let end = self.endpoints[gateway.index()].endpoint.bond_end();
                end.map(|end| end.inner_report(conversation)).unwrap_or_default()
            }
            None => endpoint.report(),
        }
    }

    /// Lets an endpoint keep a log from now on; to be called before it connects.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn keep_log(&mut self, id: EndpointId, detail: LogDetail) {
        self.endpoints[id.index()].endpoint.keep_log(detail);
    }

    /// The log of an endpoint, by time, as far as it was kept.
    ///
    /// # Panics
    /// If there is no such endpoint.
    pub fn log(&self, id: EndpointId) -> Vec<LogEntry> {
        self.endpoints[id.index()].endpoint.log()
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.fabric.now()
    }

    /// Runs all that happens until `limit`, and moves the clock there.
    pub fn run_until(&mut self, limit: Timestamp) {
        while let Some(due) = self.fabric.next(limit) {
            let next = match due {
                Due::Link(link) => self.run_link(link),
                Due::Source(source) => self.run_source(source),
            };
            self.fabric.done(due, next);
            while let Some(handed) = self.fabric.take_handed() {
                self.hand_over(handed);
            }
        }
    }

    fn run_link(&mut self, link: LinkId) -> Timestamp {
        while let Some(packet) = self.fabric.poll_link(link) {
            self.deliver(packet);
        }
        Timestamp::MAX
    }

    fn deliver(&mut self, packet: Packet) {
        let id = packet.to;
        let attached = &mut self.endpoints[id.index()];
        attached.endpoint.on_packet(packet, &mut self.fabric);
        self.fabric.wake(attached.source, attached.endpoint.next_due());
        self.tell_application(id);
    }

    /// A packet goes into a gateway, or comes out of one.
    fn hand_over(&mut self, handed: Handed) {
        let (gateway, packet) = match handed {
            Handed::In(gateway, packet) => (gateway, packet),
            Handed::Out(packet) => return self.deliver(packet),
        };
        let attached = &mut self.endpoints[gateway.index()];
        // Where there is no gateway, it is dropped.
        if let Some(end) = attached.endpoint.bond_end_mut() {
            end.forward(packet, &mut self.fabric);
        }
        self.fabric.wake(attached.source, attached.endpoint.next_due());
        self.tell_application(gateway);
    }

    /// Looks at what is due; returns when it wants to be looked at again.
    fn run_source(&mut self, source: SourceId) -> Timestamp {
        match self.roles[self.fabric.index_of(source)] {
            Role::Endpoint(id) => {
                self.endpoints[id.index()].endpoint.on_due(&mut self.fabric);
                self.tell_application(id);
                self.endpoints[id.index()].endpoint.next_due()
            }
            Role::Switches => self.fabric.run_switching(),
            Role::Application(id) => {
                self.run_application(id, None);
                self.applications[id.index()].application.next_due()
            }
        }
    }

    /// Tells the application that watches a stream, if it has come as far as it waits for, and the
    /// one that takes datagrams, if any have come.
    fn tell_application(&mut self, id: EndpointId) {
        let attached = &mut self.endpoints[id.index()];
        if let Some(application) = attached.takes_datagrams
            && attached.endpoint.datagrams().is_some_and(|datagrams| datagrams.has_arrived())
        {
            self.run_application(application, Some(id));
        }
        self.tell_of_progress(id);
        // What is watched there may be watched anew: the list stays as it is.
        for at in 0..self.endpoints[id.index()].inner.len() {
            self.tell_of_progress(self.endpoints[id.index()].inner[at]);
        }
    }

    fn tell_of_progress(&mut self, id: EndpointId) {
        let Some((application, from)) = self.endpoints[id.index()].watch else { return };
        let stream = stream_of(&mut self.endpoints, id);
        if stream.is_some_and(|stream| stream.delivered() >= from) {
            self.endpoints[id.index()].watch = None;
            self.run_application(application, Some(id));
        }
    }

    /// Lets an application act, and the streams that it touched send.
    fn run_application(&mut self, id: ApplicationId, progress: Option<EndpointId>) {
        let Running { application, source } = &mut self.applications[id.index()];
        let mut streams = Streams::new(&mut self.endpoints, id, self.fabric.now());
        match progress {
            Some(endpoint) => application.on_progress(endpoint, &mut streams),
            None => application.on_due(&mut streams),
        }
        self.fabric.wake(*source, application.next_due());
        for touched in streams.into_touched() {
            let attached = &mut self.endpoints[touched.index()];
            attached.endpoint.on_due(&mut self.fabric);
            self.fabric.wake(attached.source, attached.endpoint.next_due());
        }
    }
}

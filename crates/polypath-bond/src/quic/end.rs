//! A QUIC endpoint in memory with one connection, for tests: the other end of a handshake or a
//! node.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use noq_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Endpoint,
    EndpointConfig, Event, FourTuple, ServerConfig,
};

use crate::identity::SERVER_NAME;

/// Datagrams that noq may build at once. With fewer than one for each packet number space, noq
/// 1.4 never finishes the CONNECTION_CLOSE of a handshake and builds it again without end.
pub(crate) const BATCH: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// One end: its endpoint, its only connection, the events of that connection.
pub(crate) struct End {
    pub(crate) address: SocketAddr,
    pub(crate) endpoint: Endpoint,
    pub(crate) connection: Option<(ConnectionHandle, Connection)>,
    pub(crate) events: Vec<Event>,
}

impl End {
    pub(crate) fn new(address: SocketAddr, server: Option<ServerConfig>) -> Self {
        let config = Arc::new(EndpointConfig::default());
        let endpoint = Endpoint::new(config, server.map(Arc::new), false);
        Self { address, endpoint, connection: None, events: Vec::new() }
    }

    /// Begins its connection.
    pub(crate) fn connect(&mut self, now: Instant, config: ClientConfig, to: SocketAddr) {
        let connected = self.endpoint.connect(now, config, to, SERVER_NAME);
        self.connection = Some(connected.expect("the configuration is complete"));
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection.as_ref().expect("a connection was begun").1
    }

    pub(crate) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection.as_mut().expect("a connection was begun").1
    }

    pub(crate) fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        let mut reply = Vec::new();
        let path = FourTuple::from_remote(from);
        match self.endpoint.handle(now, path, None, BytesMut::from(datagram), &mut reply) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut reply, None);
                self.connection = Some(accepted.expect("nothing is wrong with the first packet"));
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection_mut().handle_event(event);
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Everything that this end wants to send now.
    pub(crate) fn transmit(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let Some((handle, connection)) = &mut self.connection else { return Vec::new() };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut datagrams = Vec::new();
        let mut buffer = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, BATCH, &mut buffer) {
            let segment = transmit.segment_size.unwrap_or(transmit.size);
            datagrams.extend(buffer.chunks(segment).map(<[u8]>::to_vec));
            buffer.clear();
        }
        self.events.extend(core::iter::from_fn(|| connection.poll()));
        datagrams
    }

    /// Why its connection is over.
    pub(crate) fn lost(&self) -> Option<&ConnectionError> {
        self.events.iter().find_map(|event| match event {
            Event::ConnectionLost { reason } => Some(reason),
            _ => None,
        })
    }

    /// Whether its handshake was completed.
    pub(crate) fn connected(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Connected))
    }
}

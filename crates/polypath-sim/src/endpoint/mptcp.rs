//! One end of a Multipath TCP connection.

use super::{EndEvent, EndReport, Endpoint, LogEntry, PathReport, Stream};
use crate::fabric::{Body, Ecn, EndpointId, Fabric, Packet, RouteId};
use crate::mptcp::{Connection, Output, SubflowStatus};
use crate::tcp::LogDetail;
use polypath_units::{PathId, Timestamp};

/// Bytes of a failure detector's message: an acknowledgement with 40 bytes of options.
const MESSAGE: u32 = 80;

/// One end of a Multipath TCP connection, with a subflow on each route.
#[derive(Debug)]
pub struct MptcpEnd {
    connection: Connection,
    peer: EndpointId,
    flow: u32,
    paths: Vec<(String, RouteId)>,
    /// When it connects; zero for one that listens.
    start: Timestamp,
    due: Timestamp,
}

impl MptcpEnd {
    /// An end that sends on `paths` to `peer` in the flows from `flow` on; it connects at `start`
    /// and is due first at `due`.
    pub(crate) fn new(
        connection: Connection,
        (peer, flow): (EndpointId, u32),
        paths: Vec<(String, RouteId)>,
        (start, due): (Timestamp, Timestamp),
    ) -> Self {
        Self { connection, peer, flow, paths, start, due }
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sends what may be sent now.
    fn transmit(&mut self, fabric: &mut Fabric) {
        while let Some(output) = self.connection.poll_transmit() {
            let (path, bytes, ecn, body) = match output {
                Output::Segment(path, segment) => {
                    let ecn = if segment.ect { Ecn::Capable } else { Ecn::NotCapable };
                    (path, segment.wire_bytes(), ecn, Body::Segment(segment))
                }
                Output::Message(path, message) => {
                    (path, MESSAGE, Ecn::NotCapable, Body::Message(Box::new(message)))
                }
            };
            let Some(&(_, route)) = self.paths.get(path.index()) else { continue };
            fabric.send(Packet {
                route,
                to: self.peer,
                path: path.get(),
                ecn,
                bytes,
                flow: self.flow + u32::from(path.get()),
                body,
            });
        }
        self.due = self.connection.next_timeout(fabric.now());
    }
}

impl Endpoint for MptcpEnd {
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric) {
        let (now, congested) = (fabric.now(), packet.ecn == Ecn::Congested);
        let Some(path) = PathId::new(packet.path) else { return };
        match packet.body {
            Body::Segment(segment) => self.connection.on_segment(now, path, &segment, congested),
            Body::Message(message) => self.connection.on_message(now, path, &message),
            _ => return,
        }
        self.transmit(fabric);
    }

    fn on_due(&mut self, fabric: &mut Fabric) {
        if fabric.now() < self.start {
            // The application writes before the connection is made.
            return;
        }
        self.connection.on_timeout(fabric.now());
        self.transmit(fabric);
    }

    fn next_due(&self) -> Timestamp {
        self.due
    }

    fn report(&self) -> EndReport {
        let path = |(status, (name, _)): (SubflowStatus, &(String, RouteId))| PathReport {
            sent_bytes: status.stats.bytes_sent,
            lost: status.stats.lost,
            retransmitted: status.stats.retransmissions,
            ..PathReport::of(name, self.connection.congestion(), status.path)
        };
        let counted = self.connection.subflows().map(|status| status.stats);
        let (mut segments, mut timeouts) = (0, 0);
        for stats in counted {
            segments += stats.segments_received - stats.duplicates_received;
            timeouts += stats.timeouts;
        }
        EndReport {
            delivered: self.connection.delivered(),
            segments_delivered: segments,
            reinjected_bytes: self.connection.reinjected_bytes(),
            timeouts,
            receive_buffered: self.connection.out_of_order(),
            out_of_order: self.connection.out_of_order(),
            paths: self.connection.subflows().zip(&self.paths).map(path).collect(),
        }
    }

    fn keep_log(&mut self, detail: LogDetail) {
        self.connection.keep_log(detail);
    }

    fn log(&self) -> Vec<LogEntry> {
        let entry = |&(time, (path, event)): &(_, _)| {
            let event = EndEvent::Path(event);
            LogEntry { time, path, event }
        };
        let mut entries: Vec<_> = self.connection.log().iter().map(entry).collect();
        for log in self.connection.subflow_logs() {
            entries.extend(LogEntry::of(log.path, log.events, EndEvent::Tcp));
            entries.extend(LogEntry::of(log.path, log.states, EndEvent::State));
        }
        entries.sort_by_key(|entry| entry.time);
        entries
    }

    fn stream(&mut self) -> Option<&mut dyn Stream> {
        Some(self)
    }
}

impl Stream for MptcpEnd {
    fn write(&mut self, bytes: u64) {
        self.connection.write(bytes);
    }

    fn withdraw(&mut self) -> u64 {
        self.connection.withdraw()
    }

    fn close(&mut self) {
        self.connection.close();
    }

    fn delivered(&self) -> u64 {
        self.connection.delivered()
    }

    fn is_finished(&self) -> bool {
        self.connection.peer_finished()
    }
}

//! One end of a plain TCP connection.

use super::tunnel::Tunnel;
use super::{EndEvent, EndReport, Endpoint, LogEntry, PathReport, Stream};
use crate::fabric::{Body, Ecn, EndpointId, Fabric, Packet, RouteId};
use crate::tcp::{LogDetail, Report, Segment, State, StateLog, TcpConfig, TcpConnection};
use polypath_core::congestion::CongestionConfig;
use polypath_units::Timestamp;

/// One end of a TCP connection, over one route or through a striping [`Tunnel`].
#[derive(Debug)]
pub struct TcpEnd {
    tcp: TcpConnection,
    peer: EndpointId,
    flow: u32,
    /// What its path is called.
    name: String,
    way: TcpWay,
    /// When it connects; zero for one that listens.
    start: Timestamp,
    due: Timestamp,
    states: StateLog,
}

/// How segments get to the other end.
#[derive(Debug)]
pub(crate) enum TcpWay {
    Route(RouteId),
    Tunnel(Box<Tunnel>),
}

/// The parameters of a TCP connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcpSettings {
    /// Of both ends.
    pub tcp: TcpConfig,
    /// Congestion control of both ends.
    pub congestion: CongestionConfig,
}

impl TcpEnd {
    /// An end that sends on `way`, called `name`, to `peer` in the flow `flow`; it connects at
    /// `start` and is due first at `due`.
    pub(crate) fn new(
        tcp: TcpConnection,
        (peer, flow): (EndpointId, u32),
        name: String,
        way: TcpWay,
        (start, due): (Timestamp, Timestamp),
    ) -> Self {
        Self { tcp, peer, flow, name, way, start, due, states: StateLog::default() }
    }

    /// The connection.
    pub fn tcp(&self) -> &TcpConnection {
        &self.tcp
    }

    /// Sends what may be sent now.
    fn transmit(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        while let Some(segment) = self.tcp.poll_transmit(now) {
            self.send(segment, fabric);
        }
        if self.states.is_kept() {
            self.note_state(now);
        }
        self.due = self.tcp.next_timeout();
        if let TcpWay::Tunnel(tunnel) = &self.way {
            self.due = self.due.min(tunnel.next_due());
        }
    }

    fn note_state(&mut self, now: Timestamp) {
        while let Some(report) = self.tcp.poll_report() {
            // An application that has closed by then makes the state be another at once.
            if report == Report::Established {
                self.states.note(now, State::Established);
            }
        }
        self.states.note(now, self.tcp.endpoint().state());
    }

    fn send(&mut self, segment: Segment, fabric: &mut Fabric) {
        let packet = |path, route, bytes, body| Packet {
            route,
            to: self.peer,
            path,
            ecn: if segment.ect { Ecn::Capable } else { Ecn::NotCapable },
            bytes,
            flow: self.flow,
            body,
        };
        match &mut self.way {
            TcpWay::Route(route) => {
                fabric.send(packet(0, *route, segment.wire_bytes(), Body::Segment(segment)));
            }
            TcpWay::Tunnel(tunnel) => {
                let now = fabric.now();
                for ((path, route), bytes, number) in tunnel.send(segment.wire_bytes(), now) {
                    let body = Body::Tunnelled { number, segment };
                    fabric.send(packet(path.get(), route, bytes, body));
                }
            }
        }
    }

    /// Hands on the segments that the tunnel holds no longer.
    fn leave_tunnel(&mut self, now: Timestamp) {
        let TcpWay::Tunnel(tunnel) = &mut self.way else { return };
        while let Some((segment, congested)) = tunnel.poll(now) {
            self.tcp.on_segment(now, &segment, congested);
        }
    }
}

impl Endpoint for TcpEnd {
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric) {
        let (now, congested) = (fabric.now(), packet.ecn == Ecn::Congested);
        match (packet.body, &mut self.way) {
            (Body::Segment(segment), _) => self.tcp.on_segment(now, &segment, congested),
            (Body::Tunnelled { number, segment }, TcpWay::Tunnel(tunnel)) => {
                tunnel.receive(number, segment, congested, now);
                self.leave_tunnel(now);
            }
            _ => return,
        }
        self.transmit(fabric);
    }

    fn on_due(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        if now < self.start {
            // The application writes before the connection is made.
            return;
        }
        self.leave_tunnel(now);
        if self.tcp.next_timeout() <= now {
            self.tcp.on_timeout(now);
        }
        self.transmit(fabric);
    }

    fn next_due(&self) -> Timestamp {
        self.due
    }

    fn report(&self) -> EndReport {
        let (end, congestion) = (self.tcp.endpoint(), self.tcp.congestion());
        let stats = end.stats();
        let path = PathReport {
            sent_bytes: stats.bytes_sent,
            lost: stats.lost,
            retransmitted: stats.retransmissions,
            ..PathReport::of(&self.name, congestion, end.path())
        };
        EndReport {
            delivered: end.delivered(),
            segments_delivered: stats.segments_received - stats.duplicates_received,
            reinjected_bytes: 0,
            timeouts: stats.timeouts,
            receive_buffered: end.unread() + end.out_of_order(),
            out_of_order: end.out_of_order(),
            paths: vec![path],
        }
    }

    fn keep_log(&mut self, detail: LogDetail) {
        self.tcp.keep_log(detail.max(self.tcp.endpoint().config().log));
        self.states.keep();
    }

    fn log(&self) -> Vec<LogEntry> {
        let end = self.tcp.endpoint();
        let mut entries: Vec<_> = LogEntry::of(end.path(), end.log(), EndEvent::Tcp).collect();
        entries.extend(LogEntry::of(end.path(), self.states.states(), EndEvent::State));
        entries.sort_by_key(|entry| entry.time);
        entries
    }

    fn stream(&mut self) -> Option<&mut dyn Stream> {
        Some(self)
    }
}

impl Stream for TcpEnd {
    fn write(&mut self, bytes: u64) {
        self.tcp.write(bytes);
    }

    fn withdraw(&mut self) -> u64 {
        self.tcp.withdraw()
    }

    fn set_no_delay(&mut self) {
        self.tcp.set_no_delay();
    }

    fn close(&mut self) {
        self.tcp.close();
    }

    fn delivered(&self) -> u64 {
        self.tcp.endpoint().delivered()
    }

    fn is_finished(&self) -> bool {
        self.tcp.endpoint().peer_finished()
    }
}

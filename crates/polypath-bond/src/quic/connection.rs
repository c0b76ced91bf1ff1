//! A QUIC connection as the carrier of a path.

use super::long_header::long_packets;
use super::recorder::Record;
use super::{Exchange, Recorder};
use crate::bond::{Bond, PathSettings};
use crate::codec::ALPN_FEEDBACK;
use crate::identity::application_protocol;
use crate::path::Payload;
use bytes::Bytes;
use noq_proto::{Connection, ConnectionEvent};
use polypath_brf::{Code, FeedbackHeader, PathFeedback};
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// What every path carries of a datagram at least (docs/protocol.md, 2.1). The library says the
/// smaller one of two: what the peer takes of a frame, 1,200 bytes at least, less 9 of the frame's
/// header; and what fits a packet, which is of 1,200 bytes before larger ones are known to pass,
/// less those 9 and 41 of the packet (1 of flags, a connection id of up to 20, 4 of number, 16 of
/// tag).
const LEAST_DATAGRAM: usize = 1_200 - 9 - 41;

/// A datagram in the connection's queue.
#[derive(Debug)]
struct Queued {
    payload: Payload,
    len: usize,
}

/// One QUIC connection, what it carries for the bond, and the join exchange on it.
#[derive(Debug)]
pub(crate) struct QuicPath {
    pub(crate) connection: Connection,
    pub(crate) exchange: Exchange,
    pub(crate) feedback: PathFeedback,
    recorder: Recorder,
    records: Vec<Record>,
    queued: VecDeque<Queued>,
    /// Room of the connection's empty datagram queue, in bytes.
    empty_space: usize,
    epoch: Instant,
    is_defunct: bool,
}

impl QuicPath {
    pub(crate) fn new(mut connection: Connection, recorder: Recorder, epoch: Instant) -> Self {
        let empty_space = connection.datagrams().send_buffer_space();
        Self {
            connection,
            exchange: Exchange::default(),
            feedback: PathFeedback::default(),
            recorder,
            records: Vec::new(),
            queued: VecDeque::new(),
            empty_space,
            epoch,
            is_defunct: false,
        }
    }

    /// The handshake is complete.
    pub(crate) fn on_connected(&mut self) {
        if application_protocol(&self.connection).is_some_and(|name| name == ALPN_FEEDBACK) {
            self.feedback.agree();
        }
    }

    /// Hands what came to the connection. Returns what switches have written into its header, if
    /// the peer has sent what is behind it: a packet that decrypts, for the first time. Who only
    /// watches the path cannot make that.
    pub(crate) fn handle_event(
        &mut self,
        event: ConnectionEvent,
        header: Option<FeedbackHeader>,
    ) -> Option<Code> {
        let Some(header) = header.filter(|header| self.feedback.is_news(header)) else {
            self.connection.handle_event(event);
            return None;
        };
        let before = self.connection.stats().frame_rx;
        self.connection.handle_event(event);
        let is_peers = self.connection.stats().frame_rx != before;
        is_peers.then(|| self.feedback.on_header(&header)).flatten()
    }

    /// Where what is sent goes; `None` once the connection has ended.
    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        let tuple = self.connection.network_path(noq_proto::PathId::ZERO).ok()?;
        Some(tuple.remote())
    }

    /// Largest datagram that a packet carries now.
    pub(crate) fn max_datagram(&mut self) -> usize {
        self.connection.datagrams().max_size().unwrap_or(0)
    }

    /// Whether the peer takes datagrams as large as the protocol demands.
    pub(crate) fn takes_datagrams(&mut self) -> bool {
        self.max_datagram() >= LEAST_DATAGRAM
    }

    /// Takes back datagrams that the connection dropped in silence because its MTU has shrunk.
    fn take_dropped(&mut self) -> Vec<Payload> {
        let held: usize = self.queued.iter().map(|queued| queued.len).sum();
        if held + self.connection.datagrams().send_buffer_space() <= self.empty_space {
            return Vec::new();
        }
        let max = self.max_datagram();
        let (kept, dropped): (Vec<_>, Vec<_>) = self.queued.drain(..).partition(|q| q.len < max);
        self.queued = kept.into();
        dropped.into_iter().map(|queued| queued.payload).collect()
    }

    /// What the bond must know of the path.
    pub(crate) fn settings(&mut self, name: String, backup: bool, weight: f64) -> PathSettings {
        let max_datagram = self.max_datagram();
        let mtu = usize::from(self.connection.current_mtu());
        let packet_overhead = mtu.saturating_sub(max_datagram);
        let rtt = self.connection.rtt(noq_proto::PathId::ZERO);
        PathSettings { name, backup, weight, max_datagram, packet_overhead, rtt }
    }

    /// Queues a datagram of the bond. A datagram that the connection refuses (its MTU has just
    /// shrunk) is handed back.
    pub(crate) fn queue(&mut self, datagram: Bytes, payload: Payload) -> Result<(), Box<Payload>> {
        let len = datagram.len();
        match self.connection.datagrams().send(datagram, false) {
            Ok(()) => {
                self.queued.push_back(Queued { payload, len });
                Ok(())
            }
            Err(_) => Err(Box::new(payload)),
        }
    }

    /// How many packets one transmit may hold, so that each packet's datagram can be told: several
    /// only while every queued datagram fills its packet.
    ///
    /// Without datagrams there is nothing to tell apart. The library then needs room for the three
    /// packets of a close during the handshake: with less it builds them again without end.
    fn batch(&self, max: NonZeroUsize) -> NonZeroUsize {
        const HANDSHAKE_CLOSE: NonZeroUsize = NonZeroUsize::new(3).expect("3 is not zero");
        let Some(queued) = NonZeroUsize::new(self.queued.len()) else {
            return max.max(HANDSHAKE_CLOSE);
        };
        let half = usize::from(self.connection.current_mtu()) / 2;
        let all_full = self.queued.iter().take(max.get()).all(|queued| queued.len > half);
        if all_full { queued.min(max) } else { NonZeroUsize::MIN }
    }

    /// Builds the next transmit into `buf` and tells the bond which packets carry which datagrams.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Timestamp,
        max: NonZeroUsize,
        buf: &mut Vec<u8>,
        mut bond: Option<(&mut Bond, PathId)>,
    ) -> Option<noq_proto::Transmit> {
        let instant = self.instant(now);
        for payload in self.take_dropped() {
            if let Some((bond, path)) = &mut bond {
                bond.on_too_large(*path, payload, now);
            }
        }
        let mtu = usize::from(self.connection.current_mtu());
        let space = self.connection.datagrams().send_buffer_space();
        if self.connection.is_closed() {
            // What was queued will not be sent.
            self.queued.clear();
        }
        let mut transmit = self.build(instant, max, buf)?;
        let left = self.connection.datagrams().send_buffer_space();
        let taken = self.take_queued(left.saturating_sub(space));
        let segment = transmit.segment_size.unwrap_or(transmit.size).max(1);
        let handshake = buf[..transmit.size].chunks(segment).flat_map(long_packets).collect();
        self.put_headers(taken.iter().any(|queued| queued.payload.is_data()), &mut transmit, buf);
        self.report_sent(taken, handshake, mtu, bond, now);
        Some(transmit)
    }

    /// Puts a header in front of each datagram of a transmit, once both ends have agreed on that.
    fn put_headers(&mut self, data: bool, transmit: &mut noq_proto::Transmit, buf: &mut Vec<u8>) {
        if !self.feedback.is_agreed() {
            return;
        }
        let closes = self.connection.is_closed();
        let segment = transmit.segment_size.unwrap_or(transmit.size).max(1);
        let count = transmit.size.div_ceil(segment);
        let room = transmit.size + count * FeedbackHeader::SIZE;
        let packets = std::mem::replace(buf, Vec::with_capacity(room));
        for packet in packets[..transmit.size].chunks(segment) {
            if let Some(header) = self.feedback.next_header(data) {
                FeedbackHeader { closes, ..header }.encode(buf);
            }
            buf.extend_from_slice(packet);
        }
        transmit.size = buf.len();
        transmit.segment_size = transmit.segment_size.map(|size| size + FeedbackHeader::SIZE);
    }

    /// Lets the connection build a transmit.
    ///
    /// The library (noq-proto 1.4.0) can panic here when frames of an early packet do not fit:
    /// loss and address changes at the wrong moment are enough. That must end one connection, not
    /// the process: the connection is never touched again.
    fn build(
        &mut self,
        instant: Instant,
        max: NonZeroUsize,
        buf: &mut Vec<u8>,
    ) -> Option<noq_proto::Transmit> {
        if self.is_defunct {
            return None;
        }
        let batch = self.batch(max);
        let connection = &mut self.connection;
        let build = AssertUnwindSafe(|| connection.poll_transmit(instant, batch, buf));
        catch_unwind(build).unwrap_or_else(|_| {
            self.is_defunct = true;
            None
        })
    }

    /// Whether the library failed: the connection must be dropped.
    pub(crate) fn is_defunct(&self) -> bool {
        self.is_defunct
    }

    /// The datagrams that left the connection's queue: as many as `bytes` of payload.
    fn take_queued(&mut self, mut bytes: usize) -> VecDeque<Queued> {
        let mut taken = VecDeque::new();
        while let Some(first) = self.queued.front() {
            if first.len > bytes {
                break;
            }
            bytes -= first.len;
            taken.extend(self.queued.pop_front());
        }
        taken
    }

    fn report_sent(
        &mut self,
        mut taken: VecDeque<Queued>,
        mut handshake: Vec<usize>,
        mtu: usize,
        bond: Option<(&mut Bond, PathId)>,
        now: Timestamp,
    ) {
        let mut records = std::mem::take(&mut self.records);
        self.recorder.take(&mut records);
        // Those of the handshake come first, some of which only acknowledge and are not recorded.
        records.retain(|record| {
            let at = handshake.iter().position(|&length| record.is_packet_of(length));
            handshake.drain(..at.map_or(0, |at| at + 1));
            at.is_none()
        });
        // Probes for a larger MTU are not reported when they are lost, and their loss says nothing
        // of congestion (RFC 9000 section 14.4): the bond does not count them.
        records.retain(|r| !matches!(r, Record::Sent { bytes, .. } if *bytes as usize > mtu));
        if let Some((bond, path)) = bond {
            let packets = records.iter().filter(|r| matches!(r, Record::Sent { .. })).count();
            for record in &records {
                if let Record::Sent { number, bytes } = *record {
                    let payload = carried(&mut taken, bytes as usize, packets == 1);
                    bond.on_packet_sent(path, number, bytes, payload, now);
                } else {
                    report(bond, path, record, self.epoch, now);
                }
            }
            // In which packet these left cannot be told: to send them again costs less than to wait
            // for a loss that is never reported.
            taken.into_iter().for_each(|queued| bond.on_unsent(path, &queued.payload, now));
        }
        records.clear();
        self.records = records;
    }

    /// Tells the bond what the connection has learned of its packets.
    pub(crate) fn report(&mut self, bond: Option<(&mut Bond, PathId)>, now: Timestamp) {
        let mut records = std::mem::take(&mut self.records);
        self.recorder.take(&mut records);
        if let Some((bond, path)) = bond {
            if records.contains(&Record::Mtu) {
                bond.set_max_datagram(path, self.max_datagram());
            }
            records.iter().for_each(|record| report(bond, path, record, self.epoch, now));
        }
        records.clear();
        self.records = records;
    }

    /// The library's clock at `now`.
    pub(crate) fn instant(&self, now: Timestamp) -> Instant {
        instant(self.epoch, now)
    }
}

/// The library's clock at `now`.
fn instant(epoch: Instant, now: Timestamp) -> Instant {
    epoch + now.since(Timestamp::ZERO)
}

/// Our clock at the library's `instant`.
fn timestamp(epoch: Instant, instant: Instant) -> Timestamp {
    Timestamp::ZERO + instant.saturating_duration_since(epoch)
}

/// What a packet of `bytes` carries: all that was taken if it is the only one, else the next
/// datagram if it can hold it.
fn carried(taken: &mut VecDeque<Queued>, bytes: usize, only: bool) -> Payload {
    if only {
        let all = taken.drain(..).map(|queued| queued.payload);
        return all.reduce(Payload::merge).unwrap_or_default();
    }
    match taken.front() {
        Some(next) if next.len < bytes => taken.pop_front().map(|q| q.payload).unwrap_or_default(),
        _ => Payload::default(),
    }
}

fn report(bond: &mut Bond, path: PathId, record: &Record, epoch: Instant, now: Timestamp) {
    match *record {
        Record::Sent { number, bytes } => {
            bond.on_packet_sent(path, number, bytes, Payload::default(), now);
        }
        Record::Acked { number } => bond.on_packet_acked(path, number, now),
        Record::AcksEnd => bond.on_acks_end(path, now),
        Record::Lost { number } => bond.on_packet_lost(path, number, now),
        Record::LossesEnd { newest_sent } => {
            bond.on_losses_end(path, timestamp(epoch, newest_sent), now);
        }
        Record::Marked { newest_sent } => {
            bond.on_congestion_marks(path, timestamp(epoch, newest_sent), now);
        }
        Record::Spurious => bond.on_spurious_losses(path),
        Record::Forgotten => bond.on_packets_forgotten(path),
        Record::Mtu => {}
    }
}

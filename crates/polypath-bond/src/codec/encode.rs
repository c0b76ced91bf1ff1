//! Frames to bytes.

use super::frame::{MAX_ACK_RANGES, MAX_SILENCE, wire};
use super::varint::{put_varint, varint_size};
use super::{AckFrame, DatagramFrame, FlowId, FragmentFrame, Frame, StreamFrame, StreamId};
use bytes::{BufMut, BytesMut};
use polypath_core::failure::{Query, SuspicionReport};
use std::ops::Range;

/// Every frame type fits one byte.
const TYPE_SIZE: usize = 1;

/// Appends the header of a STREAM frame; the caller appends the data.
///
/// `len` is the length of the data; `None` if they fill the payload to its end, which only the last
/// frame can. See [`stream_header_size`].
pub(crate) fn encode_stream_header(
    buf: &mut BytesMut,
    dsn: u64,
    id: StreamId,
    offset: u64,
    fin: bool,
    len: Option<usize>,
) {
    let fin = if fin { wire::FIN } else { 0 };
    buf.put_u8(wire::STREAM | fin | length_flag(len));
    put_varint(buf, dsn);
    put_varint(buf, id.0);
    put_varint(buf, offset);
    put_length(buf, len);
}

/// How many bytes [`encode_stream_header`] appends.
pub(crate) const fn stream_header_size(
    dsn: u64,
    id: StreamId,
    offset: u64,
    len: Option<usize>,
) -> usize {
    TYPE_SIZE + varint_size(dsn) + varint_size(id.0) + varint_size(offset) + length_size(len)
}

/// Appends the header of a DATAGRAM frame; the caller appends the data.
///
/// `len` as in [`encode_stream_header`].
fn encode_datagram_header(buf: &mut BytesMut, flow: FlowId, seq: u64, len: Option<usize>) {
    buf.put_u8(wire::DATAGRAM | length_flag(len));
    put_varint(buf, flow.0);
    put_varint(buf, seq);
    put_length(buf, len);
}

/// How many bytes [`encode_datagram_header`] appends.
pub(crate) const fn datagram_header_size(flow: FlowId, seq: u64, len: Option<usize>) -> usize {
    TYPE_SIZE + varint_size(flow.0) + varint_size(seq) + length_size(len)
}

/// How many bytes a FRAGMENT frame without a length has before its data.
pub(crate) const fn fragment_header_size(
    flow: FlowId,
    seq: u64,
    total: usize,
    offset: usize,
) -> usize {
    let place = varint_size(total as u64) + varint_size(offset as u64);
    datagram_header_size(flow, seq, None) + place
}

const fn length_flag(len: Option<usize>) -> u8 {
    if len.is_some() { wire::LENGTH } else { 0 }
}

const fn length_size(len: Option<usize>) -> usize {
    match len {
        Some(len) => varint_size(len as u64),
        None => 0,
    }
}

fn put_length(buf: &mut BytesMut, len: Option<usize>) {
    if let Some(len) = len {
        put_varint(buf, len as u64);
    }
}

impl Frame {
    /// Appends the frame. With `last`, data run to the end of the payload without a length, and
    /// nothing may be appended behind them.
    ///
    /// # Panics
    ///
    /// If an integer is above 2^62 - 1, the largest QUIC varint, or the ranges of an ACK are not
    /// ascending with a gap before each.
    pub fn encode(&self, buf: &mut BytesMut, last: bool) {
        match self {
            Self::Padding => buf.put_u8(wire::PADDING),
            Self::Stream(frame) => frame.encode(buf, last),
            Self::Skip { dsn, len } => put_fields(buf, wire::SKIP, &[*dsn, *len]),
            Self::Datagram(frame) => frame.encode(buf, last),
            Self::Fragment(frame) => frame.encode(buf, last),
            Self::Ack(frame) => frame.encode(buf),
            Self::Control { seq, message } => {
                put_fields(buf, wire::CONTROL, &[*seq]);
                message.encode(buf);
            }
            Self::Ping { id } => put_fields(buf, wire::PING, &[*id]),
            Self::Pong { id } => put_fields(buf, wire::PONG, &[*id]),
            Self::PathSuspect(report) => encode_report(report, buf),
            Self::PathQuery(query) => encode_query(*query, buf),
        }
    }

    /// How many bytes [`Frame::encode`] appends.
    pub fn encoded_size(&self, last: bool) -> usize {
        match self {
            Self::Padding => TYPE_SIZE,
            Self::Stream(frame) => frame.encoded_size(last),
            Self::Skip { dsn, len } => TYPE_SIZE + varint_size(*dsn) + varint_size(*len),
            Self::Datagram(frame) => frame.encoded_size(last),
            Self::Fragment(frame) => frame.encoded_size(last),
            Self::Ack(frame) => frame.encoded_size(),
            Self::Control { seq, message } => {
                TYPE_SIZE + varint_size(*seq) + message.encoded_size()
            }
            Self::Ping { id } | Self::Pong { id } => TYPE_SIZE + varint_size(*id),
            Self::PathSuspect(report) => report_size(report),
            Self::PathQuery(query) => query_size(*query),
        }
    }
}

impl StreamFrame {
    fn length(&self, last: bool) -> Option<usize> {
        (!last).then_some(self.data.len())
    }

    fn encode(&self, buf: &mut BytesMut, last: bool) {
        encode_stream_header(buf, self.dsn, self.id, self.offset, self.fin, self.length(last));
        buf.put_slice(&self.data);
    }

    fn encoded_size(&self, last: bool) -> usize {
        stream_header_size(self.dsn, self.id, self.offset, self.length(last)) + self.data.len()
    }
}

impl DatagramFrame {
    fn length(&self, last: bool) -> Option<usize> {
        (!last).then_some(self.data.len())
    }

    fn encode(&self, buf: &mut BytesMut, last: bool) {
        encode_datagram_header(buf, self.flow, self.seq, self.length(last));
        buf.put_slice(&self.data);
    }

    fn encoded_size(&self, last: bool) -> usize {
        datagram_header_size(self.flow, self.seq, self.length(last)) + self.data.len()
    }
}

impl FragmentFrame {
    fn length(&self, last: bool) -> Option<usize> {
        (!last).then_some(self.data.len())
    }

    fn encode(&self, buf: &mut BytesMut, last: bool) {
        let place = [self.flow.0, self.seq, self.total as u64, self.offset as u64];
        let len = self.length(last);
        put_fields(buf, wire::FRAGMENT | length_flag(len), &place);
        put_length(buf, len);
        buf.put_slice(&self.data);
    }

    fn encoded_size(&self, last: bool) -> usize {
        fragment_header_size(self.flow, self.seq, self.total, self.offset)
            + length_size(self.length(last))
            + self.data.len()
    }
}

impl AckFrame {
    fn encode(&self, buf: &mut BytesMut) {
        put_fields(buf, wire::ACK, &[self.rcv_nxt, self.window]);
        put_ranges(buf, self.rcv_nxt, &self.ranges);
        put_varint(buf, self.control_nxt);
        put_ranges(buf, self.control_nxt, &self.control_ranges);
        put_varint(buf, self.arrivals.len() as u64);
        for arrival in &self.arrivals {
            put_varint(buf, arrival.path.get().into());
            put_varint(buf, arrival.bytes);
        }
    }

    fn encoded_size(&self) -> usize {
        let arrivals: usize = self.arrivals.iter().map(|a| 1 + varint_size(a.bytes)).sum();
        TYPE_SIZE
            + varint_size(self.rcv_nxt)
            + varint_size(self.window)
            + ranges_size(self.rcv_nxt, &self.ranges)
            + varint_size(self.control_nxt)
            + ranges_size(self.control_nxt, &self.control_ranges)
            + varint_size(self.arrivals.len() as u64)
            + arrivals
    }
}

/// A range as the wire tells it: numbers missing before it less one, numbers in it less one.
fn range_fields(before: u64, ranges: &[Range<u64>]) -> impl Iterator<Item = (u64, u64)> {
    ranges.iter().take(MAX_ACK_RANGES).scan(before, |before, range| {
        assert!(range.start > *before && range.end > range.start, "ACK ranges out of order");
        let fields = (range.start - *before - 1, range.end - range.start - 1);
        *before = range.end;
        Some(fields)
    })
}

fn put_ranges(buf: &mut BytesMut, before: u64, ranges: &[Range<u64>]) {
    put_varint(buf, ranges.len().min(MAX_ACK_RANGES) as u64);
    for (gap, len) in range_fields(before, ranges) {
        put_varint(buf, gap);
        put_varint(buf, len);
    }
}

fn ranges_size(before: u64, ranges: &[Range<u64>]) -> usize {
    let fields = range_fields(before, ranges);
    let ranges_bytes: usize = fields.map(|(gap, len)| varint_size(gap) + varint_size(len)).sum();
    varint_size(ranges.len().min(MAX_ACK_RANGES) as u64) + ranges_bytes
}

fn encode_report(report: &SuspicionReport, buf: &mut BytesMut) {
    let SuspicionReport { query, rcv_nxt, max_end, window, suspects } = report;
    put_fields(buf, wire::PATH_SUSPECT, &[u64::from(*query), *rcv_nxt, *max_end, *window]);
    put_varint(buf, suspects.len() as u64);
    for suspect in suspects {
        put_varint(buf, suspect.path.get().into());
        put_varint(buf, suspect.silent_for.min(MAX_SILENCE).as_millis() as u64);
    }
}

fn report_size(report: &SuspicionReport) -> usize {
    let SuspicionReport { query, rcv_nxt, max_end, window, suspects } = report;
    let silence = |d: std::time::Duration| varint_size(d.min(MAX_SILENCE).as_millis() as u64);
    TYPE_SIZE
        + varint_size((*query).into())
        + varint_size(*rcv_nxt)
        + varint_size(*max_end)
        + varint_size(*window)
        + varint_size(suspects.len() as u64)
        + suspects.iter().map(|suspect| 1 + silence(suspect.silent_for)).sum::<usize>()
}

fn encode_query(query: Query, buf: &mut BytesMut) {
    put_fields(buf, wire::PATH_QUERY, &[u64::from(query.id), query.paths.len() as u64]);
    for path in query.paths.iter() {
        put_varint(buf, path.get().into());
    }
}

fn query_size(query: Query) -> usize {
    let count = query.paths.len();
    TYPE_SIZE + varint_size(query.id.into()) + varint_size(count as u64) + count
}

fn put_fields(buf: &mut BytesMut, kind: u8, fields: &[u64]) {
    buf.put_u8(kind);
    for &field in fields {
        put_varint(buf, field);
    }
}

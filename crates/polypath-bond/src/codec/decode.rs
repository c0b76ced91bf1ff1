//! Bytes to frames.

use super::control::{flow, path, stream};
use super::frame::{MAX_ACK_RANGES, wire};
use super::varint::{Reader, range_end};
use super::{
    AckFrame, Arrival, Control, DatagramFrame, DecodeError, FragmentFrame, Frame, MAX_DATAGRAM,
    StreamFrame,
};
use bytes::{Buf, Bytes};
use polypath_core::failure::{Query, Suspect, SuspicionReport};
use polypath_units::{PathId, PathSet};
use std::iter::FusedIterator;
use std::ops::Range;
use std::time::Duration;

/// The frames of one datagram payload. Ends after the first error.
///
/// Data are slices of the payload, not copies; a STREAM, DATAGRAM or FRAGMENT frame
/// allocates nothing.
#[derive(Clone, Debug)]
pub struct Frames {
    rest: Bytes,
}

impl Frames {
    /// The frames of `payload`.
    pub const fn new(payload: Bytes) -> Self {
        Self { rest: payload }
    }

    fn decode(&mut self) -> Result<Frame, DecodeError> {
        let mut reader = Reader::new(&self.rest);
        let kind = reader.byte("frame type")?;
        match kind {
            wire::STREAM..wire::DATAGRAM => {
                let header = StreamHeader::decode(&mut reader, kind)?;
                let data = self.take_data(reader.remaining(), header.len);
                Ok(Frame::Stream(header.with(data)))
            }
            wire::DATAGRAM | wire::DATAGRAM_WITH_LENGTH => {
                let (flow, seq) = (flow(&mut reader)?, reader.varint("DATAGRAM sequence")?);
                let len = data_length(&mut reader, kind)?;
                let data = self.take_data(reader.remaining(), len);
                Ok(Frame::Datagram(DatagramFrame { flow, seq, data }))
            }
            wire::FRAGMENT | wire::FRAGMENT_WITH_LENGTH => {
                let (fragment, len) = decode_fragment_header(&mut reader, kind)?;
                let data = self.take_data(reader.remaining(), len);
                Ok(Frame::Fragment(FragmentFrame { data, ..fragment }))
            }
            _ => {
                let frame = decode_without_data(&mut reader, kind)?;
                let consumed = self.rest.len() - reader.remaining();
                self.rest.advance(consumed);
                Ok(frame)
            }
        }
    }

    /// Takes the header, of which `behind` bytes are left, and `len` bytes of data.
    fn take_data(&mut self, behind: usize, len: usize) -> Bytes {
        self.rest.advance(self.rest.len() - behind);
        self.rest.split_to(len)
    }
}

impl Iterator for Frames {
    type Item = Result<Frame, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let frame = self.decode();
        if frame.is_err() {
            self.rest = Bytes::new();
        }
        Some(frame)
    }
}

impl FusedIterator for Frames {}

struct StreamHeader {
    frame: StreamFrame,
    len: usize,
}

impl StreamHeader {
    fn decode(reader: &mut Reader<'_>, kind: u8) -> Result<Self, DecodeError> {
        let dsn = reader.varint("STREAM DSN")?;
        let id = stream(reader)?;
        let offset = reader.varint("STREAM offset")?;
        let len = data_length(reader, kind)?;
        let fin = kind & wire::FIN != 0;
        let taken = len as u64 + u64::from(fin);
        if taken == 0 {
            let allowed = "1 and more without FIN";
            return Err(DecodeError::OutOfRange { field: "STREAM length", value: 0, allowed });
        }
        range_end(dsn, taken, "STREAM DSN range")?;
        range_end(offset, len as u64, "STREAM offset range")?;
        Ok(Self { frame: StreamFrame { dsn, id, offset, fin, data: Bytes::new() }, len })
    }

    fn with(self, data: Bytes) -> StreamFrame {
        StreamFrame { data, ..self.frame }
    }
}

/// A fragment without its data, and their length.
fn decode_fragment_header(
    reader: &mut Reader<'_>,
    kind: u8,
) -> Result<(FragmentFrame, usize), DecodeError> {
    let (flow, seq) = (flow(reader)?, reader.varint("FRAGMENT sequence")?);
    let (field, allowed) = ("FRAGMENT total", "0 to 66,000");
    let total = reader.bounded(MAX_DATAGRAM as u64, field, allowed)? as usize;
    let offset = reader.bounded(total as u64, "FRAGMENT offset", "0 to the total")? as usize;
    let len = data_length(reader, kind)?;
    if len == 0 || len > total - offset {
        let allowed = "1 to the rest of the datagram";
        return Err(DecodeError::OutOfRange {
            field: "FRAGMENT length",
            value: len as u64,
            allowed,
        });
    }
    Ok((FragmentFrame { flow, seq, total, offset, data: Bytes::new() }, len))
}

/// The length of the data, which are all in the payload.
fn data_length(reader: &mut Reader<'_>, kind: u8) -> Result<usize, DecodeError> {
    if kind & wire::LENGTH == 0 {
        return Ok(reader.remaining());
    }
    let len = reader.varint("data length")?;
    match usize::try_from(len) {
        Ok(len) if len <= reader.remaining() => Ok(len),
        _ => Err(DecodeError::Truncated { field: "data" }),
    }
}

fn decode_without_data(reader: &mut Reader<'_>, kind: u8) -> Result<Frame, DecodeError> {
    match kind {
        wire::PADDING => {
            reader.skip_zeros();
            Ok(Frame::Padding)
        }
        wire::PING => Ok(Frame::Ping { id: reader.varint("PING ID")? }),
        wire::PONG => Ok(Frame::Pong { id: reader.varint("PONG ID")? }),
        wire::ACK => AckFrame::decode(reader).map(Frame::Ack),
        wire::SKIP => decode_skip(reader),
        wire::CONTROL => {
            let seq = reader.varint("CONTROL sequence")?;
            Ok(Frame::Control { seq, message: Control::decode(reader)? })
        }
        wire::PATH_SUSPECT => decode_report(reader).map(Frame::PathSuspect),
        wire::PATH_QUERY => decode_query(reader).map(Frame::PathQuery),
        unknown => Err(DecodeError::UnknownFrame(unknown)),
    }
}

fn decode_skip(reader: &mut Reader<'_>) -> Result<Frame, DecodeError> {
    let dsn = reader.varint("SKIP DSN")?;
    let len = reader.varint("SKIP length")?;
    if len == 0 {
        let allowed = "1 and more";
        return Err(DecodeError::OutOfRange { field: "SKIP length", value: 0, allowed });
    }
    range_end(dsn, len, "SKIP DSN range")?;
    Ok(Frame::Skip { dsn, len })
}

impl AckFrame {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let rcv_nxt = reader.varint("ACK next DSN")?;
        let window = reader.varint("ACK window")?;
        if window < rcv_nxt {
            let allowed = "the next DSN and above";
            return Err(DecodeError::OutOfRange { field: "ACK window", value: window, allowed });
        }
        let ranges = decode_ranges(reader, rcv_nxt, "ACK ranges")?;
        let control_nxt = reader.varint("ACK next CONTROL")?;
        let control_ranges = decode_ranges(reader, control_nxt, "ACK CONTROL ranges")?;
        let arrivals = decode_arrivals(reader)?;
        Ok(Self { rcv_nxt, window, ranges, control_nxt, control_ranges, arrivals })
    }
}

fn decode_ranges(
    reader: &mut Reader<'_>,
    before: u64,
    field: &'static str,
) -> Result<Vec<Range<u64>>, DecodeError> {
    let count = reader.bounded(MAX_ACK_RANGES as u64, field, "0 to 32")?;
    let mut before = before;
    (0..count)
        .map(|_| {
            let start = range_end(before, reader.varint(field)? + 1, field)?;
            let end = range_end(start, reader.varint(field)? + 1, field)?;
            before = end;
            Ok(start..end)
        })
        .collect()
}

fn decode_arrivals(reader: &mut Reader<'_>) -> Result<Vec<Arrival>, DecodeError> {
    let field = "ACK arrivals";
    let mut seen = PathSet::EMPTY;
    (0..path_count(reader, field)?)
        .map(|_| {
            let path = new_path(reader, &mut seen, field)?;
            Ok(Arrival { path, bytes: reader.varint(field)? })
        })
        .collect()
}

fn decode_report(reader: &mut Reader<'_>) -> Result<SuspicionReport, DecodeError> {
    let query = query_id(reader, "PATH_SUSPECT query")?;
    let rcv_nxt = reader.varint("PATH_SUSPECT next DSN")?;
    let max_end = reader.varint("PATH_SUSPECT end")?;
    if max_end < rcv_nxt {
        let (field, allowed) = ("PATH_SUSPECT end", "the next DSN and above");
        return Err(DecodeError::OutOfRange { field, value: max_end, allowed });
    }
    let window = reader.varint("PATH_SUSPECT window")?;
    Ok(SuspicionReport { query, rcv_nxt, max_end, window, suspects: decode_suspects(reader)? })
}

fn decode_suspects(reader: &mut Reader<'_>) -> Result<Vec<Suspect>, DecodeError> {
    let field = "PATH_SUSPECT paths";
    let mut seen = PathSet::EMPTY;
    (0..path_count(reader, field)?)
        .map(|_| {
            let path = new_path(reader, &mut seen, field)?;
            let silence = reader.bounded(u16::MAX.into(), "PATH_SUSPECT silence", "0 to 65,535")?;
            Ok(Suspect { path, silent_for: Duration::from_millis(silence) })
        })
        .collect()
}

fn decode_query(reader: &mut Reader<'_>) -> Result<Query, DecodeError> {
    let id = query_id(reader, "PATH_QUERY ID")?;
    if id == 0 {
        let (field, allowed) = ("PATH_QUERY ID", "1 to 65,535");
        return Err(DecodeError::OutOfRange { field, value: 0, allowed });
    }
    let field = "PATH_QUERY paths";
    let mut paths = PathSet::EMPTY;
    for _ in 0..path_count(reader, field)? {
        new_path(reader, &mut paths, field)?;
    }
    Ok(Query { id, paths })
}

fn query_id(reader: &mut Reader<'_>, field: &'static str) -> Result<u16, DecodeError> {
    reader.bounded(u16::MAX.into(), field, "0 to 65,535").map(|id| id as u16)
}

fn path_count(reader: &mut Reader<'_>, field: &'static str) -> Result<u64, DecodeError> {
    reader.bounded(PathId::COUNT as u64, field, "0 to 64")
}

/// The next path of a list, which has not been named before.
fn new_path(
    reader: &mut Reader<'_>,
    seen: &mut PathSet,
    field: &'static str,
) -> Result<PathId, DecodeError> {
    let path = path(reader)?;
    if seen.contains(path) {
        return Err(DecodeError::Repeated { field });
    }
    *seen = seen.with(path);
    Ok(path)
}

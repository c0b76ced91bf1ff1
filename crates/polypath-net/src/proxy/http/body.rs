//! Where a body ends (RFC 9112, sections 6 and 7), and its copying up to there.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const BUFFER: usize = 64 * 1024;
/// Longest chunk header or trailer line in bytes.
const MAX_LINE: usize = 4096;
/// All trailer lines together in bytes.
const MAX_TRAILERS: usize = 16 * 1024;

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// So many bytes.
    Length(u64),
    /// Chunked transfer coding.
    Chunked,
    /// All up to the end of the stream.
    UntilEnd,
}

/// A body that was not copied whole.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// Its source failed.
    #[error("reading: {0}")]
    Read(io::Error),
    /// Its destination failed.
    #[error("writing: {0}")]
    Write(io::Error),
    /// Its source ended early.
    #[error("ended early")]
    Truncated,
    /// Its chunks are malformed.
    #[error("malformed chunk")]
    Chunk,
}

/// Finds the end of a body in the bytes as they come. Sans-I/O.
#[derive(Debug)]
pub struct BodyScanner {
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Remaining(u64),
    UntilEnd,
    ChunkHeader(Vec<u8>),
    ChunkData(u64),
    /// CR and LF after the data of a chunk.
    ChunkEnd(&'static [u8]),
    Trailer {
        line: usize,
        total: usize,
    },
    Done,
}

impl BodyScanner {
    /// At the start of a body.
    pub fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Remaining(length),
            Framing::Chunked => State::ChunkHeader(Vec::new()),
            Framing::UntilEnd => State::UntilEnd,
        };
        Self { state }
    }

    /// Whether the body has ended.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether the body may end with its stream here.
    fn may_end(&self) -> bool {
        matches!(self.state, State::Done | State::UntilEnd)
    }

    /// How many of `bytes` belong to the body.
    pub fn push(&mut self, bytes: &[u8]) -> Result<usize, BodyError> {
        let mut at = 0;
        while at < bytes.len() && !self.is_done() {
            at += self.step(&bytes[at..])?;
        }
        Ok(at)
    }

    /// Takes at least one byte.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, BodyError> {
        let (used, next) = match &mut self.state {
            State::UntilEnd | State::Done => (bytes.len(), None),
            State::Remaining(left) => {
                let used = take(left, bytes);
                (used, (*left == 0).then_some(State::Done))
            }
            State::ChunkData(left) => {
                let used = take(left, bytes);
                (used, (*left == 0).then_some(State::ChunkEnd(b"\r\n")))
            }
            State::ChunkEnd([expected, rest @ ..]) if *expected == bytes[0] => {
                let next = if rest.is_empty() {
                    State::ChunkHeader(Vec::new())
                } else {
                    State::ChunkEnd(rest)
                };
                (1, Some(next))
            }
            State::ChunkEnd(_) => return Err(BodyError::Chunk),
            State::ChunkHeader(line) => {
                line.push(bytes[0]);
                (1, after_chunk_header(line)?)
            }
            State::Trailer { line, total } => {
                (*line, *total) = (*line + 1, *total + 1);
                (1, after_trailer_byte(bytes[0], line, *total)?)
            }
        };
        if let Some(next) = next {
            self.state = next;
        }
        Ok(used)
    }
}

fn take(left: &mut u64, bytes: &[u8]) -> usize {
    let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    *left -= used as u64;
    used
}

/// RFC 9112, section 7.1: hexadecimal size, possibly extensions after a semicolon, CRLF. A bare LF
/// is an error: recipients read it differently.
fn after_chunk_header(line: &[u8]) -> Result<Option<State>, BodyError> {
    if line.len() > MAX_LINE {
        return Err(BodyError::Chunk);
    }
    let Some(line) = line.strip_suffix(b"\n") else { return Ok(None) };
    let line = line.strip_suffix(b"\r").ok_or(BodyError::Chunk)?;
    let digits = line.split(|&b| b == b';').next().unwrap_or_default().trim_ascii_end();
    let valid = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| valid).ok_or(BodyError::Chunk)?;
    match u64::from_str_radix(text, 16).map_err(|_| BodyError::Chunk)? {
        0 => Ok(Some(State::Trailer { line: 0, total: 0 })),
        size => Ok(Some(State::ChunkData(size))),
    }
}

/// An empty line ends the trailer section; `line` counts its bytes, CR included.
fn after_trailer_byte(
    byte: u8,
    line: &mut usize,
    total: usize,
) -> Result<Option<State>, BodyError> {
    if total > MAX_TRAILERS {
        return Err(BodyError::Chunk);
    }
    match (byte, *line) {
        (b'\n', 2) => Ok(Some(State::Done)),
        (b'\n', 1) => Err(BodyError::Chunk),
        (b'\n', _) => {
            *line = 0;
            Ok(None)
        }
        (b'\r', _) => Ok(None),
        // A byte other than LF after a CR at the start of a line makes the line longer than an
        // empty one.
        _ => {
            *line = (*line).max(3);
            Ok(None)
        }
    }
}

/// Copies one body, beginning with bytes read already. What follows the body stays in `buffer`.
pub(super) async fn copy_body<R, W>(
    reader: &mut R,
    writer: &mut W,
    framing: Framing,
    buffer: &mut BytesMut,
) -> Result<(), BodyError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut scanner = BodyScanner::new(framing);
    loop {
        let body = scanner.push(buffer)?;
        writer.write_all(&buffer.split_to(body)).await.map_err(BodyError::Write)?;
        if scanner.is_done() {
            break;
        }
        buffer.reserve(BUFFER);
        let read = (&mut *reader).take(BUFFER as u64).read_buf(buffer).await;
        if read.map_err(BodyError::Read)? == 0 {
            if !scanner.may_end() {
                return Err(BodyError::Truncated);
            }
            break;
        }
    }
    writer.flush().await.map_err(BodyError::Write)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body_length(framing: Framing, bytes: &[u8]) -> Option<usize> {
        let mut scanner = BodyScanner::new(framing);
        let used = scanner.push(bytes).ok()?;
        scanner.is_done().then_some(used)
    }

    #[test]
    fn ends_are_found() {
        assert_eq!(body_length(Framing::Length(3), b"abcdef"), Some(3));
        assert_eq!(body_length(Framing::Length(7), b"abcdef"), None);
        for chunked in
            ["0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "A;x=y\r\n0123456789\r\n00\r\nT: v\r\n\r\n"]
        {
            let more = [chunked, "GET /"].concat();
            assert_eq!(body_length(Framing::Chunked, more.as_bytes()), Some(chunked.len()));
        }
    }

    #[test]
    fn malformed_chunks_are_errors() {
        for wrong in
            ["\r\n", "x\r\n", "-1\r\n", "3\n", "1\r\nab", "10000000000000000\r\n", "0\r\n\n"]
        {
            let pushed = BodyScanner::new(Framing::Chunked).push(wrong.as_bytes());
            assert!(matches!(pushed, Err(BodyError::Chunk)), "{wrong:?}");
        }
        assert!(BodyScanner::new(Framing::Chunked).push(&[b'0'; MAX_LINE + 1]).is_err());
    }

    #[tokio::test]
    async fn a_body_cut_short_is_an_error() {
        for (framing, sent) in [(Framing::Length(3), "ab"), (Framing::Chunked, "2\r\nab\r\n")] {
            let mut buffer = BytesMut::new();
            let copied =
                copy_body(&mut sent.as_bytes(), &mut Vec::new(), framing, &mut buffer).await;
            assert!(matches!(copied, Err(BodyError::Truncated)));
        }
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_end(chunks in prop::collection::vec(1..50usize, 0..5), step in 1..20usize) {
            let mut wire = Vec::new();
            for size in chunks {
                wire.extend(format!("{size:x}\r\n").bytes());
                wire.extend(vec![b'\n'; size]);
                wire.extend(b"\r\n");
            }
            wire.extend(b"0\r\n\r\n");
            let mut scanner = BodyScanner::new(Framing::Chunked);
            for piece in wire.chunks(step) {
                prop_assert!(!scanner.is_done());
                prop_assert_eq!(scanner.push(piece).unwrap(), piece.len());
            }
            prop_assert!(scanner.is_done());
        }

        #[test]
        fn any_bytes_are_scanned_without_panic(text in "[0-3a\r\n;x]{0,60}") {
            if let Ok(used) = BodyScanner::new(Framing::Chunked).push(text.as_bytes()) {
                prop_assert!(used <= text.len());
            }
        }
    }
}

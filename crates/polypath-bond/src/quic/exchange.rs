//! The join exchange on a connection's only stream: one message each way.

use crate::codec::DecodeError;
use bytes::{Bytes, BytesMut};
use noq_proto::{Connection, Dir, ReadError, ReadableError, StreamId, WriteError};

/// The only stream of a path's connection: the first bidirectional one.
fn stream(connection: &Connection) -> StreamId {
    let _ = connection;
    StreamId::new(noq_proto::Side::Client, Dir::Bi, 0)
}

/// A message on its way out and one on its way in.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    outgoing: Bytes,
    finished: bool,
    incoming: BytesMut,
    /// The peer's message was whole and is taken.
    received: bool,
    /// The peer opened another stream.
    strayed: bool,
}

/// A join message is at most a KiB (docs/protocol.md): what fits here is a whole one, or wrong.
const MAX_INCOMING: usize = 2_048;

impl Exchange {
    /// The client opens the stream.
    pub(crate) fn open(connection: &mut Connection) -> bool {
        connection.streams().open(Dir::Bi).is_some()
    }

    /// Queues the message.
    pub(crate) fn send(&mut self, connection: &mut Connection, message: Bytes) {
        self.outgoing = message;
        self.pump_out(connection);
    }

    /// Writes what the stream takes and finishes it behind the message.
    pub(crate) fn pump_out(&mut self, connection: &mut Connection) {
        let id = stream(connection);
        while !self.outgoing.is_empty() {
            match connection.send_stream(id).write(&self.outgoing) {
                Ok(written) => drop(self.outgoing.split_to(written)),
                Err(WriteError::Blocked) => return,
                Err(_) => self.outgoing.clear(),
            }
            if self.outgoing.is_empty() && !self.finished {
                self.finished = true;
                // The peer may have stopped the stream: then nobody waits for its end.
                let _ = connection.send_stream(id).finish();
            }
        }
    }

    /// The peer's message, once, when it is whole.
    pub(crate) fn receive<T>(
        &mut self,
        decode: impl FnOnce(&mut BytesMut) -> Result<Option<T>, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        if self.received {
            return Ok(None);
        }
        let message = decode(&mut self.incoming)?;
        self.received = message.is_some();
        Ok(message)
    }

    /// Whether the peer has sent more than its one message.
    pub(crate) fn is_violated(&self) -> bool {
        self.strayed || self.received && !self.incoming.is_empty()
    }

    /// Reads what has arrived into `incoming`.
    pub(crate) fn pump_in(&mut self, connection: &mut Connection) {
        let id = stream(connection);
        while let Some(opened) = connection.streams().accept(Dir::Bi) {
            self.strayed |= opened != id;
        }
        let mut stream = connection.recv_stream(id);
        let mut chunks = match stream.read(true) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => return,
            #[allow(unreachable_patterns, reason = "the library may add reasons")]
            Err(_) => return,
        };
        while self.incoming.len() < MAX_INCOMING {
            match chunks.next(MAX_INCOMING - self.incoming.len()) {
                Ok(Some(chunk)) => self.incoming.extend_from_slice(&chunk.bytes),
                Ok(None) | Err(ReadError::Blocked | ReadError::Reset(_)) => break,
                #[allow(unreachable_patterns, reason = "the library may add reasons")]
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
    }
}

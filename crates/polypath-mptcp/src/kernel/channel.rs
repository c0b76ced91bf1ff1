//! Questions to the kernel over a netlink socket, and their answers.

use std::fmt::Debug;
use std::io::{self, ErrorKind};

use rtnetlink::packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable,
};
use rtnetlink::sys::{Socket, SocketAddr};

/// The kernel fills at most so much at a time (NLMSG_GOODSIZE is 8192; dumps go up to 32 KiB).
const RECEIVE_BUFFER: usize = 64 << 10;

/// How much of what there is an answer tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// One thing, or only whether it was done.
    One,
    /// Everything of the kind.
    All,
}

/// A netlink socket in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(super) struct Channel {
    socket: Socket,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Channel {
    pub(super) fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0, buffer: Vec::with_capacity(RECEIVE_BUFFER) })
    }

    /// Asks, and waits for the answers: the kernel gives them while it takes the question.
    pub(super) fn ask<T>(
        &mut self,
        question: impl Into<NetlinkPayload<T>>,
        extent: Extent,
    ) -> io::Result<Vec<T>>
    where
        T: NetlinkSerializable + NetlinkDeserializable + Debug,
    {
        self.sequence = self.sequence.wrapping_add(1);
        let mut message = NetlinkMessage::new(NetlinkHeader::default(), question.into());
        message.header.sequence_number = self.sequence;
        message.header.flags = NLM_F_REQUEST
            | match extent {
                Extent::One => NLM_F_ACK,
                Extent::All => NLM_F_DUMP,
            };
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        self.answers()
    }

    /// All up to the acknowledgement.
    fn answers<T>(&mut self) -> io::Result<Vec<T>>
    where
        T: NetlinkDeserializable + Debug,
    {
        let mut answers = Vec::new();
        loop {
            self.buffer.clear();
            self.socket.recv(&mut self.buffer, 0)?;
            let mut rest = &self.buffer[..];
            while !rest.is_empty() {
                let message = NetlinkMessage::<T>::deserialize(rest).map_err(io::Error::other)?;
                let length = (message.header.length as usize).next_multiple_of(4);
                rest = rest.get(length.max(1)..).unwrap_or_default();
                // What is left of a question that failed before.
                if message.header.sequence_number != self.sequence {
                    continue;
                }
                match message.payload {
                    NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                    NetlinkPayload::Done(_) => return Ok(answers),
                    NetlinkPayload::Error(error) if error.code.is_none() => return Ok(answers),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    NetlinkPayload::Overrun(_) => return Err(ErrorKind::InvalidData.into()),
                    _ => {}
                }
            }
        }
    }
}

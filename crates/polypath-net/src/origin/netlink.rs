//! A question to the kernel that has one answer.

use std::fmt::Debug;
use std::io::{self, ErrorKind};

use rtnetlink::packet_core::{
    NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use rtnetlink::sys::{Socket, SocketAddr};

/// The answers name one thing each, for which two pages are ample.
const MAX_ANSWER: usize = 8192;

/// Asks over a netlink protocol; `None` where the kernel knows no such thing.
pub(super) fn ask<T>(
    protocol: isize,
    question: impl Into<NetlinkPayload<T>>,
) -> io::Result<Option<T>>
where
    T: NetlinkSerializable + NetlinkDeserializable + Debug,
{
    let socket = Socket::new(protocol)?;
    // The kernel has answered by the time that it has taken the question.
    socket.set_non_blocking(true)?;
    let mut message = NetlinkMessage::new(NetlinkHeader::default(), question.into());
    message.header.flags = NLM_F_REQUEST;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send_to(&bytes, &SocketAddr::new(0, 0), 0)?;
    let mut answer = Vec::with_capacity(MAX_ANSWER);
    socket.recv_from(&mut answer, 0)?;
    let message = NetlinkMessage::<T>::deserialize(&answer).map_err(io::Error::other)?;
    match message.payload {
        NetlinkPayload::InnerMessage(answer) => Ok(Some(answer)),
        NetlinkPayload::Error(error) => match error.to_io() {
            error if error.kind() == ErrorKind::NotFound => Ok(None),
            error => Err(error),
        },
        _ => Err(ErrorKind::InvalidData.into()),
    }
}

//! Datagrams with their DSCP (IP_RECVTOS of ip(7), IPV6_RECVTCLASS of ipv6(7)).

use std::io;
use std::mem::MaybeUninit;

use nix::libc::{IP_TOS, IPPROTO_IP, IPPROTO_IPV6, IPV6_TCLASS};
use polypath_policy::Dscp;
use socket2::{MaybeUninitSlice, MsgHdrMut, SockAddr, SockRef};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::Received;

/// Room for control messages: each takes 24 bytes, and a socket is asked for two kinds.
const CONTROL: usize = 64;
const WORD: usize = size_of::<usize>();
/// Length, level and type of a control message (cmsg(3)); what follows is aligned already.
const HEADER: usize = WORD + 4 + 4;

/// Asks the kernel for the DSCP of what the socket receives from now on.
pub(super) fn tell_dscp(socket: &UdpSocket) -> io::Result<()> {
    // A socket for both families has that of IPv4 as such.
    SockRef::from(socket).set_recv_tos_v4(true)?;
    if socket.local_addr()?.is_ipv6() {
        SockRef::from(socket).set_recv_tclass_v6(true)?;
    }
    Ok(())
}

/// Waits for a datagram. Cancel-safe.
pub(super) async fn recv_from(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Received> {
    // The kernel writes one of the same family over it.
    let mut from = SockAddr::from(socket.local_addr()?);
    socket.async_io(Interest::READABLE, || receive(socket, buffer, &mut from)).await
}

fn receive(socket: &UdpSocket, buffer: &mut [u8], from: &mut SockAddr) -> io::Result<Received> {
    let mut control = [0; CONTROL];
    let mut buffers = [MaybeUninitSlice::new(for_kernel(buffer))];
    let mut message = MsgHdrMut::new()
        .with_addr(from)
        .with_buffers(&mut buffers)
        .with_control(for_kernel(&mut control));
    let length = SockRef::from(socket).recvmsg(&mut message, 0)?;
    let control_length = message.control_len();
    let from = from.as_socket().ok_or(io::ErrorKind::InvalidData)?;
    Ok(Received { length, from, dscp: dscp_in(control.get(..control_length).unwrap_or_default()) })
}

/// Bytes as a buffer for the kernel.
#[expect(unsafe_code, reason = "no crate of the product has a safe recvmsg with control messages")]
fn for_kernel(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: both have the same layout. The bytes stay initialised: the slice goes to recvmsg(2)
    // alone, which leaves them as they are or writes others.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// The DSCP among control messages.
fn dscp_in(mut control: &[u8]) -> Option<Dscp> {
    loop {
        let (length, rest) = control.split_first_chunk()?;
        let (level, rest) = rest.split_first_chunk()?;
        let (kind, rest) = rest.split_first_chunk()?;
        let length = usize::from_ne_bytes(*length);
        let data = rest.get(..length.checked_sub(HEADER)?)?;
        match (i32::from_ne_bytes(*level), i32::from_ne_bytes(*kind)) {
            (IPPROTO_IP, IP_TOS) => return data.first().copied().map(Dscp::of_byte),
            (IPPROTO_IPV6, IPV6_TCLASS) => {
                let class = i32::from_ne_bytes(data.try_into().ok()?);
                return u8::try_from(class).ok().map(Dscp::of_byte);
            }
            _ => control = control.get(length.next_multiple_of(WORD)..)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One control message, padded.
    fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let length = HEADER + data.len();
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(length.next_multiple_of(WORD), 0);
        bytes
    }

    #[test]
    fn the_dscp_stands_in_the_message_of_either_family() {
        let ef = "ef".parse().ok();
        let (v4, v6) = (message(IPPROTO_IP, IP_TOS, &[0xba]), 0xb9_i32.to_ne_bytes());
        let v6 = message(IPPROTO_IPV6, IPV6_TCLASS, &v6);
        let other = message(IPPROTO_IP, 8, &[1; 12]);
        for control in [&v4, &v6, &[other.clone(), v4.clone()].concat()] {
            assert_eq!(dscp_in(control), ef);
        }
        for control in [&[][..], &other, &v4[..HEADER], &v6[..HEADER + 3]] {
            assert_eq!(dscp_in(control), None);
        }
    }

    proptest! {
        #[test]
        fn any_control_messages_have_a_dscp_or_none(
            control in prop::collection::vec(any::<u8>(), 0..64),
            length in any::<usize>(),
        ) {
            dscp_in(&control);
            dscp_in(&[&length.to_ne_bytes()[..], &control].concat());
        }
    }
}

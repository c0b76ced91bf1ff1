//! Whether a route leads back to this host, asked by rtnetlink(7).

use std::io::{self, ErrorKind};
use std::net::Ipv6Addr;

use nix::errno::Errno;
use rtnetlink::RouteMessageBuilder;
use rtnetlink::packet_core::{NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use rtnetlink::packet_route::RouteNetlinkMessage;
use rtnetlink::packet_route::route::RouteType;
use rtnetlink::sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// The answer names one route, for which a page is ample.
const MAX_ANSWER: usize = 4096;

/// Whether what is sent to `ip` is delivered on this host, because the address is assigned to it or
/// for a route of type `local` (AnyIP) or `anycast`.
///
/// # Errors
/// When the system does not answer. Where processes may not ask at all (a sandbox without
/// `AF_NETLINK`), the answer is `false`, not an error.
pub(super) fn leads_here(ip: Ipv6Addr) -> io::Result<bool> {
    let socket = match Socket::new(NETLINK_ROUTE) {
        Ok(socket) => socket,
        Err(error) if may_not_ask(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    // The kernel has answered by the time that it has taken the question.
    socket.set_non_blocking(true)?;
    socket.send_to(&question(ip), &SocketAddr::new(0, 0), 0)?;
    let mut answer = Vec::with_capacity(MAX_ANSWER);
    socket.recv_from(&mut answer, 0)?;
    read(&answer)
}

/// EAFNOSUPPORT is what systemd's `RestrictAddressFamilies=` gives, EPERM or EACCES other filters.
fn may_not_ask(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::EAFNOSUPPORT, Errno::EPROTONOSUPPORT, Errno::EPERM, Errno::EACCES])
}

fn question(ip: Ipv6Addr) -> Vec<u8> {
    let route = RouteMessageBuilder::<Ipv6Addr>::new().destination_prefix(ip, 128).build();
    let mut message = NetlinkMessage::from(RouteNetlinkMessage::GetRoute(route));
    message.header.flags = NLM_F_REQUEST;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn read(answer: &[u8]) -> io::Result<bool> {
    let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(answer);
    match message.map_err(io::Error::other)?.payload {
        NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewRoute(route)) => {
            Ok(matches!(route.header.kind, RouteType::Local | RouteType::Anycast))
        }
        NetlinkPayload::Error(error) => match error.to_io() {
            error if leads_nowhere(&error) => Ok(false),
            error => Err(error),
        },
        _ => Err(ErrorKind::InvalidData.into()),
    }
}

/// No route, or one of type `unreachable`, `prohibit` (EACCES) or `blackhole` (EINVAL).
fn leads_nowhere(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::ENETUNREACH, Errno::EHOSTUNREACH, Errno::EACCES, Errno::EINVAL])
}

fn is_one_of(error: &io::Error, known: &[Errno]) -> bool {
    error.raw_os_error().is_some_and(|code| known.contains(&Errno::from_raw(code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_are_none_are_errors() {
        assert!(read(b"").is_err());
        assert!(read(&question(Ipv6Addr::LOCALHOST)).is_err());
    }

    #[test]
    fn loopback_leads_here() {
        assert!(leads_here(Ipv6Addr::LOCALHOST).unwrap());
        assert!(!leads_here("2001:db8:77::1".parse().unwrap()).unwrap());
    }
}

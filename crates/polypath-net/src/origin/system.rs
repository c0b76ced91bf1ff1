//! What Linux knows of where a conversation comes from.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use nix::net::if_::if_indextoname;
use nix::unistd::{Uid, User};

use super::routes::{Place, place};
use super::{Ends, HOST, Known, connections, sockets};

/// Of a connection that this host has taken over: its ends are those that its client has given it.
///
/// # Errors
/// When the kernel does not answer.
pub(crate) fn of_connection(ends: Ends) -> io::Result<Known> {
    of_source(ends)
}

/// Of a packet that leaves this host, whose source may have been translated. Conntrack knows of
/// every one that does.
///
/// # Errors
/// When the kernel does not answer.
pub(crate) fn of_packet(ends: Ends) -> io::Result<Known> {
    let Some(source) = connections::source(ends)? else { return Ok(Known::default()) };
    let known = of_source(Ends { source, ..ends })?;
    Ok(Known { source: Some(source), ..known })
}

/// Whom a packet that leaves this host comes from, if conntrack knows it.
///
/// # Errors
/// When the kernel does not answer.
pub(crate) fn source_of_packet(ends: Ends) -> io::Result<Option<SocketAddr>> {
    connections::source(ends)
}

fn of_source(ends: Ends) -> io::Result<Known> {
    let ends =
        Ends { source: canonical(ends.source), destination: canonical(ends.destination), ..ends };
    Ok(match place(ends.source.ip())? {
        Some(Place::Here) => Known {
            source: None,
            interface: Some(HOST.into()),
            user: sockets::user(ends)?.map(|uid| (uid, name_of(uid))),
        },
        Some(Place::Behind(index)) => Known { interface: interface(index), ..Known::default() },
        None => Known::default(),
    })
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn interface(index: u32) -> Option<Arc<str>> {
    let name = if_indextoname(index).ok()?;
    Some(name.to_str().ok()?.into())
}

fn name_of(uid: u32) -> Option<Arc<str>> {
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten()?;
    Some(user.name.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::getuid;
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};

    const TCP: u8 = 6;
    const UDP: u8 = 17;

    fn is_of_this_program(known: &Known) {
        let uid = getuid().as_raw();
        assert_eq!(known.interface.as_deref(), Some(HOST), "{known:?}");
        assert_eq!(known.user.as_ref().map(|(uid, _)| *uid), Some(uid), "{known:?}");
        let name = known.user.as_ref().and_then(|(_, name)| name.clone());
        assert_eq!(name, name_of(uid));
    }

    #[test]
    fn a_connection_is_of_the_user_whose_program_has_opened_it() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let source = client.local_addr().unwrap();
        let destination = client.peer_addr().unwrap();
        is_of_this_program(&of_connection(Ends { protocol: TCP, source, destination }).unwrap());
        // As a listener of both families tells it.
        let mapped = |ends: SocketAddr| match ends {
            SocketAddr::V4(v4) => SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port()),
            SocketAddr::V6(_) => ends,
        };
        let (source, destination) = (mapped(source), mapped(destination));
        is_of_this_program(&of_connection(Ends { protocol: TCP, source, destination }).unwrap());
    }

    #[test]
    fn a_socket_that_is_not_connected_is_found_by_what_it_sends() {
        for address in [Ipv4Addr::LOCALHOST.into(), std::net::IpAddr::from(Ipv6Addr::LOCALHOST)] {
            let Ok(socket) = UdpSocket::bind((address, 0)) else { continue };
            let source = socket.local_addr().unwrap();
            let destination = SocketAddr::new(address, 9);
            is_of_this_program(&of_source(Ends { protocol: UDP, source, destination }).unwrap());
            drop(socket);
            let known = of_source(Ends { protocol: UDP, source, destination }).unwrap();
            assert_eq!((known.interface.as_deref(), known.user), (Some(HOST), None));
        }
    }

    #[test]
    fn what_conntrack_does_not_know_comes_from_nowhere() {
        let ends = |last| SocketAddr::from(([192, 0, 2, last], 9));
        let ends = Ends { protocol: UDP, source: ends(1), destination: ends(2) };
        assert_eq!(of_packet(ends).unwrap(), Known::default());
    }
}

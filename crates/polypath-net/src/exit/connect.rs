//! Connecting to one of several addresses (Happy Eyeballs, RFC 8305, section 4).

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpStream;

use crate::attempts;

/// Orders addresses so that the families alternate, beginning with that of the first.
pub(super) fn interleave(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let Some(first) = addresses.first() else { return Vec::new() };
    let (mut same, mut other): (VecDeque<_>, VecDeque<_>) =
        addresses.iter().copied().partition(|ip| ip.is_ipv4() == first.is_ipv4());
    let mut out = Vec::with_capacity(addresses.len());
    while out.len() < addresses.len() {
        out.extend(same.pop_front());
        out.extend(other.pop_front());
    }
    out
}

/// Connects to the first address that answers. The error is that of the last attempt to fail.
pub(super) async fn connect_any(addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
    attempts::first(interleave(addresses).into_iter().map(|ip| attempt(ip, port))).await
}

async fn attempt(ip: IpAddr, port: u16) -> io::Result<TcpStream> {
    TcpStream::connect(SocketAddr::new(ip, port)).await
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    fn ips(list: &[&str]) -> Vec<IpAddr> {
        list.iter().map(|ip| ip.parse().unwrap()).collect()
    }

    #[test]
    fn families_alternate() {
        let ordered = interleave(&ips(&["::1", "::2", "::3", "1.0.0.1", "1.0.0.2"]));
        assert_eq!(ordered, ips(&["::1", "1.0.0.1", "::2", "1.0.0.2", "::3"]));
        assert_eq!(interleave(&[]), Vec::<IpAddr>::new());
    }

    #[tokio::test]
    async fn a_dead_address_does_not_hide_a_live_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let stream = connect_any(&ips(&["127.0.0.2", "127.0.0.1"]), port).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap().ip(), ips(&["127.0.0.1"])[0]);
        drop(listener);
        let error = connect_any(&ips(&["127.0.0.2", "127.0.0.1"]), port).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}

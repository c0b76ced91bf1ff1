//! Connecting to one of several addresses (Happy Eyeballs, RFC 8305, sections 4 and 5).

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// Connection Attempt Delay of RFC 8305, section 8.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

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

/// Connects to the first address that answers. A further attempt starts when the last one failed,
/// or after 250 ms. The error is that of the last attempt to fail.
pub(super) async fn connect_any(addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
    let mut waiting = interleave(addresses).into_iter();
    let mut attempts = JoinSet::new();
    let mut last_error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let started = waiting.next().map(|ip| attempts.spawn(attempt(ip, port))).is_some();
        let next = Instant::now() + ATTEMPT_DELAY;
        tokio::select! {
            ended = attempts.join_next() => match ended {
                Some(Ok(Ok(stream))) => return Ok(stream),
                Some(Ok(Err(error))) => last_error = error,
                Some(Err(panicked)) => last_error = io::Error::other(panicked),
                None => return Err(last_error),
            },
            () = sleep_until(next), if started => {}
        }
    }
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

//! Which addresses are this host's own.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

#[cfg(target_os = "linux")]
use super::local_route::leads_here;

/// How long an answer stands: the system is not asked for each datagram.
const LIFETIME: Duration = Duration::from_secs(1);
/// Answers kept, against an edge that sends to ever new addresses.
const MAX_ANSWERS: usize = 1024;
/// Discard: a datagram socket that is connected sends nothing, but needs a port.
const ANY_PORT: u16 = 9;

/// The addresses of this host, asked for one by one.
#[derive(Debug)]
pub(super) struct OwnAddresses {
    ask: fn(IpAddr) -> bool,
    answers: Mutex<Answers>,
}

#[derive(Debug)]
struct Answers {
    since: Instant,
    of: BTreeMap<IpAddr, bool>,
}

impl OwnAddresses {
    /// `ask` tells whether an address is this host's.
    pub(super) fn new(ask: fn(IpAddr) -> bool) -> Self {
        let answers = Answers { since: Instant::now(), of: BTreeMap::new() };
        Self { ask, answers: Mutex::new(answers) }
    }

    /// Whether the address was this host's within the last second.
    pub(super) fn contains(&self, ip: IpAddr) -> bool {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.since.elapsed() >= LIFETIME || answers.of.len() >= MAX_ANSWERS {
            *answers = Answers { since: Instant::now(), of: BTreeMap::new() };
        }
        *answers.of.entry(ip).or_insert_with(|| (self.ask)(ip))
    }
}

/// Asks the system. No list of interfaces is complete: it lacks deprecated addresses, local routes,
/// and what changed since. An address that cannot be asked about, for want of a socket, counts as
/// this host's.
pub(crate) fn ask(ip: IpAddr) -> bool {
    let answer = match ip {
        IpAddr::V4(ip) => can_be_a_source(ip),
        IpAddr::V6(ip) => is_its_own_source(ip).and_then(|is| Ok(is || leads_here(ip)?)),
    };
    answer.unwrap_or(true)
}

/// Every address can be bound where `ip_nonlocal_bind` is set, but only local ones, those of local
/// routes among them, have a route from them.
fn can_be_a_source(ip: Ipv4Addr) -> io::Result<bool> {
    match UdpSocket::bind((ip, 0)) {
        Ok(socket) => Ok(socket.connect((ip, ANY_PORT)).is_ok()),
        Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => Ok(false),
        Err(error) => Err(error),
    }
}

/// To one of its own addresses a host sends from that address (RFC 6724, section 5, rule 1), but
/// not to one of a local route, which IPv6 sockets cannot be bound to either: see [`leads_here`].
fn is_its_own_source(ip: Ipv6Addr) -> io::Result<bool> {
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?;
    match socket.connect((ip, ANY_PORT)) {
        Ok(()) => Ok(socket.local_addr()?.ip() == ip),
        // There is no route to it.
        Err(_) => Ok(false),
    }
}

/// Routes to whole networks that the host takes for its own are a matter of Linux.
#[cfg(not(target_os = "linux"))]
fn leads_here(_: Ipv6Addr) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn an_address_of_this_host_is_told_from_another() {
        for (ip, own) in [("127.0.0.1", true), ("127.8.8.8", true), ("198.51.100.77", false)] {
            assert_eq!(ask(ip.parse().unwrap()), own, "{ip}");
        }
        assert!(!ask("2001:db8:77::1".parse().unwrap()));
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_comes_is_noticed_within_a_second() {
        static IS_THERE: AtomicBool = AtomicBool::new(false);
        let own = OwnAddresses::new(|_| IS_THERE.load(Ordering::Relaxed));
        let ip = IpAddr::from([192, 0, 2, 1]);
        assert!(!own.contains(ip));
        IS_THERE.store(true, Ordering::Relaxed);
        assert!(!own.contains(ip), "the system is not asked each time");
        tokio::time::advance(LIFETIME).await;
        assert!(own.contains(ip));
    }
}

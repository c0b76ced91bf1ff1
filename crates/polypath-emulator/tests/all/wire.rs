//! Wires between network namespaces: the kernel's own packets through the link model.

use crate::alone::alone;
use crate::common::{HOSTS_V4, HOSTS_V6, Network, no_privilege};
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use polypath_emulator::realtime::Clock;
use polypath_emulator::wire::{Wire, WireError, WireSpec};
use polypath_link::{CoDelConfig, LinkConfig, Loss, QueueLimit};
use polypath_sim::Direction;
use polypath_units::Bandwidth;
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Far longer than anything here takes: reached only when a test fails.
const PATIENCE: Duration = Duration::from_secs(10);

/// IPv4 and UDP headers.
const HEADERS_V4: usize = 28;

const V4: [IpAddr; 2] = [IpAddr::V4(HOSTS_V4[0]), IpAddr::V4(HOSTS_V4[1])];
const V6: [IpAddr; 2] = [IpAddr::V6(HOSTS_V6[0]), IpAddr::V6(HOSTS_V6[1])];

/// The network of a test; nothing where it may not be made, which is said.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn network(test: &str) -> Option<Network> {
    if let Some(reason) = no_privilege() {
        eprintln!("skipped: {test}: {reason}");
        return None;
    }
    Some(Network::new().unwrap())
}

fn link(mbit: f64, delay: Duration) -> LinkConfig {
    let queue = QueueLimit::Packets(100_000).into();
    LinkConfig { queue, ..LinkConfig::new(Bandwidth::from_mbit_per_sec(mbit), delay) }
}

#[expect(clippy::disallowed_methods, reason = "these tests run in real time")]
fn now() -> Instant {
    Instant::now()
}

fn receive(socket: &UdpSocket, patience: Duration) -> Option<Vec<u8>> {
    let mut buffer = [0; 2000];
    socket.set_read_timeout(Some(patience)).unwrap();
    match socket.recv(&mut buffer) {
        Ok(length) => Some(buffer[..length].to_vec()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        // A signal for another thread's sake; a receive with a time-out is not begun again for it.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => receive(socket, patience),
        Err(error) => panic!("{error}"),
    }
}

/// Sends `count` numbered datagrams and returns those that arrive before a closing one, which is
/// sent again until it passes.
fn arrivals(sockets: &[UdpSocket; 2], count: u32) -> Vec<u32> {
    for number in 0..count {
        sockets[0].send(&number.to_be_bytes()).unwrap();
    }
    let mut seen = Vec::new();
    let start = now();
    while start.elapsed() < PATIENCE {
        sockets[0].send(&u32::MAX.to_be_bytes()).unwrap();
        while let Some(datagram) = receive(&sockets[1], Duration::from_millis(100)) {
            match u32::from_be_bytes(datagram.try_into().unwrap()) {
                u32::MAX => return seen,
                number => seen.push(number),
            }
        }
    }
    panic!("the closing datagram did not pass: {seen:?}");
}

fn median_round_trip(sockets: &[UdpSocket; 2]) -> Duration {
    let mut times: Vec<_> = (0..21_u32)
        .map(|number| {
            let start = now();
            sockets[0].send(&number.to_be_bytes()).unwrap();
            let there = receive(&sockets[1], PATIENCE).unwrap();
            sockets[1].send(&there).unwrap();
            assert_eq!(receive(&sockets[0], PATIENCE).unwrap(), number.to_be_bytes());
            start.elapsed()
        })
        .collect();
    times.sort();
    times[10]
}

#[test]
fn a_round_trip_takes_both_delays() {
    let _alone = alone();
    let Some(network) = network("a_round_trip_takes_both_delays") else { return };
    let delay = Duration::from_millis(10);
    let wire = network.wire(link(100.0, delay), link(100.0, delay));
    for addresses in [V4, V6] {
        // Both delays, and twice the time that 4 bytes with headers take at 100 Mbit/s (below
        // 5 us) are the least. Half of all round trips may find the wire late twice, the receiver
        // once and the sender once, each by up to a quarter of a delay: a wire that gave a packet
        // its delay twice would still be found out. Of three medians the least counts, for a busy
        // machine.
        let sockets = network.sockets(addresses);
        let median = [(); 3].map(|()| median_round_trip(&sockets)).into_iter().min().unwrap();
        assert!(median >= 2 * delay, "{addresses:?}: {median:?}");
        assert!(median < 3 * delay, "{addresses:?}: {median:?}");
    }
    let report = wire.stop();
    assert_eq!([report.up.link.delivered.packets, report.down.link.delivered.packets], [126, 126]);
    assert_eq!((report.errors, report.up.refused, report.up.oversized), (0, 0, 0), "{report:?}");
    assert_eq!(report.up.link.delivered.bytes, 63 * (4 + 28) + 63 * (4 + 48));
}

#[test]
fn packets_come_out_at_the_rate_of_the_link() {
    let _alone = alone();
    let Some(network) = network("packets_come_out_at_the_rate_of_the_link") else { return };
    let wire = network.wire(link(20.0, Duration::from_millis(5)), link(20.0, Duration::ZERO));
    let sockets = network.sockets(V4);
    let payload = [7; 1000 - HEADERS_V4];
    let count = 1_000_u32;
    let sender = sockets[0].try_clone().unwrap();
    let sending = std::thread::spawn(move || {
        for _ in 0..count {
            sender.send(&payload).unwrap();
        }
    });
    setsockopt(&sockets[1], ReceiveTimestampns, &true).unwrap();
    sockets[1].set_read_timeout(Some(PATIENCE)).unwrap();
    let times: Vec<_> = (0..count).map(|_| stamp_of_next(&sockets[1])).collect();
    sending.join().unwrap();
    // 1000 packets of 8000 bit take 0.4 s at 20 Mbit/s. 1 % of that, 4 ms, is what the wire may be
    // late with the first and the last packet together: the kernel stamps them as it takes them.
    let seconds = (times[times.len() - 1] - times[0]).as_secs_f64();
    let rate = f64::from(count - 1) * 8_000.0 / seconds / 20e6;
    assert!((0.99..1.01).contains(&rate), "{rate} of the rate: {:?}", wire.report());
}

/// When the kernel received the next datagram.
fn stamp_of_next(socket: &UdpSocket) -> Duration {
    let mut space = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let (mut buffer, fd) = ([0; 2000], socket.as_raw_fd());
    let mut slices = [io::IoSliceMut::new(&mut buffer)];
    let message = recvmsg::<()>(fd, &mut slices, Some(&mut space), MsgFlags::empty()).unwrap();
    let stamp = message.cmsgs().unwrap().find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
        _ => None,
    });
    stamp.expect("the socket asks for time stamps")
}

#[test]
fn every_nth_packet_is_lost() {
    let _alone = alone();
    let Some(network) = network("every_nth_packet_is_lost") else { return };
    let loss = Loss::Periodic { every: 10.try_into().unwrap() };
    let lossy = LinkConfig { loss, ..link(100.0, Duration::from_millis(1)) };
    for addresses in [V4, V6] {
        let wire = network.wire(lossy.clone(), link(100.0, Duration::ZERO));
        let seen = arrivals(&network.sockets(addresses), 200);
        assert_eq!(seen.len(), 180, "{seen:?}");
        let gaps: Vec<_> = (0..200_u32).filter(|n| !seen.contains(n)).collect();
        assert!(gaps.windows(2).all(|pair| pair[1] - pair[0] == 10), "{gaps:?}");
        // The closing datagrams are packets, too.
        let report = wire.stop();
        assert_eq!(report.up.link.dropped.loss.packets, report.up.link.entered.packets / 10);
    }
}

/// TCP leaves checksums to its interface and would have it cut segments.
#[test]
fn tcp_passes_unharmed_in_packets_of_the_mtu() {
    let _alone = alone();
    let Some(network) = network("tcp_passes_unharmed_in_packets_of_the_mtu") else { return };
    let sent: Vec<u8> = (0..1_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    for addresses in [V4, V6] {
        let delay = Duration::from_millis(2);
        let wire = network.wire(link(100.0, delay), link(100.0, delay));
        let [mut client, mut server] = network.connection(addresses);
        let data = sent.clone();
        let sending = std::thread::spawn(move || client.write_all(&data).unwrap());
        let mut received = Vec::new();
        server.read_to_end(&mut received).unwrap();
        sending.join().unwrap();
        assert!(received == sent, "{} bytes", received.len());
        let report = wire.stop();
        assert_eq!((report.up.oversized, report.down.oversized), (0, 0), "{report:?}");
        assert!(report.up.link.delivered.packets >= 1_000_000 / 1_460, "{report:?}");
    }
}

/// The receiver's kernel drops what has a wrong header checksum.
#[test]
fn marked_packets_are_received() {
    let _alone = alone();
    let Some(network) = network("marked_packets_are_received") else { return };
    let codel = CoDelConfig {
        target: Duration::from_micros(10),
        interval: Duration::from_millis(1),
        limit: QueueLimit::Packets(1_000),
        ecn: true,
    };
    let marking = LinkConfig { queue: codel.into(), ..link(10.0, Duration::ZERO) };
    for addresses in [V4, V6] {
        let wire = network.wire(marking.clone(), link(10.0, Duration::ZERO));
        let sockets = network.sockets(addresses);
        const ECT_0: u32 = 2;
        let sender = SockRef::from(&sockets[0]);
        match addresses[0] {
            IpAddr::V4(_) => sender.set_tos_v4(ECT_0).unwrap(),
            IpAddr::V6(_) => sender.set_tclass_v6(ECT_0).unwrap(),
        }
        for _ in 0..100 {
            sockets[0].send(&[0; 900]).unwrap();
        }
        for number in 0..100 {
            assert!(receive(&sockets[1], PATIENCE).is_some(), "{number}: {:?}", wire.report());
        }
        assert!(wire.report().up.link.marked.packets > 10, "{:?}", wire.report());
    }
}

#[test]
fn a_link_that_is_down_is_silent() {
    let _alone = alone();
    let Some(network) = network("a_link_that_is_down_is_silent") else { return };
    let wire = network.wire(link(100.0, Duration::ZERO), link(100.0, Duration::ZERO));
    let sockets = network.sockets(V4);
    wire.set_down(Direction::Up, true);
    sockets[0].send(b"lost").unwrap();
    let start = now();
    while wire.report().up.link.dropped.blackout.packets == 0 {
        assert!(start.elapsed() < PATIENCE, "{:?}", wire.report());
        std::thread::yield_now();
    }
    sockets[1].send(b"down").unwrap();
    assert_eq!(receive(&sockets[0], PATIENCE).as_deref(), Some(&b"down"[..]), "one way only");
    wire.set_down(Direction::Up, false);
    sockets[0].send(b"up").unwrap();
    assert_eq!(receive(&sockets[1], PATIENCE).as_deref(), Some(&b"up"[..]));
}

/// The thread waits for an event that the new settings bring forward.
#[test]
fn new_settings_hold_at_once() {
    let _alone = alone();
    let Some(network) = network("new_settings_hold_at_once") else { return };
    let stalled = link(0.0, Duration::ZERO);
    let wire = network.wire(stalled, link(100.0, Duration::ZERO));
    let sockets = network.sockets(V4);
    sockets[0].send(b"stalled").unwrap();
    let start = now();
    while wire.report().up.link.waiting.packets == 0 {
        assert!(start.elapsed() < PATIENCE, "{:?}", wire.report());
        std::thread::yield_now();
    }
    wire.set_config(Direction::Up, link(100.0, Duration::ZERO)).unwrap();
    assert_eq!(receive(&sockets[1], PATIENCE).as_deref(), Some(&b"stalled"[..]));
}

#[test]
fn what_cannot_start_says_why_and_ends() {
    let _alone = alone();
    let Some(network) = network("what_cannot_start_says_why_and_ends") else { return };
    let spec = WireSpec {
        name: "lte".to_owned(),
        up_from: "up".to_owned(),
        down_from: "nowhere".to_owned(),
        up: link(1.0, Duration::ZERO),
        down: link(1.0, Duration::ZERO),
        seeds: [0; 2],
    };
    let start = |spec: &WireSpec, enter: Box<dyn FnOnce() -> io::Result<()> + Send>| {
        Wire::start(spec.clone(), Clock::start(), enter).unwrap_err()
    };
    let error = start(&spec, Box::new(network.between.enter()));
    assert!(matches!(&error, WireError::Socket { interface, .. } if interface == "nowhere"));
    assert!(error.to_string().starts_with("wire lte: no packet socket on interface nowhere: "));

    let error = start(&spec, Box::new(|| Err(io::ErrorKind::NotFound.into())));
    assert!(matches!(error, WireError::Namespace { .. }));

    let loss = Loss::Bernoulli(2.0);
    let wrong = WireSpec { down: LinkConfig { loss, ..spec.down.clone() }, ..spec };
    let error = start(&wrong, Box::new(network.between.enter()));
    assert!(matches!(error, WireError::Link { direction: Direction::Down, .. }));
}

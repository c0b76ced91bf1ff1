//! Over loopback, with real sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use noq_udp::EcnCodepoint;

use super::outcome::Unreachable;
use super::*;

fn on(ip: impl Into<IpAddr>) -> UplinkSocket {
    UplinkSocket::bind(&UplinkOptions::new(BindTo::Address(ip.into()))).unwrap()
}

fn transmit(destination: SocketAddr, contents: &[u8]) -> Transmit<'_> {
    Transmit { destination, ecn: None, contents, segment_size: None, src_ip: None }
}

/// Waits for datagrams and takes as many as there are.
async fn fill(socket: &UplinkSocket, batch: &mut ReceiveBatch) {
    loop {
        socket.readable().await.unwrap();
        if let Some(received) = socket.try_recv(batch).unwrap() {
            assert_eq!(received, Received::Datagrams);
            return;
        }
    }
}

async fn receive(socket: &UplinkSocket, count: usize) -> Vec<(Option<EcnCodepoint>, Vec<u8>)> {
    let mut batch = socket.receive_batch();
    let mut out = Vec::new();
    while out.len() < count {
        fill(socket, &mut batch).await;
        out.extend(batch.datagrams().map(|d| (d.ecn, d.contents.to_vec())));
    }
    out
}

async fn segmented_batch_arrives(near: UplinkSocket, far: UplinkSocket) {
    let segments = near.max_gso_segments().get().min(10);
    let contents: Vec<u8> = (0..segments * 1200 - 500).map(|i| (i / 7) as u8).collect();
    let batch = Transmit {
        ecn: Some(EcnCodepoint::Ect0),
        segment_size: Some(1200),
        ..transmit(far.local_addr(), &contents)
    };
    assert_eq!(near.try_send(&batch).unwrap(), Sent::All);
    let received = receive(&far, segments).await;
    let expected = contents.chunks(1200).map(|c| (Some(EcnCodepoint::Ect0), c.to_vec()));
    assert_eq!(received, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_segmented_batch_arrives_intact_with_its_ecn_mark() {
    segmented_batch_arrives(on(Ipv4Addr::LOCALHOST), on(Ipv4Addr::LOCALHOST)).await;
    segmented_batch_arrives(on(Ipv6Addr::LOCALHOST), on(Ipv6Addr::LOCALHOST)).await;
}

#[tokio::test]
async fn a_batch_is_sent_singly_where_segmentation_fails() {
    let (near, far) = (on(Ipv4Addr::LOCALHOST), on(Ipv4Addr::LOCALHOST));
    let contents: Vec<u8> = (0..250).collect();
    let batch = Transmit { segment_size: Some(100), ..transmit(far.local_addr(), &contents) };
    assert_eq!(near.send_singly(&batch).unwrap(), Sent::All);
    let sizes: Vec<_> = receive(&far, 3).await.into_iter().map(|(_, c)| c.len()).collect();
    assert_eq!(sizes, [100, 100, 50]);
}

#[tokio::test]
async fn an_empty_datagram_arrives_and_tells_its_ends() {
    let (near, far) = (on(Ipv4Addr::LOCALHOST), on(Ipv4Addr::LOCALHOST));
    assert_eq!(near.try_send(&transmit(far.local_addr(), &[])).unwrap(), Sent::All);
    let mut batch = far.receive_batch();
    fill(&far, &mut batch).await;
    let datagrams: Vec<_> = batch.datagrams().collect();
    let [datagram] = datagrams[..] else { panic!("{datagrams:?}") };
    assert_eq!((datagram.source, datagram.contents), (near.local_addr(), &[][..]));
    assert_eq!(datagram.destination, Some(Ipv4Addr::LOCALHOST.into()));
    assert_eq!(far.try_recv(&mut batch).unwrap(), None);
    assert_eq!(batch.datagrams().count(), 0);
}

#[tokio::test]
async fn what_befalls_one_datagram_is_an_outcome() {
    let near = on(Ipv4Addr::LOCALHOST);
    // 65,507 bytes is the largest payload that an IPv4 datagram can have.
    let large = vec![0; 65_508];
    let sent = near.try_send(&transmit(near.local_addr(), &large)).unwrap();
    assert_eq!(sent, Sent::TooLarge);
    // A socket of the loopback address has no route to the outside.
    let outside = near.try_send(&transmit(([192, 0, 2, 77], 9).into(), b"x"));
    assert!(matches!(outside, Ok(Sent::Unreachable(_))), "{outside:?}");
    // And the socket still works.
    assert_eq!(near.try_send(&transmit(near.local_addr(), b"y")).unwrap(), Sent::All);
    assert_eq!(receive(&near, 1).await, [(None, b"y".to_vec())]);
}

/// An unconnected Linux socket does not report ICMP errors, other systems do; so the mapping is
/// tested.
#[test]
fn icmp_errors_are_outcomes_and_a_closed_socket_is_an_error() {
    let error = |kind: io::ErrorKind| io::Error::from(kind);
    let received = outcome::of_receive(error(io::ErrorKind::ConnectionRefused)).unwrap();
    assert_eq!(received, Received::Unreachable(Unreachable::Port));
    let sent = outcome::of_send(error(io::ErrorKind::NetworkUnreachable)).unwrap();
    assert_eq!(sent, Sent::Unreachable(Unreachable::Network));
    assert!(outcome::of_send(error(io::ErrorKind::NotConnected)).is_err());
    #[cfg(target_os = "linux")]
    {
        const EBADF: i32 = 9;
        const ENOBUFS: i32 = 105;
        assert!(outcome::of_receive(io::Error::from_raw_os_error(EBADF)).is_err());
        let full = outcome::of_send(io::Error::from_raw_os_error(ENOBUFS)).unwrap();
        assert_eq!(full, Sent::Dropped);
    }
}

#[tokio::test]
async fn bind_errors_are_named() {
    let taken = on(Ipv4Addr::LOCALHOST);
    let port = taken.local_addr().port();
    let bind =
        |bind_to, port| UplinkSocket::bind(&UplinkOptions { port, ..UplinkOptions::new(bind_to) });
    let error = bind(BindTo::Address(Ipv4Addr::LOCALHOST.into()), port).unwrap_err();
    assert!(matches!(error, BindError::PortInUse(addr) if addr == taken.local_addr()));
    // TEST-NET-1 (RFC 5737) with a host part that no test machine uses.
    let error = bind(BindTo::Address([192, 0, 2, 253].into()), 0).unwrap_err();
    assert!(matches!(error, BindError::AddressNotAvailable(_)), "{error}");
    let device = |name: &str| BindTo::Device { name: name.into(), address: None, ipv6: false };
    if cfg!(target_os = "linux") {
        for name in ["no-such-device", "", "a-name-longer-than-any-interface-may-have"] {
            let error = bind(device(name), 0).unwrap_err();
            assert!(matches!(error, BindError::NoSuchInterface(_)), "{name:?}: {error}");
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_socket_tied_to_loopback_talks_over_it() {
    let address = Some(Ipv4Addr::LOCALHOST.into());
    let bind_to = BindTo::Device { name: "lo".into(), address, ipv6: false };
    let socket = UplinkSocket::bind(&UplinkOptions::new(bind_to)).unwrap();
    let device = "lo".to_owned();
    let fallback = Binding::AddressInsteadOfDevice {
        device: device.clone(),
        address: Ipv4Addr::LOCALHOST.into(),
    };
    assert!([Binding::Device(device), fallback].contains(socket.binding()));
    assert_eq!(socket.try_send(&transmit(socket.local_addr(), b"x")).unwrap(), Sent::All);
    assert_eq!(receive(&socket, 1).await, [(None, b"x".to_vec())]);
    let (send, recv) = socket.buffer_sizes().unwrap();
    assert!(send > 0 && recv > 0);
}

/// Payload in bytes, and how many datagrams it takes.
async fn counted(ip: impl Into<IpAddr>, bytes: usize, segment: Option<usize>) -> [u64; 2] {
    let ip = ip.into();
    let (sent, received) = (Meter::default(), Meter::default());
    let (near, far) = (on(ip).metered(Some(sent.clone())), on(ip).metered(Some(received.clone())));
    let contents = vec![7; bytes];
    let batch = Transmit { segment_size: segment, ..transmit(far.local_addr(), &contents) };
    match segment {
        Some(size) if bytes.div_ceil(size) > near.max_gso_segments().get() => {
            assert_eq!(near.send_singly(&batch).unwrap(), Sent::All);
        }
        _ => assert_eq!(near.try_send(&batch).unwrap(), Sent::All),
    }
    receive(&far, segment.map_or(1, |size| bytes.div_ceil(size))).await;
    [sent.take(), received.take()]
}

/// Each datagram has 8 bytes of UDP and 20 of IPv4, or 40 of IPv6.
#[tokio::test]
async fn a_meter_counts_ip_packets_in_both_directions() {
    assert_eq!(counted(Ipv4Addr::LOCALHOST, 1_000, None).await, [1_028; 2]);
    assert_eq!(counted(Ipv6Addr::LOCALHOST, 1_000, None).await, [1_048; 2]);
    assert_eq!(counted(Ipv4Addr::LOCALHOST, 0, None).await, [28; 2]);
    // Three datagrams, of 1,200, 1,200 and 100 bytes.
    assert_eq!(counted(Ipv4Addr::LOCALHOST, 2_500, Some(1_200)).await, [2_500 + 3 * 28; 2]);
    assert_eq!(counted(Ipv4Addr::LOCALHOST, 2_400, Some(1_200)).await, [2_400 + 2 * 28; 2]);
}

#[tokio::test]
async fn what_does_not_leave_is_not_counted_and_sockets_of_a_path_count_together() {
    let meter = Meter::default();
    let metered = || on(Ipv4Addr::LOCALHOST).metered(Some(meter.clone()));
    let far = on(Ipv4Addr::LOCALHOST);
    let too_large = vec![0; 65_508];
    assert_eq!(
        metered().try_send(&transmit(far.local_addr(), &too_large)).unwrap(),
        Sent::TooLarge
    );
    assert_eq!(meter.take(), 0);
    for _ in 0..2 {
        assert_eq!(metered().try_send(&transmit(far.local_addr(), b"ab")).unwrap(), Sent::All);
    }
    assert_eq!((meter.take(), meter.take()), (60, 0));
}

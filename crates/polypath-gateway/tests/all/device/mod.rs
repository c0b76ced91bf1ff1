//! TUN devices and the kernel's own traffic.

mod bridge;

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;

use polypath_gateway::device::{DeviceError, DeviceSettings, Tun};

use crate::namespace::Namespace;
use crate::packet::{TCP, UDP, back, next, payload, read};
use crate::process::stdout;
use crate::runtime::{PATIENCE, within};

const HERE: &str = "10.77.0.1";
const THERE: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

fn settings() -> DeviceSettings {
    DeviceSettings {
        name: "pp0".parse().unwrap(),
        addresses: vec![format!("{HERE}/24").parse().unwrap(), "fd77::1/64".parse().unwrap()],
        mtu: 1400.try_into().unwrap(),
        offload: true,
    }
}

fn plain() -> DeviceSettings {
    DeviceSettings { offload: false, ..settings() }
}

async fn echo_datagrams(settings: DeviceSettings) {
    let (mut reader, mut writer) = Tun::create(&settings).await.unwrap().split();
    let socket = UdpSocket::bind((HERE, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let sent: Vec<Vec<u8>> = (1..=100).map(|n: u8| vec![n; 7 * usize::from(n)]).collect();
    for datagram in &sent {
        socket.send_to(datagram, (THERE, 9)).unwrap();
    }
    let packets = read(&mut reader, UDP, sent.len()).await;
    let payloads: Vec<_> = packets.iter().map(|packet| payload(packet).to_vec()).collect();
    assert_eq!(payloads, sent);
    writer.send(packets.iter().map(|packet| back(packet))).await.unwrap();
    let mut buffer = [0; 2000];
    for datagram in &sent {
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..length], from), (&datagram[..], (THERE, 9).into()));
    }
    assert_eq!((writer.refused(), reader.malformed()), (0, 0));
}

#[test]
fn datagrams_of_the_host_are_read_and_answers_reach_it() {
    let test = "datagrams_of_the_host_are_read_and_answers_reach_it";
    let Some(host) = Namespace::new(test) else { return };
    within(&host, || echo_datagrams(settings()));
}

#[test]
fn so_they_are_without_offload() {
    let Some(host) = Namespace::new("so_they_are_without_offload") else { return };
    within(&host, || echo_datagrams(plain()));
}

#[test]
fn a_device_has_what_it_was_made_with() {
    let Some(host) = Namespace::new("a_device_has_what_it_was_made_with") else { return };
    within(&host, async || {
        let tun = Tun::create(&settings()).await.unwrap();
        let shown = |args: &[&str]| {
            let output = Command::new("ip").args(args).args(["show", "pp0"]).output().unwrap();
            stdout(&output).to_owned()
        };
        let link = shown(&["-details", "link"]);
        for wanted in ["mtu 1400 ", "qlen 1000", "gso_max_segs 128", "alias polypath", ",UP,"] {
            assert!(link.contains(wanted), "{wanted}: {link}");
        }
        let addresses = shown(&["-oneline", "address"]);
        let of = |line: &str| line.split_whitespace().nth(3).unwrap().to_owned();
        let addresses: Vec<_> = addresses.lines().map(of).collect();
        assert_eq!(addresses, ["10.77.0.1/24", "fd77::1/64"]);
        assert!(tun.has_tcp_offload());
        drop(tun);
        // Processes that other tests are just starting may have it open still.
        while !shown(&["link"]).is_empty() {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let Some(host) = Namespace::new("a_name_that_is_taken_is_refused") else { return };
    host.ip("tuntap add pp0 mode tun");
    within(&host, async || {
        let error = Tun::create(&settings()).await.unwrap_err();
        assert!(matches!(error, DeviceError::Exists { .. }), "{error}");
    });
}

#[test]
fn a_deleted_device_is_told_to_reader_and_writer_and_can_be_made_again() {
    let test = "a_deleted_device_is_told_to_reader_and_writer_and_can_be_made_again";
    let Some(host) = Namespace::new(test) else { return };
    within(&host, async || {
        let (mut reader, mut writer) = Tun::create(&settings()).await.unwrap().split();
        let delete = || assert!(ip("link delete pp0"));
        // It waits when the device goes.
        let read = async {
            loop {
                if let Err(error) = reader.recv().await {
                    return error;
                }
            }
        };
        let (error, ()) = tokio::join!(read, async { delete() });
        assert!(matches!(error, DeviceError::Gone { .. }), "{error}");
        let error = writer.send([[0x45; 20]]).await.unwrap_err();
        assert!(matches!(error, DeviceError::Gone { .. }), "{error}");
        // While the old ones are there.
        Tun::create(&settings()).await.unwrap();
    });
}

#[test]
fn a_device_that_was_switched_off_is_told_to_the_writer() {
    let test = "a_device_that_was_switched_off_is_told_to_the_writer";
    let Some(host) = Namespace::new(test) else { return };
    within(&host, async || {
        let (_reader, mut writer) = Tun::create(&settings()).await.unwrap().split();
        assert!(ip("link set pp0 down"));
        let error = writer.send([[0x45; 20]]).await.unwrap_err();
        assert!(matches!(error, DeviceError::Down { .. }), "{error}");
    });
}

#[test]
fn what_is_no_packet_is_refused_and_those_beside_it_pass() {
    let test = "what_is_no_packet_is_refused_and_those_beside_it_pass";
    let Some(host) = Namespace::new(test) else { return };
    within(&host, async || {
        let (mut reader, mut writer) = Tun::create(&settings()).await.unwrap().split();
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.send_to(b"good", (THERE, 9)).unwrap();
        let good = back(&next(&mut reader, UDP).await);
        let (empty, long, neither) = (Vec::new(), vec![0x45; 65_536], vec![0x75; 40]);
        let cut = [0x45, 0, 0, 40].into_iter().chain([0; 5]).chain([TCP]).collect::<Vec<u8>>();
        writer.send([empty, long, neither, cut, good]).await.unwrap();
        let mut buffer = [0; 10];
        let (length, _) = socket.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"good");
        // The kernel takes one that is too short, and drops it by itself.
        assert_eq!(writer.refused(), 3);
    });
}

#[test]
fn what_is_longer_than_the_mtu_comes_in_fragments() {
    let test = "what_is_longer_than_the_mtu_comes_in_fragments";
    let Some(host) = Namespace::new(test) else { return };
    within(&host, async || {
        let (mut reader, _writer) = Tun::create(&settings()).await.unwrap().split();
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        socket.send_to(&[7; 1400], (THERE, 9)).unwrap();
        let packets = read(&mut reader, UDP, 2).await;
        // 1376 bytes are the most of whole units of 8 behind a header of 20.
        let lengths: Vec<_> = packets.iter().map(Vec::len).collect();
        assert_eq!(lengths, [20 + 1376, 20 + 8 + 1400 - 1376]);
    });
}

fn ip(arguments: &str) -> bool {
    Command::new("ip").args(arguments.split(' ')).status().unwrap().success()
}

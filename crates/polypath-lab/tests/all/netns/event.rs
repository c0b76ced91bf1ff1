//! Scripted changes happen at their time.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use polypath_emulator::realtime::{Clock, rest};
use polypath_units::Timestamp;

use super::lab::{Lab, TWO_LINKS, alone};

/// The fast link is silent for a second.
const SILENCE: &str = r#"
[[event]]
at = "1 s"
link = "fast"
down = true
[[event]]
at = "2 s"
link = "fast"
down = false
"#;
const DOWN: Duration = Duration::from_secs(1);
const UP: Duration = Duration::from_secs(2);
/// What a link holds when it goes down is lost too: what was sent in its delay before.
const DELAY: Duration = Duration::from_millis(10);
/// Threads of a busy machine are late: the one that sends, between stamp and link, and the one of
/// the events. The silence is four times as long.
const LATE: Duration = Duration::from_millis(250);

const CLIENTS: [&str; 2] = ["10.0.1.1", "10.0.2.1"];
const SERVER: &str = "10.0.1.2";
/// How long probes are sent, in all and one after the other.
const PROBING: Duration = Duration::from_millis(2500);
const PERIOD: Duration = Duration::from_millis(1);

/// The stamps of probes, link by link.
type Stamps = [Vec<Timestamp>; 2];

/// What was sent, and what of it arrived.
fn probe(lab: &Lab, clock: Clock) -> (Stamps, Stamps) {
    let receiver = lab.within("server", || UdpSocket::bind((SERVER, 0)).unwrap());
    receiver.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let to = receiver.local_addr().unwrap();
    std::thread::scope(|scope| {
        let received = scope.spawn(|| receive(&receiver));
        let sent = lab.within("client", || send(to, clock));
        (sent, received.join().unwrap())
    })
}

fn send(to: SocketAddr, clock: Clock) -> Stamps {
    let sockets = CLIENTS.map(|from| UdpSocket::bind((from, 0)).unwrap());
    let mut sent = Stamps::default();
    let end = clock.now() + PROBING;
    while clock.now() < end {
        for (socket, sent) in sockets.iter().zip(&mut sent) {
            let stamp = clock.now();
            socket.send_to(&stamp.as_nanos().to_be_bytes(), to).unwrap();
            sent.push(stamp);
        }
        rest(PERIOD);
    }
    sent
}

/// Until nothing has come for a second.
fn receive(receiver: &UdpSocket) -> Stamps {
    let mut sent = Stamps::default();
    let mut stamp = [0; 8];
    loop {
        match receiver.recv_from(&mut stamp) {
            Ok((8, from)) => {
                let link = CLIENTS.iter().position(|client| from.ip().to_string() == *client);
                sent[link.unwrap()].push(Timestamp::from_nanos(u64::from_be_bytes(stamp)));
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return sent,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_link_is_silent_from_one_event_to_the_next() {
    let test = "a_link_is_silent_from_one_event_to_the_next";
    let Some(lab) = Lab::new(test, &(TWO_LINKS.to_owned() + SILENCE)) else { return };
    let _alone = alone();
    // The time of the events begins between these two.
    let clock = Clock::start();
    let earliest = clock.now();
    let emulator = lab.running(&[]);
    let latest = clock.now();
    let ([fast, slow], [fast_arrived, slow_arrived]) = probe(&lab, clock);
    assert_eq!(emulator.stop().code(), Some(0));
    assert_eq!(slow, slow_arrived, "the other link loses nothing");

    let lost: Vec<_> = fast.iter().filter(|stamp| !fast_arrived.contains(stamp)).collect();
    let (first, last) = (*lost[0], *lost[lost.len() - 1]);
    let meanwhile = fast.iter().filter(|stamp| (first..=last).contains(stamp)).count();
    assert_eq!(lost.len(), meanwhile, "all or nothing is lost");
    assert!(first + DELAY + LATE >= earliest + DOWN, "{first:?}, {earliest:?}");
    assert!(first <= latest + DOWN + LATE, "{first:?}, {latest:?}");
    assert!(last + LATE >= earliest + UP, "{last:?}, {earliest:?}");
    assert!(last <= latest + UP + LATE, "{last:?}, {latest:?}");
}

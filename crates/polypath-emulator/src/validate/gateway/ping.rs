//! Echo requests through the gateway, and over each path by the kernel alone.

use super::error::GatewayError;
use super::figure::Figure;
use super::interrupt::Ending;
use super::profile::{GatewayProfile, LAN};
use super::program::Given;
use super::rig::Rig;
use super::settings::GatewaySettings;
use super::site::{SERVER_HOST, Site};
use crate::realtime::Clock;
use polypath_model::metrics::quantile;
use polypath_units::{Timestamp, millis};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

const FAILED: &str = "echo requests";
/// Between requests.
const INTERVAL: Duration = Duration::from_millis(20);
/// How often it is looked whether all is over.
const LOOK: Duration = Duration::from_millis(50);
/// For answers under way.
const UNDER_WAY: Duration = Duration::from_secs(2);
/// What tells our requests from others.
const IDENTIFIER: u16 = 0x7070;
/// The header of an IPv4 packet without options, and of an echo message (RFC 792).
const IPV4_HEADER: usize = 20;
const ECHO_HEADER: usize = 8;
const REQUEST: u8 = 8;
const REPLY: u8 = 0;

/// Through the bond, and over each path alone.
pub(super) fn run(
    profile: &GatewayProfile,
    settings: &GatewaySettings,
    seed: u64,
) -> Result<Vec<Figure>, GatewayError> {
    let mut figures = Vec::new();
    let mut alone = f64::INFINITY;
    let site = Site::new(profile, settings, seed)?;
    for (place, path) in profile.links().iter().enumerate() {
        site.route_over(place)?;
        let seen = measure(&site, settings)?;
        let median = seen.quantile_ms(0.5);
        alone = alone.min(median.unwrap_or(f64::INFINITY));
        figures.push(Figure::maybe(format!("{} alone, p50", path.name), "ms", median));
    }
    site.forget_routes()?;
    let rig = Rig::start_on(site, settings, Given::default())?;
    let seen = measure(rig.site(), settings)?;
    rig.stop()?;
    let median = seen.quantile_ms(0.5);
    let above = median.filter(|_| alone.is_finite()).map(|median| median - alone);
    figures.extend([
        Figure::maybe("gateway, p50", "ms", median),
        Figure::maybe("gateway, p99", "ms", seen.quantile_ms(0.99)),
        Figure::new("gateway, lost", "packets", seen.lost() as f64),
        Figure::maybe("gateway p50 above the better path's", "ms", above),
    ]);
    Ok(figures)
}

fn measure(site: &Site, settings: &GatewaySettings) -> Result<Echoes, GatewayError> {
    let pinging = Pinging::start(site)?;
    let (from, end) = settings.window(site.clock().now());
    settings.interrupt.wait(site.clock(), end + UNDER_WAY)?;
    Ok(pinging.stop()?.between(from, end))
}

/// Requests under way, one every 20 ms.
#[derive(Debug)]
pub(super) struct Pinging {
    sending: JoinHandle<io::Result<Vec<Timestamp>>>,
    receiving: JoinHandle<io::Result<Vec<(usize, Timestamp)>>>,
    ending: Ending,
}

/// Requests with the times at which they were answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Echoes(Vec<(Timestamp, Option<Timestamp>)>);

impl Pinging {
    /// Begins.
    pub(super) fn start(site: &Site) -> Result<Self, GatewayError> {
        let start = || {
            let open = || Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4));
            let socket = site.within(LAN, open)?;
            socket.set_read_timeout(Some(LOOK))?;
            let (clock, ending) = (site.clock(), Ending::default());
            let (sender, told) = (socket.try_clone()?, ending.told());
            let sending = Builder::new().name("echo requests".into());
            let sending = sending.spawn(move || ask(&sender, clock, &told))?;
            let told = ending.told();
            let receiving = Builder::new().name("echo replies".into());
            let receiving = receiving.spawn(move || hear(socket, clock, &told))?;
            Ok(Self { sending, receiving, ending })
        };
        start().map_err(GatewayError::of(FAILED))
    }

    /// Ends.
    pub(super) fn stop(self) -> Result<Echoes, GatewayError> {
        drop(self.ending);
        let panicked = || io::Error::other("a thread of the requests panicked");
        let sent = self.sending.join().unwrap_or_else(|_| Err(panicked()));
        let heard = self.receiving.join().unwrap_or_else(|_| Err(panicked()));
        let both = sent.and_then(|sent| Ok(Echoes::new(&sent, &heard?)));
        both.map_err(GatewayError::of(FAILED))
    }
}

impl Echoes {
    fn new(sent: &[Timestamp], heard: &[(usize, Timestamp)]) -> Self {
        let mut echoes: Vec<_> = sent.iter().map(|&at| (at, None)).collect();
        for &(number, at) in heard {
            if let Some((_, answer @ None)) = echoes.get_mut(number) {
                *answer = Some(at);
            }
        }
        Self(echoes)
    }

    /// Those that were sent in this time.
    pub(super) fn between(mut self, from: Timestamp, end: Timestamp) -> Self {
        self.0.retain(|&(sent, _)| (from..end).contains(&sent));
        self
    }

    /// How many had no answer.
    pub(super) fn lost(&self) -> usize {
        self.0.iter().filter(|(_, answer)| answer.is_none()).count()
    }

    /// The longest time between two answers.
    pub(super) fn longest_gap(&self) -> Duration {
        let mut answers: Vec<_> = self.0.iter().filter_map(|&(_, answer)| answer).collect();
        answers.sort();
        answers.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap_or_default()
    }

    /// A quantile of the round-trip times; `None` if nothing was answered.
    pub(super) fn quantile_ms(&self, share: f64) -> Option<f64> {
        let rtt = |&(sent, answer): &(_, Option<Timestamp>)| Some(millis(answer?.since(sent)));
        quantile(&mut self.0.iter().filter_map(rtt).collect::<Vec<_>>(), share)
    }
}

/// Sends requests until it is over; when that was.
fn ask(socket: &Socket, clock: Clock, over: &impl Fn() -> bool) -> io::Result<Vec<Timestamp>> {
    crate::realtime::sharpen_timers();
    let (start, server) = (clock.now(), SocketAddr::new(SERVER_HOST.into(), 0).into());
    let mut sent = Vec::new();
    // What the numbers of echo messages count.
    for number in 0..=u16::MAX {
        clock.wait(&mut [], Some(start + INTERVAL * u32::from(number)))?;
        if over() {
            break;
        }
        sent.push(clock.now());
        socket.send_to(&request(number), &server)?;
    }
    Ok(sent)
}

/// Receives replies until it is over: which, and when.
fn hear(
    mut socket: Socket,
    clock: Clock,
    over: &impl Fn() -> bool,
) -> io::Result<Vec<(usize, Timestamp)>> {
    let (mut heard, mut packet) = (Vec::new(), [0; 1_500]);
    while !over() {
        match socket.read(&mut packet) {
            Ok(length) => {
                let number = number_of_reply(&packet[..length]);
                heard.extend(number.map(|number| (number.into(), clock.now())));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(heard)
}

/// An echo request: type, code, checksum, identifier and number (RFC 792).
fn request(number: u16) -> [u8; ECHO_HEADER] {
    let words = [u16::from(REQUEST) << 8, 0, IDENTIFIER, number];
    // The complement of the sum with its carries (RFC 1071): of four words there are two at most.
    let sum: u32 = words.iter().map(|&word| u32::from(word)).sum();
    let once = (sum & 0xffff) + (sum >> 16);
    let checksum = !((once & 0xffff) + (once >> 16)) as u16;
    let mut bytes = [0; ECHO_HEADER];
    for (place, word) in bytes.chunks_exact_mut(2).zip([words[0], checksum, words[2], number]) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

/// The number of the request that this packet answers.
fn number_of_reply(packet: &[u8]) -> Option<u16> {
    let echo = packet.get(IPV4_HEADER..IPV4_HEADER + ECHO_HEADER)?;
    let word = |at: usize| u16::from_be_bytes([echo[at], echo[at + 1]]);
    (echo[0] == REPLY && word(4) == IDENTIFIER).then(|| word(6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_checksum_of_rfc_1071() {
        for number in [0, 1, 0x8f8f, u16::MAX] {
            let words = request(number);
            let sum: u32 =
                words.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "{number}");
        }
    }

    #[test]
    fn replies_to_our_requests_alone_are_heard() {
        let mut packet = [0; IPV4_HEADER + ECHO_HEADER];
        packet[IPV4_HEADER..].copy_from_slice(&request(7));
        assert_eq!(number_of_reply(&packet), None, "a request");
        packet[IPV4_HEADER] = REPLY;
        assert_eq!(number_of_reply(&packet), Some(7));
        packet[IPV4_HEADER + 4] ^= 1;
        assert_eq!(number_of_reply(&packet), None, "another's");
        assert_eq!(number_of_reply(&packet[..IPV4_HEADER]), None);
    }

    #[test]
    fn round_trips_are_of_what_was_answered() {
        let ms = Timestamp::from_millis;
        let sent = [0, 20, 40, 60].map(ms);
        let heard = [(0, ms(10)), (2, ms(70)), (2, ms(71)), (3, ms(90)), (9, ms(95))];
        let echoes = Echoes::new(&sent, &heard);
        assert_eq!((echoes.lost(), echoes.quantile_ms(0.5)), (1, Some(30.0)));
        assert_eq!(echoes.longest_gap(), Duration::from_millis(60));
        assert_eq!(echoes.between(ms(20), ms(60)).lost(), 1);
    }
}

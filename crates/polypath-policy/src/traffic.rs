//! What is known of traffic when it is decided about.

use std::fmt;
use std::net::IpAddr;
use std::str::SplitWhitespace;

use crate::{Criterion, Dscp, Names, ParseDscpError, ParseProtocolError, Protocol, User};

/// A connection, or a packet of a conversation: what rules look at, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic<'a> {
    /// The protocol above IP.
    pub protocol: Protocol,
    /// The address that it comes from.
    pub source: Option<IpAddr>,
    /// The port that it comes from.
    pub source_port: Option<u16>,
    /// The address that it goes to; not known where only a name is.
    pub destination: Option<IpAddr>,
    /// The port that it goes to.
    pub port: Option<u16>,
    /// The names of what it goes to.
    pub domain: Names<'a>,
    /// As the sender of the packet has set it.
    pub dscp: Option<Dscp>,
    /// Bytes of UDP payload, and of other protocols of the IP packet: those of the largest packet
    /// of the conversation so far, in either direction, this one included.
    pub packet_size: Option<u32>,
    /// What it has come by: an interface, or `host` where a program of this host sends it.
    pub interface: Option<&'a str>,
    /// Whose program of this host sends it.
    pub user: Option<User<'a>>,
}

/// Text that describes no traffic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is no traffic: {problem}; allowed: PROTOCOL [DESTINATION[:PORT]] [named NAME] \
     [from SOURCE[:PORT]] [dscp DSCP] [size BYTES] [by \
     INTERFACE|host] [user USER], such as \"udp 192.0.2.1:5000 dscp 46 size 160\" or \
     \"tcp www.example.org:443\""
)]
pub struct ParseTrafficError {
    given: String,
    problem: TrafficProblem,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum TrafficProblem {
    #[error(transparent)]
    Protocol(#[from] ParseProtocolError),
    #[error(transparent)]
    Dscp(#[from] ParseDscpError),
    #[error("{0:?} is no port from 1 to 65535")]
    Port(String),
    #[error("{0} has no ports")]
    NoPorts(Protocol),
    #[error("{0:?} is no number of bytes")]
    Size(String),
    #[error("{0:?} is no address")]
    Address(String),
    #[error("\"named\" has no name behind it")]
    NoName,
    #[error("\"by\" has no interface behind it")]
    NoInterface,
    #[error("\"user\" has no name or number behind it")]
    NoUser,
    #[error("{0} is there twice")]
    Twice(Criterion),
}

impl<'a> Traffic<'a> {
    /// Traffic of which nothing is known but its protocol.
    pub const fn of(protocol: Protocol) -> Self {
        Self {
            protocol,
            source: None,
            source_port: None,
            destination: None,
            port: None,
            domain: Names::Unknown,
            dscp: None,
            packet_size: None,
            interface: None,
            user: None,
        }
    }

    /// Reads a description such as `udp 192.0.2.1:5000 dscp 46 size 160`.
    ///
    /// # Errors
    /// When it has another form.
    pub fn parse(text: &'a str) -> Result<Self, ParseTrafficError> {
        parse(text).map_err(|problem| ParseTrafficError { given: text.to_owned(), problem })
    }

    /// What is known, as text.
    pub fn found(&self, criterion: Criterion) -> Option<String> {
        fn text(value: Option<impl fmt::Display>) -> Option<String> {
            value.map(|value| value.to_string())
        }
        match criterion {
            Criterion::Protocol => text(Some(self.protocol)),
            Criterion::Source => text(self.source),
            Criterion::SourcePort => text(self.source_port),
            Criterion::Destination => text(self.destination),
            Criterion::Port => text(self.port),
            Criterion::Domain => text((!self.domain.is_empty()).then_some(self.domain)),
            Criterion::Dscp => text(self.dscp),
            Criterion::PacketSize => text(self.packet_size),
            Criterion::Interface => text(self.interface),
            Criterion::User => text(self.user),
        }
    }
}

fn parse(text: &str) -> Result<Traffic<'_>, TrafficProblem> {
    let mut words = text.split_whitespace();
    let protocol: Protocol = words.next().unwrap_or_default().parse()?;
    let mut parts = Parts { traffic: Traffic::of(protocol), has_destination: false };
    while let Some(word) = words.next() {
        parts.read(word, &mut words)?;
    }
    let traffic = parts.traffic;
    let has_port = traffic.port.or(traffic.source_port).is_some();
    if has_port && !protocol.has_ports() {
        return Err(TrafficProblem::NoPorts(protocol));
    }
    Ok(traffic)
}

/// What was read so far.
struct Parts<'a> {
    traffic: Traffic<'a>,
    has_destination: bool,
}

impl<'a> Parts<'a> {
    /// Reads the part that begins with `word`.
    fn read(
        &mut self,
        word: &'a str,
        words: &mut SplitWhitespace<'a>,
    ) -> Result<(), TrafficProblem> {
        let traffic = &mut self.traffic;
        let mut value = || words.next().unwrap_or_default();
        match word {
            "dscp" => once(&mut traffic.dscp, Criterion::Dscp, value().parse()?),
            "size" => {
                let text = value();
                let size = text.parse().map_err(|_| TrafficProblem::Size(text.to_owned()))?;
                once(&mut traffic.packet_size, Criterion::PacketSize, size)
            }
            "named" => self.name(value()),
            "by" => match value() {
                "" => Err(TrafficProblem::NoInterface),
                name => once(&mut traffic.interface, Criterion::Interface, name),
            },
            "user" => {
                let text = value();
                if text.is_empty() {
                    return Err(TrafficProblem::NoUser);
                }
                let uid = text.parse().ok();
                let name = uid.is_none().then_some(text);
                once(&mut traffic.user, Criterion::User, User { uid, name })
            }
            "from" => {
                let text = value();
                let (host, port) = split_port(text)?;
                let address = host.parse().map_err(|_| TrafficProblem::Address(text.to_owned()))?;
                once(&mut traffic.source, Criterion::Source, address)?;
                traffic.source_port = port;
                Ok(())
            }
            destination => self.destination(destination),
        }
    }

    fn destination(&mut self, text: &'a str) -> Result<(), TrafficProblem> {
        if self.has_destination {
            return Err(TrafficProblem::Twice(Criterion::Destination));
        }
        let (host, port) = split_port(text)?;
        (self.has_destination, self.traffic.port) = (true, port);
        match host.parse() {
            Ok(address) => self.traffic.destination = Some(address),
            Err(_) => self.name(host)?,
        }
        Ok(())
    }

    fn name(&mut self, name: &'a str) -> Result<(), TrafficProblem> {
        if !self.traffic.domain.is_empty() {
            return Err(TrafficProblem::Twice(Criterion::Domain));
        }
        if name.is_empty() {
            return Err(TrafficProblem::NoName);
        }
        self.traffic.domain = Names::Called(name);
        Ok(())
    }
}

fn once<T>(place: &mut Option<T>, what: Criterion, value: T) -> Result<(), TrafficProblem> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(TrafficProblem::Twice(what)),
    }
}

/// A host without brackets, and the port behind it if there is one.
fn split_port(text: &str) -> Result<(&str, Option<u16>), TrafficProblem> {
    if text.parse::<IpAddr>().is_ok() {
        return Ok((text, None));
    }
    let Some((host, port)) = text.rsplit_once(':').filter(|_| !text.ends_with(']')) else {
        return Ok((strip_brackets(text), None));
    };
    let number = port.parse().ok().filter(|port: &u16| *port > 0);
    let number = number.ok_or_else(|| TrafficProblem::Port(port.to_owned()))?;
    Ok((strip_brackets(host), Some(number)))
}

fn strip_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_say_what_is_known() {
        let udp = Traffic::of(Protocol::UDP);
        let address = |text: &str| text.parse::<IpAddr>().ok();
        let v4 = Traffic { destination: address("192.0.2.1"), port: Some(5000), ..udp };
        let v6 = Traffic { destination: address("2001:db8::1"), ..udp };
        let name =
            Traffic { domain: Names::Called("www.example.org"), ..Traffic::of(Protocol::TCP) };
        for (text, expected) in [
            ("udp", udp),
            ("udp 192.0.2.1:5000", v4),
            (
                "udp 192.0.2.1:5000 dscp 46 size 160",
                Traffic { dscp: Dscp::new(46), packet_size: Some(160), ..v4 },
            ),
            ("udp 2001:db8::1", v6),
            ("udp [2001:db8::1]", v6),
            ("udp [2001:db8::1]:53", Traffic { port: Some(53), ..v6 }),
            ("tcp www.example.org", name),
            ("tcp www.example.org:443", Traffic { port: Some(443), ..name }),
            ("udp named www.example.org 192.0.2.1:5000", Traffic { domain: name.domain, ..v4 }),
            (
                "udp size 0 from 10.0.0.2:9 192.0.2.1:5000",
                Traffic {
                    source: address("10.0.0.2"),
                    source_port: Some(9),
                    packet_size: Some(0),
                    ..v4
                },
            ),
            ("esp", Traffic::of("esp".parse().unwrap())),
        ] {
            assert_eq!(Traffic::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_name_the_fault_and_what_is_allowed() {
        for (bad, reason) in [
            ("", "\"\" is no protocol"),
            ("192.0.2.1:5000", "\"192.0.2.1:5000\" is no protocol"),
            ("udp a:0", "\"0\" is no port"),
            ("udp [::1]:x", "\"x\" is no port"),
            ("udp dscp", "\"\" is no DSCP"),
            ("udp dscp ef dscp ef", "dscp is there twice"),
            ("udp size -1", "\"-1\" is no number of bytes"),
            ("udp from a.org", "\"a.org\" is no address"),
            ("udp a.org b.org", "destination is there twice"),
            ("udp a.org named b.org", "domain is there twice"),
            ("udp by", "\"by\" has no interface"),
            ("udp user", "\"user\" has no name"),
            ("udp named", "\"named\" has no name"),
            ("icmp 192.0.2.1:7", "icmp has no ports"),
        ] {
            let error = Traffic::parse(bad).unwrap_err().to_string();
            assert!(error.contains(reason), "{bad}: {error}");
            assert!(error.contains("allowed: PROTOCOL [DESTINATION"), "{error}");
        }
    }
}

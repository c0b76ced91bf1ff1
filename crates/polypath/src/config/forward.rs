//! Ports of the edge that lead to a service behind the hub.

use core::fmt;
use core::str::FromStr;
use std::net::{Ipv4Addr, SocketAddr};

use polypath_bond::FlowMode;
use polypath_bond::codec::ParseFlowModeError;
use polypath_net::tunnel::Target;

/// A forwarded port: `tcp:LOCAL=HOST:PORT` or `udp:LOCAL=HOST:PORT[,MODE]`, for example
/// `tcp:8080=intranet.example.org:80` or `udp:27015=192.0.2.7:27015,redundant`.
///
/// LOCAL is an address and port, or a port alone for this port of 127.0.0.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// What is forwarded.
    pub protocol: ForwardProtocol,
    /// Where the edge listens.
    pub listen: SocketAddr,
    /// Where the hub connects to.
    pub target: Target,
}

/// What a forwarded port carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardProtocol {
    /// Connections.
    Tcp,
    /// Datagrams, which take these paths; `None` where the edge decides for all of its UDP.
    Udp(Option<FlowMode>),
}

/// A text that is not a forwarded port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a forwarded port: {reason}; allowed: tcp:LOCAL=HOST:PORT or \
         udp:LOCAL=HOST:PORT[,aggregate|redundant|best|smallest_delay|load_balancing], such \
         as tcp:8080=192.0.2.7:80 or udp:[::1]:53=dns.example.org:53,redundant"
)]
pub struct ParseForwardError {
    given: String,
    reason: String,
}

impl fmt::Display for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match self.protocol {
            ForwardProtocol::Tcp => "tcp",
            ForwardProtocol::Udp(_) => "udp",
        };
        write!(f, "{protocol}:{}={}", self.listen, self.target)?;
        match self.protocol {
            ForwardProtocol::Udp(Some(mode)) => write!(f, ",{mode}"),
            ForwardProtocol::Udp(None) | ForwardProtocol::Tcp => Ok(()),
        }
    }
}

impl FromStr for Forward {
    type Err = ParseForwardError;

    fn from_str(text: &str) -> Result<Self, ParseForwardError> {
        parse(text).map_err(|reason| ParseForwardError { given: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> Result<Forward, String> {
    let (protocol, rest) = match text.split_once(':') {
        Some(("tcp", rest)) => (ForwardProtocol::Tcp, rest),
        Some(("udp", rest)) => (ForwardProtocol::Udp(None), rest),
        _ => return Err("it begins with neither \"tcp:\" nor \"udp:\"".to_owned()),
    };
    let (rest, protocol) = match (rest.rsplit_once(','), protocol) {
        (None, protocol) => (rest, protocol),
        (Some((_, mode)), ForwardProtocol::Tcp) => {
            return Err(format!("connections have no {mode:?}"));
        }
        (Some((rest, mode)), ForwardProtocol::Udp(_)) => {
            let mode = mode.parse().map_err(|error: ParseFlowModeError| error.to_string())?;
            (rest, ForwardProtocol::Udp(Some(mode)))
        }
    };
    let (local, target) = rest.split_once('=').ok_or("the =HOST:PORT is missing")?;
    let listen = match local.parse::<u16>() {
        Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Err(_) => local.parse().map_err(|_| format!("{local:?} is not a local port or address"))?,
    };
    let target: Target = target.parse().map_err(|error| format!("{error}"))?;
    if target.port == 0 {
        return Err("nothing listens on port 0 of a target".to_owned());
    }
    Ok(Forward { protocol, listen, target })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_round_trip_and_a_lone_port_is_local() {
        for text in [
            "tcp:127.0.0.1:8080=192.0.2.7:80",
            "udp:[::1]:53=dns.example.org:53",
            "udp:127.0.0.1:9=[2001:db8::1]:9,redundant",
        ] {
            assert_eq!(text.parse::<Forward>().unwrap().to_string(), text);
        }
        let lone = "tcp:8080=h:80".parse::<Forward>().unwrap();
        assert_eq!(lone.listen, SocketAddr::from(([127, 0, 0, 1], 8080)));
    }

    #[test]
    fn errors_name_the_fault_and_what_is_allowed() {
        for (bad, reason) in [
            ("8080=h:80", "neither \"tcp:\" nor \"udp:\""),
            ("sctp:8080=h:80", "neither \"tcp:\" nor \"udp:\""),
            ("tcp:8080", "=HOST:PORT is missing"),
            ("tcp:x=h:80", "\"x\" is not a local port"),
            ("tcp:8080=h", "has no port"),
            ("tcp:8080=h:0", "port 0"),
            ("tcp:8080=h:80,best", "connections have no \"best\""),
            ("udp:53=h:53,worst", "allowed: aggregate, redundant, best"),
        ] {
            let message = bad.parse::<Forward>().unwrap_err().to_string();
            assert!(message.contains(reason), "{bad}: {message}");
            assert!(message.contains("udp:LOCAL=HOST:PORT[,aggregate"), "{message}");
        }
    }
}

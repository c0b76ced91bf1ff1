//! Subflows and connections, as inet_diag tells of them (sock_diag(7)).

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};

use netlink_packet_sock_diag::constants::{
    AF_INET, AF_INET6, IPPROTO_TCP, SOCK_DESTROY, SOCK_DIAG_BY_FAMILY, TCP_ESTABLISHED,
    TCP_SYN_SENT,
};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use rtnetlink::packet_core::{
    DecodeError, DefaultNla, Emitable, NetlinkDeserializable, NetlinkHeader, NetlinkPayload,
    NetlinkSerializable, NlasIterator, Parseable,
};
use rtnetlink::sys::protocols::NETLINK_SOCK_DIAG;

use super::channel::{Channel, Extent};
use crate::state::{DataState, Ends, Stage, Subflow, TcpState};

/// `INET_DIAG_ULP_INFO`, what a socket's upper layer protocol tells.
const ULP_INFO: u16 = 19;
/// `INET_ULP_INFO_MPTCP`.
const ULP_MPTCP: u16 = 3;
/// `INET_DIAG_REQ_PROTOCOL`, for protocols whose number is no byte.
const REQUEST_PROTOCOL: u16 = 3;
const IPPROTO_MPTCP: u32 = 262;
/// Attributes of a subflow: `MPTCP_SUBFLOW_ATTR_TOKEN_LOC`, `..._FLAGS`, `..._ID_REM`,
/// `..._ID_LOC`.
const TOKEN: u16 = 2;
const FLAGS: u16 = 8;
const REMOTE_ID: u16 = 9;
const LOCAL_ID: u16 = 10;
/// Flags of a subflow: this host has asked for it (`MPTCP_SUBFLOW_FLAG_MCAP_LOC` for the first of a
/// connection, `..._JOIN_LOC` for others); one end has said that it is a backup
/// (`..._BKUP_REM`, `..._BKUP_LOC`).
const ASKED_HERE: u32 = 1 << 1 | 1 << 3;
const BACKUP: u32 = 1 << 4 | 1 << 5;

/// Asks about sockets of the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Sockets(Channel);

impl Sockets {
    /// # Errors
    /// If there is no such socket to be had.
    pub fn open() -> io::Result<Self> {
        Ok(Self(Channel::open(NETLINK_SOCK_DIAG)?))
    }

    /// All subflows of all connections.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn subflows(&mut self) -> io::Result<Vec<Subflow>> {
        let mut all = Vec::new();
        for family in [AF_INET, AF_INET6] {
            let request = InetRequest { family, ..subflow_request(all_of(family)) };
            let answers = self.0.ask(Message::Request(request, None), Extent::All)?;
            all.extend(answers.iter().filter_map(Message::subflow));
        }
        Ok(all)
    }

    /// The subflow with the ends of this one, as it is now, if it is there.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn subflow(&mut self, known: &Subflow) -> io::Result<Option<Subflow>> {
        let request = subflow_request(id_of(known));
        Ok(self.one(Message::Request(request, None))?.as_ref().and_then(Message::subflow))
    }

    /// Ends a subflow at once, with a reset to the peer (`CONFIG_INET_DIAG_DESTROY`). What was not
    /// acknowledged is sent over others.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn destroy(&mut self, subflow: &Subflow) -> io::Result<()> {
        self.one(Message::Destroy(subflow_request(id_of(subflow)))).map(drop)
    }

    /// The connection with this token, if it is there.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn connection(&mut self, token: u32) -> io::Result<Option<DataState>> {
        let mut id = all_of(AF_INET);
        // The token stands where other protocols have a part of the cookie (mptcp_diag.c).
        id.cookie[..4].copy_from_slice(&token.to_ne_bytes());
        let request = Message::Request(subflow_request(id), Some(IPPROTO_MPTCP));
        Ok(self.one(request)?.as_ref().and_then(Message::connection))
    }

    fn one(&mut self, question: Message) -> io::Result<Option<Message>> {
        match self.0.ask(question, Extent::One) {
            Ok(answers) => Ok(answers.into_iter().next()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn subflow_request(socket_id: SocketId) -> InetRequest {
    let v4 = socket_id.source_address.is_ipv4();
    InetRequest {
        family: if v4 { AF_INET } else { AF_INET6 },
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO,
        // Listening sockets and those of TIME-WAIT carry nothing.
        states: StateFlags::all() - StateFlags::LISTEN - StateFlags::TIME_WAIT,
        socket_id,
    }
}

fn id(ends: Ends) -> SocketId {
    SocketId {
        source_port: ends.local.port(),
        destination_port: ends.remote.port(),
        source_address: ends.local.ip(),
        destination_address: ends.remote.ip(),
        interface_id: 0,
        // Any socket: INET_DIAG_NOCOOKIE.
        cookie: [0xff; 8],
    }
}

/// The kernel finds what is bound to an interface by that one alone.
fn id_of(subflow: &Subflow) -> SocketId {
    SocketId { interface_id: subflow.bound_to, ..id(subflow.ends) }
}

fn all_of(family: u8) -> SocketId {
    let nowhere = if family == AF_INET {
        SocketAddr::from(([0; 4], 0))
    } else {
        SocketAddr::from(([0; 16], 0))
    };
    id(Ends { local: nowhere, remote: nowhere })
}

/// A question or an answer of inet_diag: those of the crate, with the protocol beside the question.
#[derive(Debug)]
enum Message {
    Request(InetRequest, Option<u32>),
    Destroy(InetRequest),
    Response(Box<InetResponse>),
}

impl Message {
    fn subflow(&self) -> Option<Subflow> {
        let Self::Response(response) = self else { return None };
        subflow_of(response)
    }

    fn connection(&self) -> Option<DataState> {
        let Self::Response(response) = self else { return None };
        response.nlas.iter().find_map(|nla| match nla {
            Nla::TcpInfo(info) => Some(DataState::decode(info)),
            _ => None,
        })
    }

    fn protocol(protocol: &Option<u32>) -> Option<DefaultNla> {
        let nla = |protocol: &u32| DefaultNla::new(REQUEST_PROTOCOL, protocol.to_ne_bytes().into());
        protocol.as_ref().map(nla)
    }
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        match self {
            Self::Request(..) | Self::Response(_) => SOCK_DIAG_BY_FAMILY,
            Self::Destroy(_) => SOCK_DESTROY,
        }
    }

    fn buffer_len(&self) -> usize {
        match self {
            Self::Request(request, protocol) => {
                let protocol = Self::protocol(protocol);
                request.buffer_len() + protocol.map_or(0, |nla| nla.buffer_len())
            }
            Self::Destroy(request) => request.buffer_len(),
            Self::Response(response) => response.buffer_len(),
        }
    }

    fn serialize(&self, buffer: &mut [u8]) {
        match self {
            Self::Request(request, protocol) => {
                let (fixed, rest) = buffer.split_at_mut(request.buffer_len());
                request.emit(fixed);
                if let Some(nla) = Self::protocol(protocol) {
                    nla.emit(rest);
                }
            }
            Self::Destroy(request) => request.emit(buffer),
            Self::Response(response) => response.emit(buffer),
        }
    }
}

impl NetlinkDeserializable for Message {
    type Error = DecodeError;

    fn deserialize(_: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self::Response(Box::new(InetResponse::parse(payload)?)))
    }
}

impl From<Message> for NetlinkPayload<Message> {
    fn from(message: Message) -> Self {
        Self::InnerMessage(message)
    }
}

/// The subflow that an answer of inet_diag is about; `None` of other sockets of TCP.
///
/// # Errors
/// If it is no answer.
pub fn decode_subflow(payload: &[u8]) -> Result<Option<Subflow>, DecodeError> {
    Ok(subflow_of(&InetResponse::parse(payload)?))
}

fn subflow_of(response: &InetResponse) -> Option<Subflow> {
    let (mut tcp, mut multipath) = (None, None);
    for nla in &response.nlas {
        match nla {
            Nla::TcpInfo(info) => tcp = Some(TcpState::decode(info)),
            Nla::Other(nla) => multipath = multipath.or_else(|| Multipath::of(nla)),
            _ => {}
        }
    }
    let Multipath { token, flags, local_id, remote_id } = multipath?;
    let id = &response.header.socket_id;
    let end = |address: IpAddr, port| SocketAddr::new(canonical(address), port);
    Some(Subflow {
        token,
        ends: Ends {
            local: end(id.source_address, id.source_port),
            remote: end(id.destination_address, id.destination_port),
        },
        bound_to: id.interface_id,
        local_id,
        remote_id,
        opened_here: flags & ASKED_HERE != 0,
        backup: flags & BACKUP != 0,
        stage: match response.header.state {
            TCP_ESTABLISHED => Stage::Open,
            TCP_SYN_SENT => Stage::Opening,
            _ => Stage::Closing,
        },
        tcp: tcp?,
    })
}

/// Sockets of IPv6 that speak IPv4 have addresses of IPv4 mapped into IPv6.
fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(mapped) => mapped.to_ipv4_mapped().map_or(IpAddr::V6(mapped), IpAddr::V4),
        v4 => v4,
    }
}

/// What Multipath TCP tells of a subflow.
#[derive(Default)]
struct Multipath {
    token: u32,
    flags: u32,
    local_id: u8,
    remote_id: u8,
}

impl Multipath {
    fn of(nla: &DefaultNla) -> Option<Self> {
        use rtnetlink::packet_core::Nla as _;
        if nla.kind() & 0x3fff != ULP_INFO {
            return None;
        }
        let mut value = vec![0; nla.value_len()];
        nla.emit_value(&mut value);
        let inner = NlasIterator::new(&value[..]).flatten();
        let multipath = inner.into_iter().find(|nla| nla.kind() == ULP_MPTCP)?;
        let mut told = Self::default();
        let mut is_told = false;
        for nla in NlasIterator::new(multipath.value()).flatten() {
            match (nla.kind(), nla.value()) {
                (TOKEN, &[a, b, c, d]) => {
                    told.token = u32::from_ne_bytes([a, b, c, d]);
                    is_told = true;
                }
                (FLAGS, &[a, b, c, d]) => told.flags = u32::from_ne_bytes([a, b, c, d]),
                (LOCAL_ID, &[id]) => told.local_id = id,
                (REMOTE_ID, &[id]) => told.remote_id = id,
                _ => {}
            }
        }
        is_told.then_some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A seed of the fuzz target: an answer that was put together by the kernel's headers.
    const ANSWER: &[u8] = include_bytes!("../../../../fuzz/seeds/mptcp_subflow/v4");

    #[test]
    fn an_answer_is_read_as_the_kernel_writes_it() {
        let subflow = decode_subflow(ANSWER).unwrap().unwrap();
        let end = |text: &str| text.parse::<SocketAddr>().unwrap();
        let ends = Ends { local: end("10.0.1.1:4000"), remote: end("10.9.9.9:443") };
        assert_eq!((subflow.ends, subflow.bound_to), (ends, 2));
        assert_eq!((subflow.token, subflow.local_id, subflow.remote_id), (0xa1b2, 5, 0));
        assert_eq!((subflow.opened_here, subflow.backup), (true, false));
        assert_eq!(subflow.stage, Stage::Open);
        assert_eq!(subflow.tcp.backoff, 4);
    }

    #[test]
    fn a_socket_without_multipath_is_no_subflow() {
        // The last attribute is what Multipath TCP tells.
        let plain = &ANSWER[..ANSWER.len() - 52];
        assert_eq!(decode_subflow(plain).unwrap(), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0usize..360, byte in any::<u8>()
        ) {
            let _ = decode_subflow(&bytes);
            let mut damaged = ANSWER.to_vec();
            damaged[at] = byte;
            let _ = decode_subflow(&damaged);
            let _ = decode_subflow(&ANSWER[..at]);
        }
    }
}

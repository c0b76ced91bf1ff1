//! Questions about sockets and connections to inet_diag (sock_diag(7)).

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use netlink_packet_sock_diag::constants::{
    AF_INET, AF_INET6, IPPROTO_TCP, SOCK_DESTROY, SOCK_DIAG_BY_FAMILY,
};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use rtnetlink::packet_core::{
    DecodeError, DefaultNla, Emitable, NetlinkDeserializable, NetlinkHeader, NetlinkPayload,
    NetlinkSerializable, Parseable,
};
use rtnetlink::sys::protocols::NETLINK_SOCK_DIAG;

use super::channel::{Channel, Extent};
use super::tcp_socket::TcpSocket;
use crate::state::{DataState, Ends, Subflow};

/// `INET_DIAG_REQ_PROTOCOL`, for protocols whose number is no byte.
const REQUEST_PROTOCOL: u16 = 3;
const IPPROTO_MPTCP: u32 = 262;

/// Asks about sockets of the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Sockets(Channel);

impl Sockets {
    /// # Errors
    /// If there is no such socket to be had.
    pub fn open() -> io::Result<Self> {
        Ok(Self(Channel::open(NETLINK_SOCK_DIAG)?))
    }

    /// All TCP sockets that carry something, with their congestion controls: neither listeners nor
    /// what is left of connections.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn all(&mut self) -> io::Result<Vec<TcpSocket>> {
        let mut all = Vec::new();
        for family in [AF_INET, AF_INET6] {
            let extensions = ExtensionFlags::INFO | ExtensionFlags::CONG;
            let request = InetRequest { extensions, ..subflow_request(all_of(family)) };
            let answers = self.0.ask(Message::Request(request, None), Extent::All)?;
            all.extend(answers.iter().filter_map(Message::socket));
        }
        Ok(all)
    }

    /// All subflows of all connections.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn subflows(&mut self) -> io::Result<Vec<Subflow>> {
        Ok(self.all()?.iter().filter_map(TcpSocket::subflow).collect())
    }

    /// The subflow with the ends of this one, as it is now, if it is there.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn subflow(&mut self, known: &Subflow) -> io::Result<Option<Subflow>> {
        let request = subflow_request(id_of(known));
        let answer = self.one(Message::Request(request, None))?;
        Ok(answer.as_ref().and_then(Message::socket).and_then(|socket| socket.subflow()))
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
    fn socket(&self) -> Option<TcpSocket> {
        let Self::Response(response) = self else { return None };
        TcpSocket::of(response)
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

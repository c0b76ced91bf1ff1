//! The TCP sockets of a network namespace, subflows among them (sock_diag(7)).

use netlink_packet_core::{
    DefaultNla, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload, Nla as _,
    NlasIterator, Parseable,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr as KernelAddress};
use polypath_mptcp::state::TcpState as Measured;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;

/// The kernel's messages of a dump have 32 KiB at most.
const MAX_MESSAGE: usize = 65_536;
/// `INET_DIAG_ULP_INFO`, in it `INET_ULP_INFO_MPTCP`, and in that `MPTCP_SUBFLOW_ATTR_TOKEN_LOC`
/// and `MPTCP_SUBFLOW_ATTR_FLAGS` (linux/inet_diag.h, linux/mptcp.h).
const ULP_INFO: u16 = 19;
const ULP_MPTCP: u16 = 3;
const LOCAL_TOKEN: u16 = 2;
const FLAGS: u16 = 8;
/// The peer has answered `MP_CAPABLE`, or `MP_JOIN`.
const CAPABLE: u32 = 1;
const JOINED: u32 = 1 << 2;
/// Attributes of a nested kind may have this bit (`NLA_F_NESTED`).
const NESTED: u16 = 1 << 15;

/// What names a TCP socket in its network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ends {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// That which the socket is bound to, or 0.
    pub(crate) interface: u32,
}

/// The state of a TCP socket (RFC 9293, section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "those of the RFC")]
pub enum TcpState {
    Established,
    SynSent,
    FinWait1,
    FinWait2,
    CloseWait,
    LastAck,
    Closing,
    Closed,
}

impl fmt::Display for TcpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Established => "established",
            Self::SynSent => "syn-sent",
            Self::FinWait1 => "fin-wait-1",
            Self::FinWait2 => "fin-wait-2",
            Self::CloseWait => "close-wait",
            Self::LastAck => "last-ack",
            Self::Closing => "closing",
            Self::Closed => "closed",
        })
    }
}

/// What the kernel tells of a subflow, or of a TCP connection.
#[derive(Clone, Debug)]
pub struct Subflow {
    pub(crate) ends: Ends,
    pub(crate) control: String,
    /// Its state.
    pub state: TcpState,
    /// The token of its connection (RFC 8684, section 3.2), which its first subflow knows,
    /// and those that have joined from the other host.
    pub token: Option<u32>,
    /// Whether it is one of Multipath TCP; otherwise it is a TCP connection, such as one that has
    /// fallen back.
    pub is_multipath: bool,
    /// What it has measured, and what became of what it has sent.
    pub measured: Measured,
}

impl Subflow {
    /// The address and port of this host.
    pub const fn local(&self) -> SocketAddr {
        self.ends.local
    }

    /// The address and port of the other host.
    pub const fn remote(&self) -> SocketAddr {
        self.ends.remote
    }
}

/// All TCP sockets of the network namespace of this thread that a congestion control works for:
/// neither listeners nor what is left of connections.
pub(crate) fn all() -> io::Result<Vec<Subflow>> {
    let mut subflows = Vec::new();
    for family in [AF_INET, AF_INET6] {
        dump(family, |socket| subflows.extend(read(&socket)))?;
    }
    Ok(subflows)
}

fn dump(family: u8, mut found: impl FnMut(InetResponse)) -> io::Result<()> {
    let socket = Socket::new(NETLINK_SOCK_DIAG)?;
    let states =
        StateFlags::all() - StateFlags::LISTEN - StateFlags::TIME_WAIT - StateFlags::SYN_RECV;
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO | ExtensionFlags::CONG,
        states,
        socket_id: if family == AF_INET { SocketId::new_v4() } else { SocketId::new_v6() },
    };
    let question = NetlinkPayload::from(SockDiagMessage::InetRequest(request));
    let mut message = NetlinkMessage::new(NetlinkHeader::default(), question);
    message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send_to(&bytes, &KernelAddress::new(0, 0), 0)?;
    let mut answer = Vec::with_capacity(MAX_MESSAGE);
    loop {
        answer.clear();
        socket.recv_from(&mut answer, 0)?;
        if !each(&answer, &mut found)? {
            return Ok(());
        }
    }
}

/// The sockets of a piece of a dump; whether there is more.
fn each(mut rest: &[u8], found: &mut impl FnMut(InetResponse)) -> io::Result<bool> {
    while !rest.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest);
        let message = message.map_err(io::Error::other)?;
        match message.payload {
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(socket)) => found(*socket),
            NetlinkPayload::Done(_) => return Ok(false),
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            _ => return Err(ErrorKind::InvalidData.into()),
        }
        // Messages are aligned to 4 bytes.
        let length = (message.header.length as usize).next_multiple_of(4);
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(true)
}

fn read(socket: &InetResponse) -> Option<Subflow> {
    let id = &socket.header.socket_id;
    let ends = Ends {
        local: SocketAddr::new(id.source_address, id.source_port),
        remote: SocketAddr::new(id.destination_address, id.destination_port),
        interface: id.interface_id,
    };
    let control = socket.nlas.iter().find_map(|nla| match nla {
        Nla::Congestion(name) => Some(name.clone()),
        _ => None,
    })?;
    let info = socket.nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(info) => Some(Measured::decode(info)),
        _ => None,
    })?;
    let multipath = socket.nlas.iter().find_map(|nla| match nla {
        Nla::Other(other) if kind(other) == ULP_INFO => multipath(other),
        _ => None,
    });
    let state = state(socket.header.state)?;
    let is_multipath = multipath.is_some_and(|of| of.flags & (CAPABLE | JOINED) != 0);
    let token = multipath.map(|of| of.token).filter(|token| *token != 0 && is_multipath);
    Some(Subflow { ends, control, state, token, is_multipath, measured: info })
}

/// What the kernel tells of a subflow of Multipath TCP.
#[derive(Clone, Copy, Debug, Default)]
struct Multipath {
    token: u32,
    flags: u32,
}

fn multipath(ulp: &DefaultNla) -> Option<Multipath> {
    let inner = nested(ulp).into_iter().find(|nla| kind(nla) == ULP_MPTCP)?;
    let mut found = Multipath::default();
    for nla in nested(&inner) {
        let value = value(&nla);
        match (kind(&nla), value.first_chunk()) {
            (LOCAL_TOKEN, Some(bytes)) => found.token = u32::from_ne_bytes(*bytes),
            (FLAGS, Some(bytes)) => found.flags = u32::from_ne_bytes(*bytes),
            _ => {}
        }
    }
    Some(found)
}

fn kind(nla: &DefaultNla) -> u16 {
    nla.kind() & !NESTED
}

fn value(nla: &DefaultNla) -> Vec<u8> {
    let mut bytes = vec![0; nla.value_len()];
    nla.emit_value(&mut bytes);
    bytes
}

/// The attributes within one.
fn nested(nla: &DefaultNla) -> Vec<DefaultNla> {
    let bytes = value(nla);
    let attributes = NlasIterator::new(bytes.as_slice()).map_while(Result::ok);
    attributes.filter_map(|attribute| DefaultNla::parse(&attribute).ok()).collect()
}

/// Numbers of net/tcp_states.h.
const fn state(number: u8) -> Option<TcpState> {
    Some(match number {
        1 => TcpState::Established,
        2 => TcpState::SynSent,
        4 => TcpState::FinWait1,
        5 => TcpState::FinWait2,
        7 => TcpState::Closed,
        8 => TcpState::CloseWait,
        9 => TcpState::LastAck,
        11 => TcpState::Closing,
        _ => return None,
    })
}

//! The TCP sockets of a network namespace, subflows among them (sock_diag(7)).

use polypath_mptcp::kernel::{Sockets, TcpSocket};
use polypath_mptcp::state::TcpState as Measured;
use std::fmt;
use std::io;
use std::net::SocketAddr;

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

/// All TCP sockets of the network namespace of this thread that a congestion control works for.
pub(crate) fn all() -> io::Result<Vec<Subflow>> {
    Ok(Sockets::open()?.all()?.into_iter().filter_map(read).collect())
}

fn read(socket: TcpSocket) -> Option<Subflow> {
    let TcpSocket { ends, bound_to, congestion, tcp, multipath, .. } = socket;
    let multipath = multipath.filter(|of| of.is_spoken_there());
    Some(Subflow {
        ends: Ends { local: ends.local, remote: ends.remote, interface: bound_to },
        control: congestion?,
        state: state(socket.state)?,
        token: multipath.map(|of| of.token).filter(|token| *token != 0),
        is_multipath: multipath.is_some(),
        measured: tcp,
    })
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

//! TCP sockets, subflows among them, as inet_diag tells of them (sock_diag(7)).

use std::net::{IpAddr, SocketAddr};

use netlink_packet_sock_diag::constants::{TCP_ESTABLISHED, TCP_SYN_SENT};
use netlink_packet_sock_diag::inet::InetResponse;
use netlink_packet_sock_diag::inet::nlas::Nla;
use rtnetlink::packet_core::{DecodeError, DefaultNla, NlasIterator, Parseable};

use crate::state::{Ends, Stage, Subflow, TcpState};

/// `INET_DIAG_ULP_INFO`, what a socket's upper layer protocol tells.
const ULP_INFO: u16 = 19;
/// `INET_ULP_INFO_MPTCP`.
const ULP_MPTCP: u16 = 3;
/// Attributes of a subflow: `MPTCP_SUBFLOW_ATTR_TOKEN_LOC`, `..._FLAGS`, `..._ID_REM`,
/// `..._ID_LOC`.
const TOKEN: u16 = 2;
const FLAGS: u16 = 8;
const REMOTE_ID: u16 = 9;
const LOCAL_ID: u16 = 10;
/// Flags of a subflow: the peer speaks Multipath TCP (`MPTCP_SUBFLOW_FLAG_MCAP_REM` for the first
/// of a connection, `..._JOIN_REM` for others); this host has asked for it (`..._MCAP_LOC`,
/// `..._JOIN_LOC`); one end has said that it is a backup (`..._BKUP_REM`, `..._BKUP_LOC`).
const SPOKEN_THERE: u32 = 1 | 1 << 2;
const ASKED_HERE: u32 = 1 << 1 | 1 << 3;
const BACKUP: u32 = 1 << 4 | 1 << 5;

/// A TCP socket.
#[derive(Clone, Debug)]
pub struct TcpSocket {
    /// Its ends; those of a socket of IPv6 that speaks IPv4 are mapped into IPv6.
    pub ends: Ends,
    /// The index of the interface that it is bound to; 0 if it is not.
    pub bound_to: u32,
    /// The number of its state (`net/tcp_states.h`).
    pub state: u8,
    /// Its congestion control.
    pub congestion: Option<String>,
    /// What TCP knows.
    pub tcp: TcpState,
    /// What Multipath TCP tells; `None` if it is not its subflow.
    pub multipath: Option<Multipath>,
}

/// What Multipath TCP tells of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Multipath {
    /// The token of the connection at this host; 0 before it is known.
    pub token: u32,
    flags: u32,
    local_id: u8,
    remote_id: u8,
}

impl TcpSocket {
    /// `None` if the kernel does not tell what TCP knows.
    pub(super) fn of(response: &InetResponse) -> Option<Self> {
        let (mut tcp, mut congestion, mut multipath) = (None, None, None);
        for nla in &response.nlas {
            match nla {
                Nla::TcpInfo(info) => tcp = Some(TcpState::decode(info)),
                Nla::Congestion(name) => congestion = Some(name.clone()),
                Nla::Other(nla) => multipath = multipath.or_else(|| Multipath::of(nla)),
                _ => {}
            }
        }
        let id = &response.header.socket_id;
        Some(Self {
            ends: Ends {
                local: SocketAddr::new(id.source_address, id.source_port),
                remote: SocketAddr::new(id.destination_address, id.destination_port),
            },
            bound_to: id.interface_id,
            state: response.header.state,
            congestion,
            tcp: tcp?,
            multipath,
        })
    }

    /// The subflow that it is, if it is one.
    pub(super) fn subflow(&self) -> Option<Subflow> {
        let Multipath { token, flags, local_id, remote_id } = self.multipath?;
        let end = |end: SocketAddr| SocketAddr::new(canonical(end.ip()), end.port());
        Some(Subflow {
            token,
            ends: Ends { local: end(self.ends.local), remote: end(self.ends.remote) },
            bound_to: self.bound_to,
            local_id,
            remote_id,
            opened_here: flags & ASKED_HERE != 0,
            backup: flags & BACKUP != 0,
            stage: match self.state {
                TCP_ESTABLISHED => Stage::Open,
                TCP_SYN_SENT => Stage::Opening,
                _ => Stage::Closing,
            },
            tcp: self.tcp,
        })
    }
}

/// Sockets of IPv6 that speak IPv4 have addresses of IPv4 mapped into IPv6.
fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(mapped) => mapped.to_ipv4_mapped().map_or(IpAddr::V6(mapped), IpAddr::V4),
        v4 => v4,
    }
}

/// The subflow that an answer of inet_diag is about; `None` of other sockets of TCP.
///
/// # Errors
/// If it is no answer.
pub fn decode_subflow(payload: &[u8]) -> Result<Option<Subflow>, DecodeError> {
    let socket = TcpSocket::of(&InetResponse::parse(payload)?);
    Ok(socket.and_then(|socket| socket.subflow()))
}

impl Multipath {
    /// Whether the peer speaks Multipath TCP: otherwise the connection is one of TCP, such as one
    /// that has fallen back.
    pub const fn is_spoken_there(&self) -> bool {
        self.flags & SPOKEN_THERE != 0
    }

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

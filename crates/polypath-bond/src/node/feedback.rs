//! Routing feedback: rates that switches tell paths, and paths that cannot have it.

use super::{Node, Stage};
use polypath_brf::{Code, FeedbackHeader};
use polypath_units::Timestamp;
use std::net::{IpAddr, SocketAddr};

impl Node {
    /// Switches have told the path of a connection its rate.
    pub(super) fn tell_rate(
        &mut self,
        index: usize,
        code: Option<Code>,
        remote: SocketAddr,
        now: Timestamp,
    ) {
        let Some(connection) = self.connections.get(&index) else { return };
        let owner = connection.owner.filter(|_| connection.stage == Stage::Joined);
        let entry = owner.and_then(|(key, path)| Some((self.bonds.get_mut(&key)?, path)));
        if let (Some((entry, path)), Some(code)) = (entry, code) {
            let headers = FeedbackHeader::SIZE as u64 + ip_udp_header(remote);
            entry.bond.on_feedback(path, code, headers, now);
        }
    }

    /// The handshake of a connection passed and its join did not: something on the way may drop
    /// what has the header of routing feedback. The path tries without it next, and with it again
    /// if that does not help.
    pub(super) fn doubt_feedback(&mut self, index: usize) {
        let Some(connection) = self.connections.get(&index) else { return };
        let agreed = connection.path.feedback.is_agreed();
        let entry =
            connection.owner.and_then(|(key, path)| Some((self.bonds.get_mut(&key)?, path)));
        if let Some(wanted) = entry.and_then(|(entry, path)| entry.wanted.get_mut(&path)) {
            wanted.feedback = !agreed;
        }
    }
}

/// What IP without options and UDP add to a datagram to this address, in bytes.
const fn ip_udp_header(remote: SocketAddr) -> u64 {
    match remote.ip().to_canonical() {
        IpAddr::V4(_) => 28,
        IpAddr::V6(_) => 48,
    }
}

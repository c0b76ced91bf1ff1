//! What waits for a socket that is full.

use crate::socket::{Sent, UdpTransmit, UplinkSocket};
use polypath_bond::Outgoing;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Transmits kept for a full socket. More are dropped, as a full device queue would: the paths'
/// congestion control takes it from there.
const MAX_WAITING: usize = 64;

/// The sending side of a socket.
#[derive(Debug)]
pub(super) struct Outbox {
    socket: Arc<UplinkSocket>,
    waiting: VecDeque<Outgoing>,
    /// Bytes of the first transmit that have left.
    sent: usize,
    dropped: u64,
}

impl Outbox {
    pub(super) fn new(socket: Arc<UplinkSocket>) -> Self {
        Self { socket, waiting: VecDeque::new(), sent: 0, dropped: 0 }
    }

    pub(super) fn socket(&self) -> Arc<UplinkSocket> {
        Arc::clone(&self.socket)
    }

    pub(super) fn max_segments(&self) -> NonZeroUsize {
        self.socket.max_gso_segments()
    }

    /// Sends, or keeps for later. Returns whether somebody must now wait for the socket.
    pub(super) fn send(&mut self, outgoing: Outgoing) -> bool {
        if self.waiting.len() >= MAX_WAITING {
            self.dropped += 1;
            return false;
        }
        let was_waiting = !self.waiting.is_empty();
        self.waiting.push_back(outgoing);
        !was_waiting && !self.flush()
    }

    /// Sends what waits. Returns whether all of it left.
    pub(super) fn flush(&mut self) -> bool {
        while let Some(first) = self.waiting.front() {
            let transmit = UdpTransmit {
                destination: first.destination,
                ecn: first.ecn.map(ecn),
                contents: first.contents.get(self.sent..).unwrap_or_default(),
                segment_size: first.segment_size,
                src_ip: first.src_ip,
            };
            match self.socket.try_send(&transmit) {
                Ok(Sent::WouldBlock) => return false,
                Ok(Sent::Part { bytes }) => {
                    self.sent += bytes;
                    return false;
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(destination = %first.destination, %error, "not sent");
                    self.dropped += 1;
                }
            }
            self.sent = 0;
            self.waiting.pop_front();
        }
        true
    }
}

fn ecn(ecn: polypath_bond::EcnCodepoint) -> noq_udp::EcnCodepoint {
    match ecn {
        polypath_bond::EcnCodepoint::Ect0 => noq_udp::EcnCodepoint::Ect0,
        polypath_bond::EcnCodepoint::Ect1 => noq_udp::EcnCodepoint::Ect1,
        polypath_bond::EcnCodepoint::Ce => noq_udp::EcnCodepoint::Ce,
    }
}

//! A QUIC congestion controller that decides nothing: it records what happens to packets.
//!
//! The bond owns the windows and the pacing of its paths and hands a datagram to a connection only
//! when it may leave at once. The connection itself must then hold nothing back: the window shown
//! to it is beyond what it ever has in flight, which also switches its own pacing off.

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Larger than `u32::MAX`: the library does not pace windows beyond that.
const OPEN_WINDOW: u64 = 1 << 40;

/// Something that happened to packets. Only packets that the peer must acknowledge are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Sent {
        number: u64,
        bytes: u64,
    },
    Acked {
        number: u64,
    },
    AcksEnd,
    Lost {
        number: u64,
    },
    /// All losses of one batch were recorded; the newest of them was sent then.
    LossesEnd {
        newest_sent: Instant,
    },
    Marked {
        newest_sent: Instant,
    },
    Spurious,
    /// What is in flight now is neither acknowledged nor lost: the peer's address has changed.
    Forgotten,
    Mtu,
}

impl Record {
    /// Whether it is of a packet that was sent, and of this length in bytes.
    pub(crate) fn is_packet_of(&self, length: usize) -> bool {
        matches!(*self, Self::Sent { bytes, .. } if bytes == length as u64)
    }
}

/// Records of one connection, shared between its controllers and its owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<Record>>>);

impl Recorder {
    fn record(&self, record: Record) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }

    /// Swaps the records for the empty `into`.
    pub(crate) fn take(&self, into: &mut Vec<Record>) {
        debug_assert!(into.is_empty());
        std::mem::swap(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), into);
    }
}

impl ControllerFactory for Recorder {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        self.record(Record::Forgotten);
        Box::new((*self).clone())
    }
}

impl Controller for Recorder {
    fn on_packet_sent(&mut self, _now: Instant, bytes: u16, number: u64) {
        self.record(Record::Sent { number, bytes: bytes.into() });
    }

    fn on_ack(
        &mut self,
        _now: Instant,
        _sent: Instant,
        _bytes: u64,
        number: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.record(Record::Acked { number });
    }

    fn on_end_acks(
        &mut self,
        _now: Instant,
        _in_flight: u64,
        _app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.record(Record::AcksEnd);
    }

    fn on_congestion_event(
        &mut self,
        _now: Instant,
        sent: Instant,
        _is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost: u64,
    ) {
        let newest_sent = sent;
        self.record(if is_ecn {
            Record::Marked { newest_sent }
        } else {
            Record::LossesEnd { newest_sent }
        });
    }

    fn on_packet_lost(&mut self, _lost_bytes: u16, number: u64, _now: Instant) {
        self.record(Record::Lost { number });
    }

    fn on_spurious_congestion_event(&mut self) {
        self.record(Record::Spurious);
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {
        self.record(Record::Mtu);
    }

    fn window(&self) -> u64 {
        OPEN_WINDOW
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        self.record(Record::Forgotten);
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        OPEN_WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

//! One subflow between two looks at it.

use std::time::Duration;

use polypath_core::failure::{FailureCause, FpfParameters, PathHealth};
use polypath_units::{PathId, Timestamp};

use crate::state::TcpState;

/// So many ACKs must be missing before silence means anything. A receiver acknowledges every second
/// segment (RFC 5681 section 4.2), and at once what it has or what is out of order. Where one
/// packet of a hundred is lost in each direction, independently of others, an ACK is missing at one
/// place in a hundred, and four in a row at one in 10^8. One alone is no sign: the repetition of a
/// lost last segment takes two round trips and 200 ms (RFC 8985 section 7.2), longer than a path
/// may be silent.
const ENOUGH: u32 = 4;

/// A receiver acknowledges every second full segment at once, and others after this time at the
/// latest (RFC 5681 section 4.2; `TCP_DELACK_MAX` of Linux).
const DELAYED_ACK: Duration = Duration::from_millis(200);

/// A subflow that is watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    pub(super) id: PathId,
    /// What TCP knew at the last look.
    tcp: TcpState,
    /// When a segment with an ACK was heard last.
    heard: Timestamp,
    /// Segments that had been sent again when something was acknowledged last.
    retransmitted: u32,
    /// Since when enough ACKs have been missing, as far as it was seen.
    pub(super) silent_since: Option<Timestamp>,
    /// Why it was declared failed, if it was.
    pub(super) failed: Option<FailureCause>,
    /// When data came there last, or it was found.
    pub(super) fed: Timestamp,
    /// Whether data came between the last two looks.
    pub(super) is_fed: bool,
    /// When the peer was asked last whether it still has it.
    pub(super) asked: Timestamp,
}

/// What a look has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// When something was heard since the last look, if it was.
    pub(super) heard: Option<Timestamp>,
    /// Whether something that was sent is known to have arrived since.
    pub(super) acked: bool,
}

impl Watched {
    pub(super) fn new(id: PathId, tcp: TcpState, now: Timestamp) -> Self {
        let retransmitted = tcp.retransmitted;
        let heard = now - tcp.since_ack;
        Self {
            id,
            tcp,
            heard,
            retransmitted,
            silent_since: None,
            failed: None,
            fed: now,
            is_fed: false,
            asked: Timestamp::ZERO,
        }
    }

    /// Takes what TCP knows now.
    pub(super) fn look(&mut self, tcp: TcpState, now: Timestamp) -> Change {
        let acked = tcp.delivered != self.tcp.delivered || tcp.bytes_acked != self.tcp.bytes_acked;
        // The age is in whole ticks of the kernel, up to 10 ms: a time that is a little later than
        // the last may be the same.
        let heard = now - tcp.since_ack;
        let is_new = acked || tcp.since_ack < self.tcp.since_ack;
        let heard = is_new.then(|| heard.max(self.heard));
        self.heard = heard.unwrap_or(self.heard);
        let fed = tcp.bytes_received != self.tcp.bytes_received;
        self.is_fed = fed;
        if fed {
            self.fed = now;
        }
        self.tcp = tcp;
        if acked {
            self.retransmitted = tcp.retransmitted;
            self.silent_since = None;
        }
        if self.misses_enough() {
            self.silent_since.get_or_insert(now);
        } else {
            self.silent_since = None;
        }
        Change { heard, acked }
    }

    /// Whether enough ACKs are missing for silence to mean something.
    pub(super) fn misses_enough(&self) -> bool {
        let again = self.tcp.retransmitted.wrapping_sub(self.retransmitted);
        self.tcp.outstanding > 0 && (self.tcp.outstanding / 2).saturating_add(again) >= ENOUGH
    }

    /// Nothing that was sent is unanswered.
    pub(super) const fn is_idle(&self) -> bool {
        self.tcp.outstanding == 0
    }

    /// The retransmission timer has expired three times in a row.
    pub(super) const fn has_timed_out(&self) -> bool {
        self.tcp.backoff >= 3
    }

    /// By when what is sent now is acknowledged, if nothing is lost.
    pub(super) fn round_trip(&self) -> Duration {
        let PathHealth { srtt, rtt_var, rto, .. } = self.health();
        srtt.unwrap_or(rto) + 4 * rtt_var
    }

    /// For how long it may be silent: the time of core's detector.
    pub(super) fn patience(&self) -> Duration {
        let max_ack_delay = self.health().max_ack_delay;
        self.round_trip() + max_ack_delay + FpfParameters::default().timer_margin
    }

    /// Whether it delivers, as far as is known.
    pub(super) fn works(&self, now: Timestamp) -> bool {
        let is_silent = |since: Timestamp| now.since(since) > self.patience();
        self.failed.is_none() && !self.silent_since.is_some_and(is_silent)
    }

    /// What a failure detector wants to know. Where too few ACKs are missing, the path is idle
    /// for it.
    pub(super) fn health(&self) -> PathHealth {
        let TcpState { srtt, rtt_var, rto, bytes_outstanding, mss, backoff, .. } = self.tcp;
        let answered_at_once = bytes_outstanding >= 2 * u64::from(mss);
        PathHealth {
            id: self.id,
            srtt: (!srtt.is_zero()).then_some(srtt),
            rtt_var,
            max_ack_delay: if answered_at_once { Duration::ZERO } else { DELAYED_ACK },
            rto: rto / (1 << backoff.min(16)),
            in_flight: if self.misses_enough() { bytes_outstanding.max(1) } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn watched(tcp: TcpState) -> Watched {
        Watched::new(PathId::default(), tcp, Timestamp::from_millis(1_000))
    }

    #[test]
    fn one_lost_segment_becomes_enough_by_its_repetitions() {
        let tcp = TcpState { outstanding: 1, retransmitted: 7, ..TcpState::default() };
        let mut subflow = watched(tcp);
        for (again, enough) in [(0, false), (3, false), (4, true)] {
            subflow
                .look(TcpState { retransmitted: 7 + again, ..tcp }, Timestamp::from_millis(2_000));
            assert_eq!(subflow.misses_enough(), enough, "{again}");
        }
        // An ACK counts them anew.
        let acked = TcpState { retransmitted: 11, delivered: 1, ..tcp };
        subflow.look(acked, Timestamp::from_millis(2_010));
        assert!(!subflow.misses_enough());
    }

    #[test]
    fn two_segments_have_one_ack() {
        let enough = |outstanding| {
            let mut subflow = watched(TcpState::default());
            subflow.look(TcpState { outstanding, ..TcpState::default() }, Timestamp::ZERO);
            subflow.misses_enough()
        };
        assert_eq!([7, 8].map(enough), [false, true]);
    }

    #[test]
    fn acks_are_delayed_where_less_than_two_full_segments_are_out() {
        let tcp = TcpState { mss: 1_000, outstanding: 4, ..TcpState::default() };
        let delay = |bytes| {
            let tcp = TcpState { bytes_outstanding: bytes, ..tcp };
            watched(tcp).health().max_ack_delay
        };
        assert_eq!((delay(1_999), delay(2_000)), (DELAYED_ACK, Duration::ZERO));
    }

    #[test]
    fn what_is_heard_is_new_if_it_is_younger_or_acknowledges() {
        let tcp = TcpState { since_ack: ms(20), ..TcpState::default() };
        let mut subflow = watched(tcp);
        let at = Timestamp::from_millis;
        let older = TcpState { since_ack: ms(24), ..tcp };
        assert_eq!(subflow.look(older, at(1_004)).heard, None);
        let younger = TcpState { since_ack: ms(4), ..tcp };
        let change = subflow.look(younger, at(1_008));
        assert_eq!((change.heard, change.acked), (Some(at(1_004)), false));
        let acked = TcpState { since_ack: ms(8), delivered: 1, ..tcp };
        assert!(subflow.look(acked, at(1_012)).acked);
    }

    #[test]
    fn the_time_out_is_without_its_back_off() {
        let tcp = TcpState { rto: ms(1_600), backoff: 3, ..TcpState::default() };
        let subflow = watched(tcp);
        assert_eq!(subflow.health().rto, ms(200));
        assert!(subflow.has_timed_out());
    }
}

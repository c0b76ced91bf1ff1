//! What a sender knows of a path.

use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// RFC 9002 section 6.1.1: the third packet after it takes a packet for lost.
const PACKET_THRESHOLD: u64 = 3;
/// RFC 9002 section 6.1.2: the timer granularity.
const GRANULARITY: Duration = Duration::from_millis(1);
/// How long the receiver keeps acknowledgements back at most.
pub(super) const MAX_ACK_DELAY: Duration = Duration::from_millis(5);
/// A packet that was declared lost may be acknowledged for so long.
const REMEMBERED: Duration = Duration::from_secs(1);
/// A path that nothing was sent on is probed, so that its round-trip time is known.
const IDLE_PROBE: Duration = Duration::from_millis(250);
/// One that seems to be dead is probed more often.
const DEAD_PROBE: Duration = Duration::from_millis(50);

/// A path as its sender knows it.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// Bytes in a second that it delivers in the mean.
    rate: f64,
    srtt: Duration,
    rttvar: Duration,
    /// When all that was sent has left, by its rate.
    busy_until: Timestamp,
    flight: VecDeque<Sent>,
    /// The number of the next packet.
    next: u64,
    /// None before this one is on its way.
    open: u64,
    largest_acked: Option<u64>,
    /// Whether a packet that was declared lost came after all: only time counts from then on.
    reorders: bool,
    /// Acknowledgements are overdue.
    pub silent: bool,
    last_sent: Timestamp,
}

/// A packet on its way, or of which that was thought.
#[derive(Clone, Copy, Debug)]
struct Sent {
    datagram: Option<u64>,
    at: Timestamp,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Flying,
    Acked,
    Lost,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    /// The datagram in it, if it has one.
    pub datagram: Option<u64>,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// Whether it was lost.
    pub lost: bool,
}

impl Path {
    /// A path that has been in use: its delay without queue and its rate are known.
    pub(super) fn new(delay: Duration, jitter: Duration, bytes_per_sec: f64) -> Self {
        Self {
            rate: bytes_per_sec,
            srtt: 2 * delay + jitter,
            rttvar: (delay / 4).max(jitter),
            busy_until: Timestamp::ZERO,
            flight: VecDeque::new(),
            next: 0,
            open: 0,
            largest_acked: None,
            reorders: false,
            silent: false,
            last_sent: Timestamp::ZERO,
        }
    }

    /// When a packet of so many bytes that is sent now would arrive: behind what was sent before,
    /// and half a round trip later, as in the bond.
    pub(super) fn arrival(&self, now: Timestamp, bytes: u32) -> Timestamp {
        self.busy_until.max(now) + self.time_of(bytes) + self.srtt / 2
    }

    fn time_of(&self, bytes: u32) -> Duration {
        Duration::from_secs_f64(f64::from(bytes) / self.rate)
    }

    /// Notes a packet and returns its number.
    pub(super) fn on_sent(&mut self, now: Timestamp, bytes: u32, datagram: Option<u64>) -> u64 {
        self.busy_until = self.busy_until.max(now) + self.time_of(bytes);
        self.flight.push_back(Sent { datagram, at: now, state: State::Flying });
        self.last_sent = now;
        self.next += 1;
        self.next - 1
    }

    /// The packet `number` was acknowledged, so long after it was sent as the round trip took.
    /// Returns what is new about it.
    pub(super) fn on_acked(
        &mut self,
        number: u64,
        now: Timestamp,
        delayed: Duration,
    ) -> Option<Fate> {
        self.silent = false;
        let first = self.first();
        let sent = self.flight.get_mut(number.checked_sub(first)? as usize)?;
        let was = core::mem::replace(&mut sent.state, State::Acked);
        self.reorders |= was == State::Lost;
        let Sent { datagram, at, .. } = *sent;
        if self.largest_acked.is_none_or(|largest| largest < number) {
            self.largest_acked = Some(number);
            self.on_rtt(now.since(at).saturating_sub(delayed));
        }
        (was == State::Flying).then_some(Fate { datagram, sent_at: at, lost: false })
    }

    /// RFC 6298 section 2, as RFC 9002 section 5.3 has it.
    fn on_rtt(&mut self, sample: Duration) {
        self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(sample)) / 4;
        self.srtt = (7 * self.srtt + sample) / 8;
    }

    /// How long an acknowledgement may take where none of a later packet has come (RFC 9002
    /// section 6.2.1).
    fn probe_timeout(&self) -> Duration {
        self.srtt + (4 * self.rttvar).max(GRANULARITY) + MAX_ACK_DELAY
    }

    /// The same where one has (section 6.1.2), and on a path that reorders, where packets are late
    /// by what the round trip varies (RFC 8985 section 6.2 has a window for it too).
    fn time_threshold(&self) -> Duration {
        let window =
            if self.reorders { (4 * self.rttvar).max(self.srtt / 4) } else { self.srtt / 8 };
        self.srtt + window.max(GRANULARITY)
    }

    /// When a packet that is on its way is lost if nothing comes.
    fn lost_at(&self, number: u64, sent: &Sent) -> Timestamp {
        match self.largest_acked {
            Some(largest) if !self.reorders && largest >= number + PACKET_THRESHOLD => sent.at,
            Some(largest) if largest > number => sent.at + self.time_threshold(),
            _ => sent.at + self.probe_timeout(),
        }
    }

    /// The number of the oldest packet that is remembered.
    fn first(&self) -> u64 {
        self.next - self.flight.len() as u64
    }

    /// The packets from the first on that may be on their way.
    fn unsettled(&self) -> impl Iterator<Item = (u64, &Sent)> {
        let settled = (self.open - self.first()) as usize;
        (self.open..self.next).zip(self.flight.range(settled..))
    }

    fn is_overtaken(&self, number: u64) -> bool {
        self.largest_acked.is_some_and(|largest| largest > number)
    }

    /// Declares packets lost whose time has come, and forgets old ones.
    pub(super) fn take_lost(&mut self, now: Timestamp) -> Vec<Fate> {
        // Packets were sent in this order: behind one that is neither overtaken nor overdue there
        // is none that is.
        let may_be_lost = |(number, sent): &(u64, &Sent)| {
            self.is_overtaken(*number) || sent.at + self.probe_timeout() <= now
        };
        let is_lost = |(number, sent): &(u64, &Sent)| {
            sent.state == State::Flying && self.lost_at(*number, sent) <= now
        };
        let lost: Vec<_> = self.unsettled().take_while(may_be_lost).filter(is_lost).collect();
        let lost: Vec<_> = lost.into_iter().map(|(number, sent)| (number, *sent)).collect();
        let first = self.first();
        for (number, _) in &lost {
            self.flight[(number - first) as usize].state = State::Lost;
            self.silent |= !self.is_overtaken(*number);
        }
        self.forget(now);
        let fate =
            |(_, sent): (u64, Sent)| Fate { datagram: sent.datagram, sent_at: sent.at, lost: true };
        lost.into_iter().map(fate).collect()
    }

    fn forget(&mut self, now: Timestamp) {
        let settled = self.unsettled().take_while(|(_, sent)| sent.state != State::Flying).count();
        self.open += settled as u64;
        let is_over = |sent: &Sent| match sent.state {
            State::Flying => false,
            State::Acked => true,
            State::Lost => sent.at + REMEMBERED < now,
        };
        while self.first() < self.open && self.flight.front().is_some_and(is_over) {
            self.flight.pop_front();
        }
    }

    /// When to call [`take_lost`](Self::take_lost) next.
    pub(super) fn next_loss(&self) -> Timestamp {
        let mut earliest = Timestamp::MAX;
        for (number, sent) in self.unsettled().filter(|(_, sent)| sent.state == State::Flying) {
            earliest = earliest.min(self.lost_at(number, sent));
            if !self.is_overtaken(number) {
                break;
            }
        }
        earliest
    }

    /// When a probe is due.
    pub(super) fn next_probe(&self) -> Timestamp {
        self.last_sent + if self.silent { DEAD_PROBE } else { IDLE_PROBE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    /// A path of 40 ms there and back.
    fn path() -> Path {
        Path::new(Duration::from_millis(20), Duration::ZERO, 1e6)
    }

    fn lost(path: &mut Path, now: Timestamp) -> Vec<u64> {
        path.take_lost(now).into_iter().filter_map(|fate| fate.datagram).collect()
    }

    #[test]
    fn the_third_packet_after_it_takes_a_packet_for_lost() {
        let mut path = path();
        for n in 0..5 {
            path.on_sent(at(n), 100, Some(n));
        }
        path.on_acked(2, at(42), Duration::ZERO);
        assert_eq!(lost(&mut path, at(42)), [0; 0]);
        path.on_acked(3, at(43), Duration::ZERO);
        assert_eq!(lost(&mut path, at(43)), [0]);
        // 1 is overtaken by two, and lost a round trip and an eighth after it was sent.
        assert_eq!(path.next_loss(), at(1 + 45));
        assert_eq!(lost(&mut path, at(46)), [1]);
        assert!(!path.silent);
    }

    /// 40 ms, four times 5 ms of variation, and 5 ms of the receiver.
    #[test]
    fn a_path_is_silent_when_acknowledgements_are_overdue() {
        let mut path = path();
        path.on_sent(at(0), 100, Some(7));
        assert_eq!(path.next_loss(), at(65));
        assert_eq!(lost(&mut path, at(64)), [0; 0]);
        assert_eq!(lost(&mut path, at(65)), [7]);
        assert!(path.silent);
        assert_eq!(path.next_probe(), at(50));
        let fate = path.on_acked(0, at(70), Duration::ZERO);
        assert_eq!((fate, path.silent, path.reorders), (None, false, true));
    }

    #[test]
    fn packets_arrive_behind_each_other() {
        let mut path = path();
        assert_eq!(path.arrival(at(0), 1_000), at(21));
        path.on_sent(at(0), 3_000, None);
        assert_eq!(path.arrival(at(0), 1_000), at(24));
        assert_eq!(path.arrival(at(10), 1_000), at(31));
    }
}

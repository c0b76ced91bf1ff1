//! The sending TCP: NewReno's recovery without SACK (RFC 5681 section 3.2, RFC 6582, RFC 6298).

use super::lanes::Lanes;
use super::order::NEVER;
use super::timing::Timing;
use super::window::Window;

/// Duplicate acknowledgements that mean a loss.
const DUPLICATES: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// No loss is known; the number of duplicate acknowledgements in a row.
    Open(u32),
    /// Fast recovery, with its inflated window.
    Recovery(f64),
    /// After a timeout.
    Loss,
}

/// When a segment was sent last, and whether it was sent again.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: u64,
    again: bool,
}

#[derive(Debug)]
pub(super) struct Sender {
    pub(super) window: Window,
    /// How many segments there are.
    total: u32,
    /// What the receiver has room for, in segments.
    receive_window: u32,
    unacknowledged: u32,
    next: u32,
    /// Where the segments end for which the receiver has room.
    edge: u32,
    /// Losses below are part of the last episode.
    until: u32,
    /// The range of what timed out and was not sent again.
    resend: [u32; 2],
    /// Where the segments end that were sent before the first duplicate acknowledgement.
    regular_end: u32,
    phase: Phase,
    sent: Vec<Sent>,
    usage: Usage,
    timing: Timing,
    pub(super) cuts: u32,
    pub(super) timeouts: u32,
}

/// How much of the window is used: the largest flights of the present and the last round.
#[derive(Debug, Default)]
struct Usage {
    present: u32,
    last: u32,
    round_end: u32,
}

impl Sender {
    pub(super) fn new(
        window: Window,
        total: u32,
        receive_window: u32,
        horizon: u32,
        handshake: u64,
    ) -> Self {
        Self {
            window,
            total,
            receive_window,
            unacknowledged: 0,
            next: 0,
            edge: total.min(receive_window),
            until: 0,
            resend: [0; 2],
            regular_end: 0,
            phase: Phase::Open(0),
            sent: Vec::with_capacity(horizon as usize + 64),
            usage: Usage::default(),
            timing: Timing::new(handshake),
            cuts: 0,
            timeouts: 0,
        }
    }

    pub(super) fn begin<const N: usize>(&mut self, now: u64, lanes: &mut Lanes<N>) {
        self.send_what_may_go(now, lanes);
    }

    /// Whether the receiver's window limits it.
    pub(super) fn is_window_full(&self) -> bool {
        self.next - self.unacknowledged >= self.receive_window
    }

    #[inline]
    pub(super) fn on_ack<const N: usize>(&mut self, now: u64, ack: u32, lanes: &mut Lanes<N>) {
        if ack > self.unacknowledged {
            self.on_new_ack(now, ack, lanes);
        } else {
            self.on_old_ack(now, ack, lanes);
        }
        self.send_what_may_go(now, lanes);
    }

    #[inline]
    fn on_new_ack<const N: usize>(&mut self, now: u64, ack: u32, lanes: &mut Lanes<N>) {
        let acked = f64::from(ack - self.unacknowledged);
        self.take_samples(now, ack);
        self.unacknowledged = ack;
        self.edge = self.total.min(ack.saturating_add(self.receive_window));
        let full = ack >= self.until;
        match self.phase {
            Phase::Recovery(_) if full => {
                let flight = f64::from(self.next - ack).max(1.0);
                self.window.size = self.window.threshold.min(flight + 1.0);
                self.phase = Phase::Open(0);
            }
            Phase::Recovery(inflated) => {
                self.phase = Phase::Recovery((inflated - acked + 1.0).max(1.0));
                self.send_again(now, ack, lanes);
            }
            phase => {
                self.grow(now, acked);
                if phase != Phase::Loss || full {
                    self.phase = Phase::Open(0);
                }
            }
        }
        if ack > self.usage.round_end {
            let flight = self.in_flight();
            self.usage = Usage { present: flight, last: self.usage.present, round_end: self.next };
        }
        let outstanding = self.next > ack;
        lanes.set_timeout(if outstanding { now + self.timing.timeout() } else { NEVER });
    }

    /// Karn's rule: no sample of what was sent twice.
    #[inline]
    fn take_samples(&mut self, now: u64, ack: u32) {
        let acked = &self.sent[self.unacknowledged as usize..ack as usize];
        let newest = acked.iter().copied().reduce(|a, b| if b.at >= a.at { b } else { a });
        if let Some(sent) = newest.filter(|sent| !sent.again) {
            self.timing.sample(now - sent.at);
        }
        self.timing.forget_back_off();
    }

    #[inline(always)]
    fn grow(&mut self, now: u64, acked: f64) {
        let used = f64::from(self.usage.present.max(self.usage.last));
        let limited = match self.window.in_slow_start() {
            true => self.window.size < 2.0 * used,
            false => used >= self.window.size - 1.0,
        };
        if limited {
            self.window.grow(now, acked, self.timing.srtt);
        }
    }

    /// A duplicate, or one that was overtaken and changes nothing. Which of them it is cannot be
    /// predicted, so that there is no branch for it.
    #[inline]
    fn on_old_ack<const N: usize>(&mut self, now: u64, ack: u32, lanes: &mut Lanes<N>) {
        let duplicate = (ack == self.unacknowledged) & (self.next > ack);
        match &mut self.phase {
            Phase::Recovery(inflated) => *inflated += f64::from(u8::from(duplicate)),
            Phase::Loss => {}
            Phase::Open(duplicates) => {
                *duplicates += u32::from(duplicate);
                let count = *duplicates;
                if duplicate & (count == 1) {
                    self.regular_end = self.next;
                }
                if duplicate & (count == DUPLICATES) & (ack >= self.until) {
                    self.recover(now, lanes);
                }
            }
        }
    }

    #[cold]
    fn recover<const N: usize>(&mut self, now: u64, lanes: &mut Lanes<N>) {
        self.cuts += 1;
        self.window.cut(f64::from(self.regular_end - self.unacknowledged));
        self.phase = Phase::Recovery(self.window.threshold + f64::from(DUPLICATES));
        self.until = self.next;
        self.send_again(now, self.unacknowledged, lanes);
    }

    #[cold]
    pub(super) fn on_timeout<const N: usize>(&mut self, now: u64, lanes: &mut Lanes<N>) {
        self.timeouts += 1;
        self.window.collapse(f64::from(self.in_flight()), self.timing.has_backed_off());
        self.timing.back_off();
        self.phase = Phase::Loss;
        self.until = self.next;
        self.resend = [self.unacknowledged + 1, self.next];
        self.send_again(now, self.unacknowledged, lanes);
        self.send_what_may_go(now, lanes);
    }

    fn in_flight(&self) -> u32 {
        let [from, to] = self.resend;
        self.next - self.unacknowledged - to.saturating_sub(from.max(self.unacknowledged))
    }

    #[inline(always)]
    fn send_what_may_go<const N: usize>(&mut self, now: u64, lanes: &mut Lanes<N>) {
        // Whole numbers: what is in flight is compared with the window once for each segment.
        let window = match self.phase {
            Phase::Recovery(inflated) => inflated as u32,
            Phase::Open(duplicates) => self.window.whole(duplicates.min(DUPLICATES - 1)),
            Phase::Loss => self.window.whole(0),
        };
        let mut flight = self.in_flight();
        while flight < window && self.send_one(now, lanes) {
            flight += 1;
            self.usage.present = self.usage.present.max(flight);
        }
    }

    /// Sends what was lost, or a new segment; says whether there was one.
    #[inline]
    fn send_one<const N: usize>(&mut self, now: u64, lanes: &mut Lanes<N>) -> bool {
        let lost = self.resend[0].max(self.unacknowledged);
        if lost < self.resend[1] {
            self.resend[0] = lost + 1;
            self.send_again(now, lost, lanes);
        } else if self.next < self.edge {
            self.send_new(now, lanes);
        } else {
            return false;
        }
        true
    }

    #[inline]
    fn send_new<const N: usize>(&mut self, now: u64, lanes: &mut Lanes<N>) {
        self.sent.push(Sent { at: now, again: false });
        if !lanes.has_timeout() {
            lanes.set_timeout(now + self.timing.timeout());
        }
        lanes.send_segment(now, self.next);
        self.next += 1;
    }

    #[cold]
    fn send_again<const N: usize>(&mut self, now: u64, number: u32, lanes: &mut Lanes<N>) {
        self.sent[number as usize] = Sent { at: now, again: true };
        if number == self.unacknowledged {
            lanes.set_timeout(now + self.timing.timeout());
        }
        lanes.send_segment(now, number);
    }
}

//! The sending TCP: NewReno's recovery without SACK (RFC 5681 section 3.2, RFC 6582, RFC 6298).

use super::lanes::{Lanes, NEVER, seconds};
use super::window::Window;

/// Duplicate acknowledgements that mean a loss.
const DUPLICATES: u32 = 3;
/// Limits of the retransmission timeout, in seconds.
const LONGEST_TIMEOUT: f64 = 120.0;
const FIRST_TIMEOUT: f64 = 1.0;
/// What it is above the smoothed round-trip time at least.
const LEAST_VARIATION: f64 = 0.2;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// No loss is known. So many duplicate acknowledgements in a row.
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
    /// Losses below are part of the last episode.
    until: u32,
    /// What timed out and was not sent again: from here up to there.
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

/// RFC 6298, in seconds.
#[derive(Debug, Default)]
struct Timing {
    smoothed: Option<[f64; 2]>,
    back_off: i32,
}

impl Timing {
    fn sample(&mut self, rtt: f64) {
        self.smoothed = Some(match self.smoothed {
            None => [rtt, rtt / 2.0],
            Some([srtt, variation]) => {
                [(7.0 * srtt + rtt) / 8.0, (3.0 * variation + (srtt - rtt).abs()) / 4.0]
            }
        });
    }

    fn srtt(&self) -> f64 {
        self.smoothed.map_or(0.0, |[srtt, _]| srtt)
    }

    /// In nanoseconds.
    fn timeout(&self) -> u64 {
        let spread = |[srtt, variation]: [f64; 2]| srtt + (4.0 * variation).max(LEAST_VARIATION);
        let single = self.smoothed.map_or(FIRST_TIMEOUT, spread);
        let backed_off = single * libm::ldexp(1.0, self.back_off.min(16));
        (backed_off.min(LONGEST_TIMEOUT) * 1e9) as u64
    }
}

impl Sender {
    pub(super) fn new(window: Window, total: u32, receive_window: u32, horizon: u32) -> Self {
        Self {
            window,
            total,
            receive_window,
            unacknowledged: 0,
            next: 0,
            until: 0,
            resend: [0; 2],
            regular_end: 0,
            phase: Phase::Open(0),
            sent: Vec::with_capacity(horizon as usize + 64),
            usage: Usage::default(),
            timing: Timing::default(),
            cuts: 0,
            timeouts: 0,
        }
    }

    /// The handshake took so long.
    pub(super) fn begin(&mut self, now: u64, lanes: &mut Lanes) {
        self.timing.sample(seconds(now));
        self.send_what_may_go(now, lanes);
    }

    /// Whether the receiver's window is what holds it back.
    pub(super) fn is_window_full(&self) -> bool {
        self.next - self.unacknowledged >= self.receive_window
    }

    pub(super) fn on_ack(&mut self, now: u64, ack: u32, lanes: &mut Lanes) {
        if ack > self.unacknowledged {
            self.on_new_ack(now, ack, lanes);
        } else if ack == self.unacknowledged && self.next > self.unacknowledged {
            self.on_duplicate_ack(now, lanes);
        } else {
            return;
        }
        self.send_what_may_go(now, lanes);
    }

    fn on_new_ack(&mut self, now: u64, ack: u32, lanes: &mut Lanes) {
        let acked = f64::from(ack - self.unacknowledged);
        self.take_samples(now, ack);
        self.unacknowledged = ack;
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
    fn take_samples(&mut self, now: u64, ack: u32) {
        let acked = &self.sent[self.unacknowledged as usize..ack as usize];
        let newest = acked.iter().copied().reduce(|a, b| if b.at >= a.at { b } else { a });
        if let Some(sent) = newest.filter(|sent| !sent.again) {
            self.timing.sample(seconds(now - sent.at));
        }
        self.timing.back_off = 0;
    }

    fn grow(&mut self, now: u64, acked: f64) {
        let used = f64::from(self.usage.present.max(self.usage.last));
        let limited = match self.window.in_slow_start() {
            true => self.window.size < 2.0 * used,
            false => used >= self.window.size - 1.0,
        };
        if limited {
            self.window.grow(seconds(now), acked, self.timing.srtt());
        }
    }

    fn on_duplicate_ack(&mut self, now: u64, lanes: &mut Lanes) {
        match &mut self.phase {
            Phase::Recovery(inflated) => *inflated += 1.0,
            Phase::Loss => {}
            Phase::Open(duplicates) => {
                *duplicates += 1;
                let count = *duplicates;
                if count == 1 {
                    self.regular_end = self.next;
                }
                if count == DUPLICATES && self.unacknowledged >= self.until {
                    self.recover(now, lanes);
                }
            }
        }
    }

    fn recover(&mut self, now: u64, lanes: &mut Lanes) {
        self.cuts += 1;
        self.window.cut(f64::from(self.regular_end - self.unacknowledged));
        self.phase = Phase::Recovery(self.window.threshold + f64::from(DUPLICATES));
        self.until = self.next;
        self.send_again(now, self.unacknowledged, lanes);
    }

    pub(super) fn on_timeout(&mut self, now: u64, lanes: &mut Lanes) {
        self.timeouts += 1;
        self.window.collapse(f64::from(self.in_flight()), self.timing.back_off > 0);
        self.timing.back_off += 1;
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

    fn send_what_may_go(&mut self, now: u64, lanes: &mut Lanes) {
        let window = match self.phase {
            Phase::Recovery(inflated) => inflated,
            Phase::Open(duplicates) => self.window.size + f64::from(duplicates.min(DUPLICATES - 1)),
            Phase::Loss => self.window.size,
        };
        let edge = self.total.min(self.unacknowledged.saturating_add(self.receive_window));
        while f64::from(self.in_flight() + 1) <= window {
            let lost = self.resend[0].max(self.unacknowledged);
            if lost < self.resend[1] {
                self.resend[0] = lost + 1;
                self.send_again(now, lost, lanes);
            } else if self.next < edge {
                self.send_new(now, lanes);
            } else {
                return;
            }
            self.usage.present = self.usage.present.max(self.in_flight());
        }
    }

    fn send_new(&mut self, now: u64, lanes: &mut Lanes) {
        self.sent.push(Sent { at: now, again: false });
        if lanes.timeout() == NEVER {
            lanes.set_timeout(now + self.timing.timeout());
        }
        lanes.send_segment(now, self.next);
        self.next += 1;
    }

    fn send_again(&mut self, now: u64, number: u32, lanes: &mut Lanes) {
        self.sent[number as usize] = Sent { at: now, again: true };
        if number == self.unacknowledged {
            lanes.set_timeout(now + self.timing.timeout());
        }
        lanes.send_segment(now, number);
    }
}

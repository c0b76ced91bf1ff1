//! The receive window: how much the application reads, and how large the buffer is.

use crate::tcp::config::{Reading, ReceiveBuffer, TcpConfig};
use polypath_units::Timestamp;
use std::time::Duration;

/// The largest window without scaling.
const UNSCALED: u64 = 65_535;
/// The largest window with scaling (RFC 7323 section 2.3).
const SCALED: u64 = 1 << 30;

/// The window advertised. Its right edge is what was read plus the buffer, moves in steps worth
/// telling, and never goes back.
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    buffer: u64,
    max_buffer: u64,
    autotune: bool,
    max_window: u64,
    mss: u64,
    edge: u64,
    read: u64,
    reading: Reading,
    /// From when on the application reads at its rate.
    reading_since: Timestamp,
    tuning: Tuning,
}

/// Dynamic right-sizing (Linux `tcp_rcv_space_adjust`).
#[derive(Debug)]
struct Tuning {
    rtt: Option<Duration>,
    measured_by_timestamps: bool,
    round_began: Timestamp,
    round_until: u64,
    space: u64,
    space_since: Timestamp,
    space_from: u64,
}

impl ReceiveWindow {
    /// A window whose right edge is at `edge`, which the handshake offered.
    pub(super) fn new(config: &TcpConfig, mss: u32, edge: u64) -> Self {
        let (buffer, max_buffer, autotune) = match config.receive_buffer {
            ReceiveBuffer::Fixed(bytes) => (bytes, bytes, false),
            ReceiveBuffer::Auto { initial, max } => (initial, max.max(initial), true),
        };
        let mss = u64::from(mss);
        Self {
            buffer,
            max_buffer,
            autotune,
            max_window: if config.window_scale { SCALED } else { UNSCALED },
            mss,
            edge,
            read: 0,
            reading: config.reading,
            reading_since: Timestamp::ZERO,
            tuning: Tuning {
                rtt: None,
                measured_by_timestamps: false,
                round_began: Timestamp::ZERO,
                round_until: 0,
                space: buffer.min(10 * mss).max(1),
                space_since: Timestamp::ZERO,
                space_from: 0,
            },
        }
    }

    /// The window that a SYN offers.
    pub(super) fn of_syn(config: &TcpConfig) -> u32 {
        let buffer = match config.receive_buffer {
            ReceiveBuffer::Fixed(bytes) => bytes,
            ReceiveBuffer::Auto { initial, .. } => initial,
        };
        buffer.min(UNSCALED) as u32
    }

    pub(super) const fn edge(&self) -> u64 {
        self.edge
    }

    /// The round-trip time that the receiver measured; none before the first.
    pub(super) const fn rtt(&self) -> Option<Duration> {
        self.tuning.rtt
    }

    pub(super) const fn read_bytes(&self) -> u64 {
        self.read
    }

    /// The right edge that the buffer would allow.
    const fn possible_edge(&self) -> u64 {
        1 + self.read + self.buffer
    }

    /// The window to advertise beside acknowledgement `ack`. It grows by a segment or half the
    /// buffer at least (RFC 9293 section 3.8.6.2.2).
    #[inline]
    pub(super) fn offer(&mut self, ack: u64) -> u32 {
        let possible = self.possible_edge().min(ack + self.max_window);
        if possible >= self.edge + self.mss.min(self.buffer / 2) {
            self.edge = possible;
        }
        self.edge.saturating_sub(ack) as u32
    }

    /// Whether the window has at least doubled since it was last told.
    pub(super) fn is_worth_telling(&self, ack: u64) -> bool {
        let told = self.edge.saturating_sub(ack);
        let possible = self.possible_edge().min(ack + self.max_window).saturating_sub(ack);
        let step = possible.saturating_sub(told) >= self.mss.min(self.buffer / 2);
        step && possible >= 2 * told && 2 * told <= self.buffer
    }

    /// The application reads what its way of reading allows of `available` bytes received in all.
    /// Whether it read something.
    pub(super) fn read_due(&mut self, now: Timestamp, available: u64) -> bool {
        let unread = available - self.read;
        let bytes = match self.reading {
            Reading::AtOnce => unread,
            Reading::WhenTold => 0,
            Reading::Rate(rate) => self.due_at_rate(now, unread, rate.bytes_per_sec()),
        };
        bytes > 0 && self.read(now, bytes)
    }

    fn due_at_rate(&mut self, now: Timestamp, unread: u64, rate: f64) -> u64 {
        if unread == 0 {
            self.reading_since = now;
            return 0;
        }
        let passed = (now - self.reading_since).as_secs_f64() * rate;
        let bytes = unread.min(passed as u64);
        if bytes > 0 {
            self.reading_since = now;
        }
        bytes
    }

    /// When an application that reads at a rate has the next segments, or the rest, read.
    #[inline]
    pub(super) fn next_read(&self, available: u64) -> Timestamp {
        let Reading::Rate(rate) = self.reading else { return Timestamp::MAX };
        let wanted = (available - self.read).min(2 * self.mss);
        if wanted == 0 {
            return Timestamp::MAX;
        }
        rate.time_to_send(wanted).map_or(Timestamp::MAX, |wait| self.reading_since + wait)
    }

    /// The application read `bytes`. Whether that was anything.
    pub(super) fn read(&mut self, now: Timestamp, bytes: u64) -> bool {
        self.read += bytes;
        if bytes > 0 && self.autotune {
            self.tune(now);
        }
        bytes > 0
    }

    /// Data arrived, so that `nxt` is expected now. `measured` is the round trip by timestamps.
    #[inline]
    pub(super) fn on_data(&mut self, now: Timestamp, nxt: u64, measured: Option<Duration>) {
        let tuning = &mut self.tuning;
        if let Some(sample) = measured {
            tuning.measured_by_timestamps = true;
            tuning.rtt = Some(tuning.rtt.map_or(sample, |rtt| (rtt * 7 + sample) / 8));
        } else if nxt >= tuning.round_until {
            tuning.end_window_round(now, nxt, self.edge);
        }
    }

    /// Once in a round trip: if more was read than in the best one before, the buffer becomes
    /// twice that and what slow start may add meanwhile.
    fn tune(&mut self, now: Timestamp) {
        let tuning = &mut self.tuning;
        let Some(rtt) = tuning.rtt else { return };
        if now - tuning.space_since < rtt {
            return;
        }
        let copied = self.read - tuning.space_from;
        if copied > tuning.space {
            let window = 2 * copied + 16 * self.mss;
            let growth = u128::from(window) * u128::from(copied - tuning.space);
            let growth = 2 * (growth / u128::from(tuning.space)) as u64;
            self.buffer = self.buffer.max(window.saturating_add(growth).min(self.max_buffer));
            tuning.space = copied;
        }
        (tuning.space_since, tuning.space_from) = (now, self.read);
    }
}

impl Tuning {
    /// Without timestamps a round trip is at most the time in which a window arrives.
    fn end_window_round(&mut self, now: Timestamp, nxt: u64, edge: u64) {
        if self.round_until > 0 && !self.measured_by_timestamps {
            let sample = (now - self.round_began).max(Duration::from_micros(1));
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
        }
        (self.round_began, self.round_until) = (now, edge.max(nxt + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_units::Bandwidth;

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn fixed(bytes: u64, reading: Reading) -> ReceiveWindow {
        let config =
            TcpConfig { receive_buffer: ReceiveBuffer::Fixed(bytes), reading, ..TcpConfig::LINUX };
        ReceiveWindow::new(&config, 1_000, 1 + bytes)
    }

    #[test]
    fn an_unread_buffer_closes_the_window_and_reading_opens_it_in_steps() {
        let mut window = fixed(10_000, Reading::WhenTold);
        assert_eq!(window.offer(1), 10_000);
        assert_eq!(window.offer(10_001), 0);
        window.read(ms(0), 999);
        assert_eq!(window.offer(10_001), 0, "less than a segment is not told");
        assert!(!window.is_worth_telling(10_001));
        window.read(ms(0), 1);
        assert!(window.is_worth_telling(10_001));
        assert_eq!(window.offer(10_001), 1_000);
    }

    #[test]
    fn an_application_reads_at_its_rate() {
        let mut window = fixed(10_000, Reading::Rate(Bandwidth::from_mbit_per_sec(8.0)));
        assert!(!window.read_due(ms(0), 0));
        assert_eq!(window.next_read(5_000), ms(2));
        assert!(window.read_due(ms(3), 5_000));
        assert_eq!(window.read_bytes(), 3_000);
    }

    #[test]
    fn the_buffer_follows_what_is_read_in_a_round_trip_up_to_its_maximum() {
        let mut window = ReceiveWindow::new(&TcpConfig::LINUX, 1_000, 65_537);
        let rtt = Some(Duration::from_millis(10));
        window.on_data(ms(0), 1, rtt);
        window.read(ms(10), 20_000);
        // 2 * 20000 + 16000 = 56000, and twice that times (20000 - 10000) / 10000 more.
        assert_eq!(window.buffer, 168_000);
        window.read(ms(15), 1_000_000);
        assert_eq!(window.buffer, 168_000, "within the round trip");
        window.read(ms(20), 1_000_000);
        assert_eq!(window.buffer, 6 << 20);
    }
}

//! The course of a transfer: its beginning event by event, the rest at the rate found.

use super::lanes::{Event, Lanes};
use super::order::seconds;
use super::receiver::Receiver;
use super::sender::Sender;
use super::window::Window;
use super::{Limit, TunnelLink, TunnelPrediction, TunnelTransfer};

/// The most events for each segment: where nearly everything is lost, more of them would show
/// nothing new.
const EVENTS_PER_SEGMENT: u64 = 40;
/// A window that is full for this share of the time, or a rate this near to what the links carry,
/// counts as the limit.
const MOSTLY: f64 = 0.5;
const NEARLY: f64 = 0.85;

#[derive(Debug)]
pub(super) struct Transfer<'a, const N: usize> {
    transfer: &'a TunnelTransfer,
    lanes: Lanes<N>,
    sender: Sender,
    receiver: Receiver,
    /// Segments of the transfer, and those that are looked at one by one.
    total: f64,
    horizon: u32,
    /// What the links carry in turn, in segments/s.
    capacity: f64,
    /// When which segment was there after the first part of the horizon.
    mark: u32,
    settled: (u64, u32),
    /// Acknowledgements, and those that found the receiver's window full.
    acks: u32,
    full: u32,
}

impl<'a, const N: usize> Transfer<'a, N> {
    pub(super) fn new(links: &[TunnelLink], transfer: &'a TunnelTransfer) -> Self {
        let segment = f64::from(transfer.segment_bytes);
        let total = (transfer.bytes as f64 / segment).ceil();
        let horizon = transfer.horizon_segments.min(total.min(f64::from(u32::MAX)) as u32).max(1);
        let packet = segment + f64::from(transfer.header_bytes);
        let room = (transfer.receive_buffer as f64 / segment).clamp(1.0, f64::from(u32::MAX / 2));
        let initial = f64::from(transfer.initial_window_segments.max(1));
        let threshold = transfer.threshold_bytes as f64 / segment;
        let window = Window::new(transfer.control, initial, threshold.max(2.0));
        let slowest = links.iter().map(|l| l.rate.bytes_per_sec()).fold(f64::INFINITY, f64::min);
        let all = total.min(f64::from(u32::MAX)) as u32;
        let ack = transfer.header_bytes;
        let lanes = Lanes::new(links, [transfer.segment_bytes + ack, ack]);
        Self {
            transfer,
            sender: Sender::new(window, all, room as u32, horizon, lanes.handshake()),
            lanes,
            receiver: Receiver::new(transfer, horizon),
            total,
            horizon,
            capacity: links.len() as f64 * slowest / packet,
            mark: horizon / 3,
            settled: (0, 0),
            acks: 0,
            full: 0,
        }
    }

    pub(super) fn run(mut self) -> TunnelPrediction {
        let mut now = self.lanes.handshake();
        self.sender.begin(now, &mut self.lanes);
        for _ in 0..EVENTS_PER_SEGMENT * u64::from(self.horizon) {
            let Some((at, event)) = self.lanes.next() else { break };
            now = at;
            match event {
                Event::Segment(number) => {
                    self.receiver.on_segment(now, number, &mut self.lanes);
                    if self.receiver.in_order() >= self.mark && self.is_over(now) {
                        break;
                    }
                }
                Event::Ack(number) => self.acknowledge(now, number),
                Event::DelayedAck => self.receiver.acknowledge(now, &mut self.lanes),
                Event::Timeout => self.sender.on_timeout(now, &mut self.lanes),
            }
        }
        self.predict(now)
    }

    #[inline(always)]
    fn acknowledge(&mut self, now: u64, number: u32) {
        self.sender.on_ack(now, number, &mut self.lanes);
        self.acks += 1;
        self.full += u32::from(self.sender.is_window_full());
    }

    /// So many segments have arrived that the rate has settled, or all have.
    #[cold]
    fn is_over(&mut self, now: u64) -> bool {
        let there = self.receiver.in_order();
        if self.mark < self.horizon {
            self.settled = (now, there);
            self.mark = self.horizon;
        }
        there >= self.horizon
    }

    fn predict(&self, now: u64) -> TunnelPrediction {
        let there = self.receiver.in_order();
        let (at, count) = self.settled;
        let (began, before) = if now > at && there > count { self.settled } else { (0, 0) };
        // Where not even one segment arrived, the rate is below one in this time.
        let rate = f64::from(there - before).max(MOSTLY) / seconds(now - began);
        let rest = (self.total - f64::from(there)).max(0.0);
        let seconds = seconds(now) + rest / rate;
        let segment = f64::from(self.transfer.segment_bytes);
        TunnelPrediction {
            seconds,
            bytes_per_sec: self.transfer.bytes as f64 / seconds,
            long_run_bytes_per_sec: rate * segment,
            cuts: self.sender.cuts,
            timeouts: self.sender.timeouts,
            segments: there,
            limit: self.limit(rate),
        }
    }

    fn limit(&self, rate: f64) -> Limit {
        let reductions = self.sender.cuts + self.sender.timeouts;
        let [dropped, lost] = self.lanes.gone();
        let overflows = dropped > lost && 2 * dropped > reductions;
        if rate > NEARLY * self.capacity || (overflows && rate > MOSTLY * self.capacity) {
            Limit::Rate
        } else if overflows {
            // Slow start has lost more than is repaired in one round after another.
            Limit::StartUp
        } else if f64::from(self.full) > MOSTLY * f64::from(self.acks) {
            Limit::ReceiveBuffer
        } else if reductions == 0 {
            Limit::StartUp
        } else if lost > 0 && 2 * lost > reductions {
            Limit::Loss
        } else {
            Limit::Reordering
        }
    }
}

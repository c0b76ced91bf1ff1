//! One direction of a wire: in at one socket, through the link, out at the other.

use super::os::BATCH;
use super::parcel::{Parcel, Received};
use super::report::DirectionReport;
use super::socket::{Inbox, PacketSocket};
use polypath_link::Link;
use polypath_net::realtime::{Clock, Lateness};
use polypath_units::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Duration;

/// Batches in a row from one socket, so that a flood in one direction cannot starve the other.
const BATCHES: usize = 8;

/// One direction, as its thread and its handle share it.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) link: Link<Parcel>,
    lateness: Lateness,
    /// All but what the link and the lateness know.
    counts: DirectionReport,
}

/// What the thread keeps of a direction: where frames are before and after the link.
#[derive(Debug)]
pub(super) struct Ends {
    inbox: Inbox,
    outbox: Vec<Parcel>,
    due: Vec<Timestamp>,
}

impl Ends {
    pub(super) fn new(from: &PacketSocket) -> Self {
        Self { inbox: Inbox::new(from), outbox: Vec::new(), due: Vec::new() }
    }
}

impl Way {
    pub(super) fn new(link: Link<Parcel>) -> Self {
        Self { link, lateness: Lateness::new(), counts: DirectionReport::default() }
    }

    pub(super) fn report(&self) -> DirectionReport {
        let (link, lateness) = (self.link.counters(), self.lateness.summary());
        DirectionReport { link, lateness, ..self.counts }
    }

    /// Gives the link what has come; whether anything has.
    pub(super) fn receive(
        &mut self,
        ends: &mut Ends,
        from: &PacketSocket,
        to: &PacketSocket,
        clock: Clock,
    ) -> io::Result<bool> {
        for round in 0..BATCHES {
            let count = ends.inbox.fill(from)?;
            let now = Now::read(clock);
            let mut neighbours = Vec::new();
            for (arrival, received) in ends.inbox.take(count) {
                self.admit(now.place(arrival.stamp), received, &mut neighbours);
            }
            self.pass(neighbours, to);
            if count < BATCH {
                return Ok(round > 0 || count > 0);
            }
        }
        Ok(true)
    }

    fn admit(&mut self, at: Timestamp, received: Received, neighbours: &mut Vec<Parcel>) {
        match received {
            Received::Packet(bytes, parcel) => {
                self.link.send(at, bytes, parcel);
            }
            Received::Neighbour(parcel) => {
                self.counts.neighbour += 1;
                neighbours.push(parcel);
            }
            Received::Other => self.counts.other += 1,
            Received::Oversized => self.counts.oversized += 1,
        }
    }

    /// Neighbours find each other at once, unless the link is down.
    fn pass(&mut self, mut parcels: Vec<Parcel>, to: &PacketSocket) {
        if !self.link.is_down() {
            self.send(&mut parcels, to, |_, _| ());
        }
    }

    /// Sends what is due by `now`.
    pub(super) fn deliver(
        &mut self,
        ends: &mut Ends,
        to: &PacketSocket,
        now: Timestamp,
        clock: Clock,
    ) {
        let Ends { inbox, outbox, due } = ends;
        loop {
            for (at, parcel) in core::iter::from_fn(|| self.link.poll_due(now)).take(BATCH) {
                due.push(at);
                outbox.push(parcel);
            }
            if outbox.is_empty() {
                return;
            }
            self.send(outbox, to, |way, sent| {
                let handed_over = clock.now();
                due.drain(..sent).for_each(|due| way.lateness.record(due, handed_over));
            });
            due.clear();
            outbox.drain(..).for_each(|parcel| inbox.recycle(parcel.into_buffer()));
        }
    }

    /// Sends at most a batch, and tells `sent` how many of the next the kernel has taken, or
    /// refused.
    fn send(
        &mut self,
        parcels: &mut [Parcel],
        to: &PacketSocket,
        mut sent: impl FnMut(&mut Self, usize),
    ) {
        let mut rest = &parcels[..];
        while !rest.is_empty() {
            let count = to.send(rest).unwrap_or_else(|_| {
                self.counts.refused += 1;
                1
            });
            sent(self, count);
            rest = rest.get(count.max(1)..).unwrap_or_default();
        }
    }

    /// Counts what the kernel had no room for.
    pub(super) fn note_drops(&mut self, from: &PacketSocket) -> io::Result<()> {
        self.counts.receive_drops += from.take_drops()?;
        Ok(())
    }
}

/// The time on both clocks: time stamps of the kernel are on the real-time one.
#[derive(Clone, Copy, Debug)]
struct Now {
    clock: Timestamp,
    real: Duration,
}

impl Now {
    fn read(clock: Clock) -> Self {
        let real = clock_gettime(ClockId::Realtime);
        let seconds = u64::try_from(real.tv_sec).unwrap_or(0);
        let nanos = u32::try_from(real.tv_nsec).unwrap_or(0);
        Self { clock: clock.now(), real: Duration::new(seconds, nanos) }
    }

    /// When a frame with this stamp arrived; now without one. Links take no time that goes
    /// backwards, and a step of the real-time clock cannot bring one that is to come.
    fn place(self, stamp: Option<Duration>) -> Timestamp {
        stamp.map_or(self.clock, |stamp| self.clock - self.real.saturating_sub(stamp))
    }
}

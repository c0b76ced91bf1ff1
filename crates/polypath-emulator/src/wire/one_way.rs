//! One direction of a wire: in at one socket, through the link, out at the other.

use super::os::BATCH;
use super::parcel::{Parcel, Received};
use super::report::DirectionReport;
use super::socket::{Inbox, PacketSocket};
use crate::realtime::{Clock, Lateness};
use polypath_link::Link;
use polypath_units::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Duration;

/// Batches in a row from one socket, so that a flood in one direction cannot starve the other.
const BATCHES: usize = 8;

/// One direction, as its thread and its handle share it.
#[derive(Debug)]
pub(super) struct OneWay {
    pub(super) link: Link<Parcel>,
    lateness: Lateness,
    /// All but what the link and the lateness know.
    counts: DirectionReport,
}

/// What the thread keeps of a direction: where frames are before and after the link.
#[derive(Debug)]
pub(super) struct Ends {
    inbox: Inbox,
    outbox: Vec<Outgoing>,
}

/// A frame that is to go out now.
#[derive(Debug)]
struct Outgoing {
    /// When it came out of the link; nothing if it has passed by.
    due: Option<Timestamp>,
    parcel: Parcel,
}

impl Ends {
    pub(super) fn new(from: &PacketSocket) -> Self {
        Self { inbox: Inbox::new(from), outbox: Vec::with_capacity(BATCH) }
    }
}

impl OneWay {
    pub(super) fn new(link: Link<Parcel>) -> Self {
        Self { link, lateness: Lateness::new(), counts: DirectionReport::default() }
    }

    pub(super) fn report(&self) -> DirectionReport {
        let (link, lateness) = (self.link.counters(), self.lateness.summary());
        DirectionReport { link, lateness, ..self.counts }
    }

    /// Gives the link what has come.
    pub(super) fn receive(
        &mut self,
        ends: &mut Ends,
        from: &PacketSocket,
        clock: Clock,
    ) -> io::Result<()> {
        let Ends { inbox, outbox } = ends;
        for _ in 0..BATCHES {
            let count = inbox.fill(from)?;
            let now = Now::read(clock);
            for (arrival, received) in inbox.take(count) {
                self.admit(now.place(arrival.stamp), received, outbox);
            }
            if count < BATCH {
                break;
            }
        }
        Ok(())
    }

    fn admit(&mut self, at: Timestamp, received: Received, outbox: &mut Vec<Outgoing>) {
        match received {
            Received::Packet(bytes, parcel) => {
                self.link.send(at, bytes, parcel);
            }
            Received::Neighbour(parcel) => {
                self.counts.neighbour += 1;
                if !self.link.is_down() {
                    outbox.push(Outgoing { due: None, parcel });
                }
            }
            Received::Other => self.counts.other += 1,
            Received::Oversized => self.counts.oversized += 1,
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
        let Ends { inbox, outbox } = ends;
        loop {
            let due = core::iter::from_fn(|| self.link.poll_due(now)).take(BATCH);
            outbox.extend(due.map(|(due, parcel)| Outgoing { due: Some(due), parcel }));
            if outbox.is_empty() {
                return;
            }
            self.send(outbox, to, clock);
            outbox.drain(..).for_each(|sent| inbox.recycle(sent.parcel.into_buffer()));
        }
    }

    /// Hands frames to the kernel. One that it refuses is lost, as by a driver without room.
    fn send(&mut self, mut outbox: &[Outgoing], to: &PacketSocket, clock: Clock) {
        while !outbox.is_empty() {
            let taken = to.send(outbox.iter().map(|outgoing| &outgoing.parcel)).unwrap_or(0);
            let now = clock.now();
            let (sent, rest) = outbox.split_at(taken.min(outbox.len()));
            sent.iter().filter_map(|sent| sent.due).for_each(|due| self.lateness.record(due, now));
            outbox = match rest {
                [_, rest @ ..] if taken == 0 => {
                    self.counts.refused += 1;
                    rest
                }
                rest => rest,
            };
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

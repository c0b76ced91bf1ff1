//! Streams that nobody reads, or no longer, beside one that is read.

use crate::common::{link, world};
use crate::world::World;
use bytes::Bytes;
use polypath_bond::{Bond, BondConfig, Event, ReadError, Side, StreamId, WriteError};
use polypath_units::Timestamp;
use std::time::Duration;

const BYTES: usize = 20_000_000;

/// Two paths of 50 Mbit/s, 10 and 40 ms away, and the side that writes.
struct Transfers {
    world: World,
    writer: Side,
}

impl Transfers {
    fn new(writer: Side) -> Self {
        let links = [link(50.0, 10.0), link(50.0, 40.0)];
        let mut world = world(&links, &BondConfig::default(), 0);
        let joined = world.run_until(Timestamp::from_millis(1_000), |world| {
            world.hub_bond().is_some_and(|hub| hub.status().paths.len() == links.len())
        });
        assert!(joined);
        world.run_until(Timestamp::from_millis(1_500), |_| false);
        Self { world, writer }
    }

    fn bond(&mut self, side: Side) -> &mut Bond {
        match side {
            Side::Edge => self.world.edge_bond(),
            Side::Hub => self.world.hub_bond().unwrap(),
        }
    }

    /// A stream on which the writer has written what it could.
    fn open(&mut self) -> StreamId {
        let writer = self.writer;
        let id = self.bond(writer).open_stream().unwrap();
        write(self.bond(writer), id);
        id
    }

    /// Runs for `time` while `writing` are written whenever there is room, and nothing is read.
    fn stall(&mut self, writing: &[StreamId], time: Duration) {
        let limit = self.world.now() + time;
        let writer = self.writer;
        self.run(limit, |this| {
            writing.iter().for_each(|&id| write(this.bond(writer), id));
            false
        });
    }

    fn run(&mut self, limit: Timestamp, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        while self.world.step(limit) {
            if done(self) {
                return true;
            }
            self.world.flush();
        }
        false
    }

    /// The time until `bytes` of a new stream are read, which then stalls, too.
    fn read_next(&mut self, bytes: usize) -> Duration {
        let (start, writer, id) = (self.world.now(), self.writer, self.open());
        let mut read = 0;
        let limit = start + Duration::from_secs(30);
        let done = self.run(limit, |this| {
            let now = this.world.now();
            while let Some(event) = this.bond(writer).poll_event() {
                if event == Event::StreamWritable(id) {
                    write(this.bond(writer), id);
                }
            }
            let reader = this.bond(writer.peer());
            while reader.poll_event().is_some() {}
            while read < bytes {
                match reader.read(id, bytes - read, now) {
                    Ok(data) => read += data.unwrap().len(),
                    Err(ReadError::Blocked | ReadError::UnknownStream(_)) => return false,
                    Err(error) => panic!("{id}: {error}"),
                }
            }
            true
        });
        assert!(done, "{read} of {bytes}");
        self.world.now().since(start)
    }
}

/// Writes what goes.
fn write(bond: &mut Bond, id: StreamId) {
    let data = Bytes::from_static(&[6; 1 << 16]);
    while match bond.write(id, &data) {
        Ok(_) => true,
        Err(WriteError::Blocked | WriteError::Stopped(_) | WriteError::UnknownStream(_)) => false,
    } {}
}

fn alone(writer: Side) -> Duration {
    Transfers::new(writer).read_next(BYTES)
}

/// More than nine tenths of the rate without others is what a stream must have beside them.
fn is_hardly_slower(time: Duration, alone: Duration) -> bool {
    time.mul_f64(0.9) <= alone
}

#[test]
fn a_thousand_streams_that_nobody_reads_slow_no_other_down() {
    for writer in [Side::Hub, Side::Edge] {
        let mut transfers = Transfers::new(writer);
        let stalled: Vec<_> = (0..1_000).map(|_| transfers.open()).collect();
        transfers.stall(&stalled, Duration::from_secs(3));
        let (time, alone) = (transfers.read_next(BYTES), alone(writer));
        assert!(is_hardly_slower(time, alone), "{time:?}, {alone:?} alone, {writer:?} writes");
    }
}

/// Each takes 3 MB at the full rate, long enough for a large window, and then no more. What they
/// leave unread is more than may wait for readers, so that some of them are given up.
#[test]
fn readers_that_stop_slow_no_other_down() {
    for writer in [Side::Hub, Side::Edge] {
        let mut transfers = Transfers::new(writer);
        let first = transfers.read_next(3_000_000);
        for _ in 0..30 {
            // What the stream that has just stopped is still sent takes its share of the paths.
            transfers.stall(&[], Duration::from_secs(2));
            let next = transfers.read_next(3_000_000);
            assert!(is_hardly_slower(next, first), "{next:?}, {first:?} alone");
        }
        let (time, alone) = (transfers.read_next(BYTES), alone(writer));
        assert!(is_hardly_slower(time, alone), "{time:?}, {alone:?} alone, {writer:?} writes");
        let status = transfers.bond(writer.peer()).status();
        assert!(status.counters.streams_unread > 0);
    }
}

/// Streams of which little is read all the time.
struct SlowReaders {
    ids: Vec<StreamId>,
    since: Timestamp,
    /// Bytes read of each.
    read: usize,
}

impl SlowReaders {
    const BYTES_PER_SEC: f64 = 20_000.0;

    /// Writes what goes, and reads what is due.
    fn go_on(&mut self, transfers: &mut Transfers) {
        let (now, writer) = (transfers.world.now(), transfers.writer);
        self.ids.iter().for_each(|&id| write(transfers.bond(writer), id));
        let due = (now.since(self.since).as_secs_f64() * Self::BYTES_PER_SEC) as usize;
        if due > self.read {
            for &id in &self.ids {
                let _ = transfers.bond(writer.peer()).read(id, due - self.read, now);
            }
            self.read = due;
        }
    }
}

/// One object of a page.
struct Object {
    id: StreamId,
    unwritten: usize,
    unread: usize,
}

impl Object {
    const BYTES: usize = 50_000;

    fn open(transfers: &mut Transfers) -> Self {
        let writer = transfers.writer;
        let id = transfers.bond(writer).open_stream().unwrap();
        Self { id, unwritten: Self::BYTES, unread: Self::BYTES }
    }

    fn go_on(&mut self, transfers: &mut Transfers) {
        let (now, writer) = (transfers.world.now(), transfers.writer);
        if self.unwritten > 0 {
            let data = Bytes::from_static(&[6; Self::BYTES]).slice(..self.unwritten);
            self.unwritten -= transfers.bond(writer).write(self.id, &data).unwrap_or(0);
        }
        while self.unread > 0
            && let Ok(Some(data)) = transfers.bond(writer.peer()).read(self.id, self.unread, now)
        {
            self.unread -= data.len();
        }
    }
}

/// The time for a page of a hundred objects beside so many slow readers.
fn page(slow: usize) -> Duration {
    let mut transfers = Transfers::new(Side::Hub);
    let ids = (0..slow).map(|_| transfers.open()).collect();
    let mut slow = SlowReaders { ids, since: transfers.world.now(), read: 0 };
    let wait = transfers.world.now() + Duration::from_secs(10);
    transfers.run(wait, |this| {
        slow.go_on(this);
        false
    });
    let start = transfers.world.now();
    let mut objects: Vec<_> = (0..100).map(|_| Object::open(&mut transfers)).collect();
    let done = transfers.run(start + Duration::from_secs(30), |this| {
        slow.go_on(this);
        objects.iter_mut().for_each(|object| object.go_on(this));
        objects.iter().all(|object| object.unread == 0)
    });
    assert!(done);
    transfers.world.now().since(start)
}

/// Ten readers of 20 kB/s take 1.6 of 100 Mbit/s.
#[test]
fn slow_readers_hold_up_no_page() {
    let (beside, alone) = (page(10), page(0));
    assert!(beside <= alone.mul_f64(1.2), "{beside:?}, {alone:?} alone");
}

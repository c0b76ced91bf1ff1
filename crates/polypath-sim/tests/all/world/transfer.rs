//! A stream of known content from one end to the other, checked byte by byte.

use super::World;
use bytes::Bytes;
use polypath_bond::{Bond, Event, ReadError, StreamId};
use polypath_units::Timestamp;
use std::time::Duration;

/// Bytes handed to the bond at once.
const PIECE: usize = 64 << 10;

/// A bulk transfer from the edge to the hub.
#[derive(Debug)]
pub(crate) struct Transfer {
    stream: StreamId,
    total: u64,
    written: u64,
    read: u64,
    started: Timestamp,
    ended: Option<Timestamp>,
    last_delivery: Timestamp,
    longest_gap: Duration,
    gap_began: Timestamp,
    /// In-order bytes at the end of each delivery.
    progress: Vec<(Timestamp, u64)>,
}

/// How a transfer went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransferReport {
    /// From the first write to the last byte read.
    pub(crate) duration: Duration,
    /// Payload bytes.
    pub(crate) bytes: u64,
    /// The longest time without in-order delivery, from the first byte to the last.
    pub(crate) longest_gap: Duration,
    /// When that began.
    pub(crate) gap_began: Timestamp,
}

impl TransferReport {
    /// Payload bits per second, start-up included.
    pub(crate) fn goodput_mbit_s(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.duration.as_secs_f64() / 1e6
    }
}

/// The byte at an offset of every transfer: no period that a segment could hide behind.
fn pattern(offset: u64) -> u8 {
    let x = offset.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x >> 56) as u8
}

impl Transfer {
    /// Opens a stream at the edge and begins to send `total` bytes.
    ///
    /// # Panics
    /// When the edge's bond has no stream to give.
    pub(crate) fn start(world: &mut World, total: u64) -> Self {
        let now = world.now();
        let stream = world.edge_bond().open_stream().expect("a fresh bond has streams");
        let mut transfer = Self {
            stream,
            total,
            written: 0,
            read: 0,
            started: now,
            ended: None,
            last_delivery: now,
            longest_gap: Duration::ZERO,
            gap_began: now,
            progress: Vec::new(),
        };
        transfer.write(world.edge_bond());
        transfer
    }

    fn write(&mut self, bond: &mut Bond) {
        while self.written < self.total {
            let len = (self.total - self.written).min(PIECE as u64);
            let piece: Bytes = (self.written..self.written + len).map(pattern).collect();
            match bond.write(self.stream, &piece) {
                Ok(n) => self.written += n as u64,
                Err(_) => return,
            }
            if self.written == self.total {
                // Open until here: only this transfer finishes it.
                let _ = bond.finish(self.stream);
            }
        }
    }

    /// Writes and reads what can be. Returns whether the transfer is over.
    ///
    /// # Panics
    /// When a byte is wrong, or the stream ends early or with an error: that is what the transfer
    /// is there to find.
    pub(crate) fn poll(&mut self, world: &mut World) -> bool {
        let now = world.now();
        let mut can_write = false;
        let edge = world.edge_bond();
        while let Some(event) = edge.poll_event() {
            can_write |= event == Event::StreamWritable(self.stream);
        }
        if can_write {
            self.write(world.edge_bond());
        }
        let Some(hub) = world.hub_bond() else { return false };
        let mut readable = false;
        while let Some(event) = hub.poll_event() {
            readable |= matches!(event, Event::StreamOpened(id) | Event::StreamReadable(id) if id == self.stream);
        }
        if readable {
            self.read_all(hub, now);
        }
        self.ended.is_some()
    }

    fn read_all(&mut self, hub: &mut Bond, now: Timestamp) {
        loop {
            match hub.read(self.stream, usize::MAX, now) {
                Ok(Some(data)) => self.check(&data, now),
                Ok(None) => {
                    assert_eq!(self.read, self.total, "the stream ended early");
                    self.ended = Some(now);
                    return;
                }
                Err(ReadError::Blocked) => return,
                Err(error) => panic!("after {} bytes: {error}", self.read),
            }
        }
    }

    fn check(&mut self, data: &[u8], now: Timestamp) {
        for (i, &byte) in (self.read..).zip(data) {
            assert_eq!(byte, pattern(i), "wrong byte at {i}");
        }
        let gap = now.since(self.last_delivery);
        if self.read > 0 && gap > self.longest_gap {
            self.longest_gap = gap;
            self.gap_began = self.last_delivery;
        }
        self.read += data.len() as u64;
        self.last_delivery = now;
        self.progress.push((now, self.read));
    }

    /// In-order bytes delivered so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.read
    }

    /// In-order bytes after each delivery.
    pub(crate) fn progress(&self) -> &[(Timestamp, u64)] {
        &self.progress
    }

    /// The report, once the transfer is over.
    pub(crate) fn report(&self) -> Option<TransferReport> {
        let ended = self.ended?;
        Some(TransferReport {
            duration: ended.since(self.started),
            bytes: self.total,
            longest_gap: self.longest_gap,
            gap_began: self.gap_began,
        })
    }

    /// Runs the world until the transfer is over.
    pub(crate) fn run(&mut self, world: &mut World, limit: Timestamp) -> Option<TransferReport> {
        world.run_until(limit, |world| self.poll(world));
        self.report()
    }
}

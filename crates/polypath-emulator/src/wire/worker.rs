//! The thread of a wire.

use super::one_way::{Ends, OneWay};
use super::os;
use super::parcel::Parcel;
use super::report::WireReport;
use super::socket::PacketSocket;
use crate::realtime::{Clock, Shared, rest, sharpen_timers};
use polypath_link::Link;
use polypath_units::Timestamp;
use rustix::event::{PollFd, PollFlags};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The shortest time between two wake-ups. It bounds the processor time at high packet rates, so
/// that threads of real-time priority leave some to those that send and receive.
const REST: Duration = Duration::from_micros(25);

/// Both directions, up first, and what concerns both.
#[derive(Debug)]
pub(super) struct State {
    pub(super) ways: [OneWay; 2],
    errors: u64,
    no_realtime_priority: Option<String>,
}

impl State {
    pub(super) fn new(links: [Link<Parcel>; 2]) -> Self {
        Self { ways: links.map(OneWay::new), errors: 0, no_realtime_priority: None }
    }

    /// What has happened, with what the kernel had no room for at the sockets.
    pub(super) fn report(&mut self, name: &str, sockets: &[PacketSocket; 2]) -> WireReport {
        for (direction, from) in sockets.iter().enumerate() {
            let noted = self.ways[direction].note_drops(from);
            self.note(&noted);
        }
        let [up, down] = self.ways.each_ref().map(OneWay::report);
        let no_realtime_priority = self.no_realtime_priority.clone();
        WireReport { name: name.to_owned(), no_realtime_priority, errors: self.errors, up, down }
    }

    fn note(&mut self, result: &io::Result<()>) {
        self.errors += u64::from(result.is_err());
    }
}

/// A wire at work.
#[derive(Debug)]
pub(super) struct Worker {
    /// The interface from which packets go up, and the one from which they go down.
    sockets: Arc<[PacketSocket; 2]>,
    ends: [Ends; 2],
    clock: Clock,
}

impl Worker {
    pub(super) fn new(sockets: Arc<[PacketSocket; 2]>, clock: Clock) -> Self {
        let ends = sockets.each_ref().map(Ends::new);
        Self { sockets, ends, clock }
    }

    /// Moves packets until told to stop.
    pub(super) fn run(mut self, shared: &Shared<State>) {
        sharpen_timers();
        let priority = os::take_realtime_priority();
        shared.lock().no_realtime_priority = priority.err().map(|error| error.to_string());
        while !shared.is_stopping() {
            let woken = self.clock.now();
            let next = self.turn(&mut shared.lock());
            rest(REST.saturating_sub(self.clock.now().since(woken)));
            let waited = self.wait(next, shared);
            if waited.is_err() {
                shared.lock().note(&waited);
            }
        }
    }

    /// One round of work; then the time of the next.
    ///
    /// What has come by `now` is in the links before they are asked what is due by then: the time
    /// stamps of the kernel let a link serve packets from the time when they arrived, however late
    /// the thread looks.
    fn turn(&mut self, state: &mut State) -> Option<Timestamp> {
        let now = self.clock.now();
        for (direction, from) in self.sockets.iter().enumerate() {
            let ends = &mut self.ends[direction];
            let received = state.ways[direction].receive(ends, from, self.clock);
            state.note(&received);
        }
        for (direction, way) in state.ways.iter_mut().enumerate() {
            let to = &self.sockets[1 - direction];
            way.deliver(&mut self.ends[direction], to, now, self.clock);
        }
        state.ways.iter().filter_map(|way| way.link.next_event()).min()
    }

    /// Waits until `until`, for a frame, or to be woken.
    fn wait(&self, until: Option<Timestamp>, shared: &Shared<State>) -> io::Result<()> {
        let [up, down] = self.sockets.each_ref().map(PacketSocket::fd);
        let mut fds =
            [up, down, shared.woken()].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        self.clock.wait(&mut fds, until)?;
        if !fds[2].revents().is_empty() {
            shared.clear_wakes();
        }
        Ok(())
    }
}

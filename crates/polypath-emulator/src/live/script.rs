//! The scripted changes of a live network.

use crate::realtime::Clock;
use crate::wire::Wire;
use polypath_sim::Direction;
use polypath_sim::run::Timetable;
use polypath_sim::scenario::Change;
use polypath_sim::topology::LinkId;
use polypath_units::Timestamp;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// The thread that makes the changes when they are due.
#[derive(Debug)]
pub(super) struct Script {
    /// Closing it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Script {
    pub(super) fn start(
        timetable: Timetable,
        wires: Arc<[Wire]>,
        clock: Clock,
    ) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = Builder::new().name("events".into());
        let thread = thread.spawn(move || follow(timetable, &wires, clock, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Ends it; changes that are not due do not happen.
    pub(super) fn stop(mut self) {
        self.join();
    }

    fn join(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.join();
    }
}

fn follow(mut timetable: Timetable, wires: &[Wire], clock: Clock, stopped: &Receiver<()>) {
    while timetable.next() < Timestamp::MAX {
        let left = timetable.next().since(clock.now());
        if stopped.recv_timeout(left) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        while let Some((link, change)) = timetable.pop_due(clock.now()) {
            make(&change, link, wires);
        }
    }
}

fn make(change: &Change, link: LinkId, wires: &[Wire]) {
    // Links come in pairs, up first, in the order of the wires.
    let (wire, direction) = match link.0 {
        number if number % 2 == 0 => (&wires[number as usize / 2], Direction::Up),
        number => (&wires[number as usize / 2], Direction::Down),
    };
    if let Err(error) = wire.change(direction, |link, now| change.apply(link, now)) {
        tracing::error!(%error, wire = wire.name(), "a scripted change was refused");
    }
}

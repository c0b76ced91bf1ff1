//! Bulk transfers over sockets of the kernel.

use super::FlowOutcome;
use super::timeline::Timeline;
use super::window::Watch;
use crate::realtime::Clock;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// What one call moves at most.
const BLOCK: usize = 256 << 10;

/// A transfer in one direction of a connection.
#[derive(Debug)]
pub(crate) struct Transfer {
    sender: TcpStream,
    receiver: TcpStream,
    sending: JoinHandle<io::Result<()>>,
    receiving: JoinHandle<(Timeline, io::Result<()>)>,
    watch: Option<Watch>,
}

impl Transfer {
    /// Begins to send `bytes`, or without end, and to look at the sender's window.
    pub(crate) fn start(
        sender: &TcpStream,
        receiver: &TcpStream,
        bytes: Option<u64>,
        clock: Clock,
        windows_every: Option<Duration>,
    ) -> io::Result<Self> {
        let watch = windows_every.map(|every| Watch::start(sender, every, clock)).transpose()?;
        let (mut to, mut from) = (sender.try_clone()?, receiver.try_clone()?);
        let receiving = Builder::new().name("kernel sink".into());
        let receiving = receiving.spawn(move || receive(&mut from, clock))?;
        let sending = Builder::new().name("kernel source".into());
        let sending = sending.spawn(move || send(&mut to, bytes))?;
        let (sender, receiver) = (sender.try_clone()?, receiver.try_clone()?);
        Ok(Self { sender, receiver, sending, receiving, watch })
    }

    /// Whether all has arrived.
    pub(crate) fn is_over(&self) -> bool {
        self.receiving.is_finished()
    }

    /// Ends it where it is and gives what has arrived.
    pub(crate) fn stop(mut self) -> io::Result<FlowOutcome> {
        let windows = self.watch.take().map(Watch::stop).transpose()?.unwrap_or_default();
        let cut = !self.is_over();
        if cut {
            // The receiver first: what it has read until now is the result. Either may be gone.
            let _ = self.receiver.shutdown(Shutdown::Both);
            let _ = self.sender.shutdown(Shutdown::Both);
        }
        let panicked = |_| io::Error::other("a thread of the transfer panicked");
        let sent = self.sending.join().map_err(panicked)?;
        let (received, read) = self.receiving.join().map_err(panicked)?;
        if !cut {
            // One that is cut with data on its way is reset.
            sent.and(read)?;
        }
        Ok(FlowOutcome { received, windows })
    }
}

fn send(to: &mut TcpStream, bytes: Option<u64>) -> io::Result<()> {
    let block = vec![0; BLOCK];
    let mut left = bytes.unwrap_or(u64::MAX);
    while left > 0 {
        let size = left.min(BLOCK as u64) as usize;
        left -= to.write(&block[..size])? as u64;
    }
    to.shutdown(Shutdown::Write)
}

/// Reads until the end of the stream, or until it is cut.
fn receive(from: &mut TcpStream, clock: Clock) -> (Timeline, io::Result<()>) {
    let mut block = vec![0; BLOCK];
    let mut timeline = Timeline::default();
    loop {
        match from.read(&mut block) {
            Ok(0) => return (timeline, Ok(())),
            Ok(bytes) => timeline.add(clock.now(), bytes as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (timeline, Err(error)),
        }
    }
}

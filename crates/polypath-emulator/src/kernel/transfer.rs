//! Bulk transfers over sockets of the kernel.

use super::buffer::BufferSample;
use super::timeline::Timeline;
use super::watch::Watch;
use super::window::WindowSample;
use super::{FlowOutcome, Looks};
use crate::realtime::{Clock, rest};
use polypath_units::Bandwidth;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// What one call moves at most.
const BLOCK: usize = 256 << 10;
/// How often a sender with a rate looks whether a block is due.
const BETWEEN_BLOCKS: Duration = Duration::from_micros(200);

/// What a sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// As much as the network takes: so many bytes, or without end.
    Bulk(Option<u64>),
    /// At a rate of its own, without end.
    Paced(Pace),
}

/// The rate of a sender that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The rate of the payload while it sends.
    pub rate: Bandwidth,
    /// What it writes at a time, in bytes.
    pub block: usize,
    /// How long it sends and how long it then pauses, over and over; it never pauses if there is
    /// nothing.
    pub on_off: Option<(Duration, Duration)>,
}

impl Pace {
    /// The bytes that it has written some time after it began, if the network takes them.
    fn due(&self, after: Duration) -> u64 {
        let sending = self.on_off.map_or(after, |(on, off)| {
            let period = (on + off).as_nanos().max(1);
            let (whole, rest) = (after.as_nanos() / period, after.as_nanos() % period);
            let nanos = whole * on.as_nanos() + rest.min(on.as_nanos());
            Duration::from_nanos(nanos.try_into().unwrap_or(u64::MAX))
        });
        (self.rate.bits_per_sec() as f64 / 8.0 * sending.as_secs_f64()) as u64
    }
}

/// A transfer in one direction of a connection.
#[derive(Debug)]
pub(crate) struct Transfer {
    sender: TcpStream,
    receiver: TcpStream,
    sending: JoinHandle<io::Result<()>>,
    receiving: JoinHandle<(Timeline, io::Result<()>)>,
    windows: Option<Watch<WindowSample>>,
    buffers: Option<Watch<BufferSample>>,
}

impl Transfer {
    /// Begins to send, and to look at what is asked for.
    pub(crate) fn start(
        sender: &TcpStream,
        receiver: &TcpStream,
        source: Source,
        clock: Clock,
        looks: Looks,
    ) -> io::Result<Self> {
        let windows = |every| Watch::start(sender, every, clock, WindowSample::look);
        let windows = looks.windows.map(windows).transpose()?;
        let buffers = |every| Watch::start(receiver, every, clock, BufferSample::look);
        let buffers = looks.buffers.map(buffers).transpose()?;
        let (mut to, mut from) = (sender.try_clone()?, receiver.try_clone()?);
        let receiving = Builder::new().name("kernel sink".into());
        let receiving = receiving.spawn(move || receive(&mut from, clock))?;
        let sending = Builder::new().name("kernel source".into());
        let sending = sending.spawn(move || match source {
            Source::Bulk(bytes) => send(&mut to, bytes),
            Source::Paced(pace) => send_paced(&mut to, pace, clock),
        })?;
        let (sender, receiver) = (sender.try_clone()?, receiver.try_clone()?);
        Ok(Self { sender, receiver, sending, receiving, windows, buffers })
    }

    /// Whether all has arrived.
    pub(crate) fn is_over(&self) -> bool {
        self.receiving.is_finished()
    }

    /// Waits until all has arrived.
    pub(crate) fn finish(self) -> io::Result<FlowOutcome> {
        let (sent, (received, read)) = (join(self.sending)?, join(self.receiving)?);
        sent.and(read)?;
        let (windows, buffers) = (seen(self.windows)?, seen(self.buffers)?);
        Ok(FlowOutcome { received, windows, buffers })
    }

    /// Ends it where it is and gives what has arrived.
    pub(crate) fn stop(self) -> io::Result<FlowOutcome> {
        if self.is_over() {
            return self.finish();
        }
        let (windows, buffers) = (seen(self.windows)?, seen(self.buffers)?);
        // The receiver first: what it has read until now is the result. Either may be gone.
        let _ = self.receiver.shutdown(Shutdown::Both);
        let _ = self.sender.shutdown(Shutdown::Both);
        // What is cut with data on its way is reset.
        let _ = join(self.sending)?;
        let (received, _) = join(self.receiving)?;
        Ok(FlowOutcome { received, windows, buffers })
    }
}

fn seen<S: Send + 'static>(watch: Option<Watch<S>>) -> io::Result<Vec<S>> {
    Ok(watch.map(Watch::stop).transpose()?.unwrap_or_default())
}

fn join<T>(thread: JoinHandle<T>) -> io::Result<T> {
    thread.join().map_err(|_| io::Error::other("a thread of the transfer panicked"))
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

/// Until the connection is cut.
fn send_paced(to: &mut TcpStream, pace: Pace, clock: Clock) -> io::Result<()> {
    let block = vec![0; pace.block];
    let start = clock.now();
    let mut sent = 0;
    loop {
        while sent + pace.block as u64 <= pace.due(clock.now().since(start)) {
            to.write_all(&block)?;
            sent += pace.block as u64;
        }
        rest(BETWEEN_BLOCKS);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Mbit/s are 1000 bytes in a millisecond.
    #[test]
    fn what_is_due_counts_the_time_of_sending() {
        let rate = Bandwidth::from_mbit_per_sec(8.0);
        let ms = Duration::from_millis;
        let steady = Pace { rate, block: 1, on_off: None };
        assert_eq!(steady.due(ms(250)), 250_000);
        let pausing = Pace { on_off: Some((ms(10), ms(90))), ..steady };
        let due = [5, 10, 99, 105, 250].map(|at| pausing.due(ms(at)));
        assert_eq!(due, [5_000, 10_000, 10_000, 15_000, 30_000]);
    }
}

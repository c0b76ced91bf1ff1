//! A socket, looked at again and again while it transfers.

use crate::realtime::Clock;
use polypath_units::Timestamp;
use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// What is seen of a socket at a time.
type Look<S> = fn(&TcpStream, Timestamp) -> io::Result<S>;

/// The thread that looks.
#[derive(Debug)]
pub(super) struct Watch<S> {
    /// Closing it ends the thread.
    stop: Sender<()>,
    thread: JoinHandle<io::Result<Vec<S>>>,
}

impl<S: Send + 'static> Watch<S> {
    /// Looks at a socket now, and at all multiples of `every` from now on.
    pub(super) fn start(
        socket: &TcpStream,
        every: Duration,
        clock: Clock,
        look: Look<S>,
    ) -> io::Result<Self> {
        let socket = socket.try_clone()?;
        let (stop, stopped) = channel();
        let thread = Builder::new().name("watch".into());
        let thread = thread.spawn(move || follow(&socket, every, clock, &stopped, look))?;
        Ok(Self { stop, thread })
    }

    /// Ends it and gives what was seen.
    pub(super) fn stop(self) -> io::Result<Vec<S>> {
        drop(self.stop);
        self.thread.join().map_err(|_| io::Error::other("the thread that looks panicked"))?
    }
}

fn follow<S>(
    socket: &TcpStream,
    every: Duration,
    clock: Clock,
    stopped: &Receiver<()>,
    look: Look<S>,
) -> io::Result<Vec<S>> {
    let mut samples = Vec::new();
    loop {
        samples.push(look(socket, clock.now())?);
        let left = next_multiple(clock.now(), every).since(clock.now());
        if stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
            return Ok(samples);
        }
    }
}

/// The first multiple of `every` after `now`.
pub(super) fn next_multiple(now: Timestamp, every: Duration) -> Timestamp {
    let every = every.as_nanos().max(1) as u64;
    Timestamp::from_nanos((now.as_nanos() / every + 1) * every)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn samples_are_taken_until_the_watch_is_stopped() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let hour = Duration::from_secs(3_600);
        let watch = Watch::start(&socket, hour, Clock::start(), |_, at| Ok(at)).unwrap();
        // The first look does not wait for its time, nor does the end.
        assert_eq!(watch.stop().unwrap().len(), 1);
    }

    #[test]
    fn looks_are_due_at_multiples_of_the_interval() {
        let (ms, every) = (Timestamp::from_millis, Duration::from_millis(20));
        assert_eq!(next_multiple(ms(0), every), ms(20));
        assert_eq!(next_multiple(ms(40), every), ms(60));
        assert_eq!(next_multiple(ms(59), every), ms(60));
    }
}

//! The congestion window of a sender, looked at while it sends.

use super::tcp_info;
use crate::realtime::Clock;
use polypath_units::Timestamp;
use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The kernel's `TCP_INFINITE_SSTHRESH`: there was no loss yet.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// What congestion control of a sender was at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSample {
    /// When.
    pub at: Timestamp,
    /// The congestion window in bytes of payload.
    pub window: u64,
    /// The slow-start threshold in bytes of payload; `None` while it is infinite.
    pub ssthresh: Option<u64>,
    /// The smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Duration>,
}

impl WindowSample {
    fn of(info: &libc::tcp_info, at: Timestamp) -> Self {
        let bytes = |segments: u32| u64::from(segments) * u64::from(info.tcpi_snd_mss);
        let ssthresh = info.tcpi_snd_ssthresh;
        Self {
            at,
            window: bytes(info.tcpi_snd_cwnd),
            ssthresh: (ssthresh < INFINITE_SSTHRESH).then(|| bytes(ssthresh)),
            srtt: (info.tcpi_rtt > 0).then(|| Duration::from_micros(info.tcpi_rtt.into())),
        }
    }
}

/// The thread that looks.
#[derive(Debug)]
pub(super) struct Watch {
    /// Closing it ends the thread.
    stop: Sender<()>,
    thread: JoinHandle<io::Result<Vec<WindowSample>>>,
}

impl Watch {
    /// Looks at a sender of TCP now, and at all multiples of `every` from now on.
    pub(super) fn start(sender: &TcpStream, every: Duration, clock: Clock) -> io::Result<Self> {
        let sender = sender.try_clone()?;
        let (stop, stopped) = channel();
        let thread = Builder::new().name("windows".into());
        let thread = thread.spawn(move || follow(&sender, every, clock, &stopped))?;
        Ok(Self { stop, thread })
    }

    /// Ends it and gives what was seen.
    pub(super) fn stop(self) -> io::Result<Vec<WindowSample>> {
        drop(self.stop);
        self.thread.join().map_err(|_| io::Error::other("the thread that looks panicked"))?
    }
}

fn follow(
    sender: &TcpStream,
    every: Duration,
    clock: Clock,
    stopped: &Receiver<()>,
) -> io::Result<Vec<WindowSample>> {
    let mut samples = Vec::new();
    loop {
        let now = clock.now();
        samples.push(WindowSample::of(&tcp_info(sender)?, now));
        let left = next_multiple(now, every).since(clock.now());
        if stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
            return Ok(samples);
        }
    }
}

/// The first multiple of `every` after `now`.
fn next_multiple(now: Timestamp, every: Duration) -> Timestamp {
    let every = every.as_nanos().max(1) as u64;
    Timestamp::from_nanos((now.as_nanos() / every + 1) * every)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A connection within the machine, of which the kernel knows a window of ten segments
    /// (RFC 6928) and no loss.
    #[test]
    fn a_fresh_connection_has_the_initial_window() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let info = tcp_info(&sender).unwrap();
        let sample = WindowSample::of(&info, Timestamp::from_millis(3));
        assert_eq!(sample.at, Timestamp::from_millis(3));
        assert_eq!(sample.window, 10 * u64::from(info.tcpi_snd_mss));
        assert!(info.tcpi_snd_mss > 500, "{}", info.tcpi_snd_mss);
        assert_eq!(sample.ssthresh, None);
        assert!(sample.srtt.is_some_and(|srtt| srtt < Duration::from_secs(1)), "{sample:?}");
    }

    #[test]
    fn thresholds_are_finite_after_a_loss() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut info = tcp_info(&sender).unwrap();
        (info.tcpi_snd_mss, info.tcpi_snd_ssthresh, info.tcpi_snd_cwnd) = (1_448, 70, 35);
        let sample = WindowSample::of(&info, Timestamp::ZERO);
        assert_eq!((sample.window, sample.ssthresh), (35 * 1_448, Some(70 * 1_448)));
    }

    #[test]
    fn samples_are_taken_until_the_watch_is_stopped() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let watch = Watch::start(&sender, Duration::from_secs(3_600), Clock::start()).unwrap();
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

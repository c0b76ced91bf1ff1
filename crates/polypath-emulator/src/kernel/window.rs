//! The congestion window of a sender, looked at while it sends.

use super::tcp_info;
use polypath_units::Timestamp;
use std::io;
use std::net::TcpStream;
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
    /// Of a sender; of Multipath TCP that of the first subflow.
    pub(super) fn look(sender: &TcpStream, at: Timestamp) -> io::Result<Self> {
        Ok(Self::of(&tcp_info(sender)?, at))
    }

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
}

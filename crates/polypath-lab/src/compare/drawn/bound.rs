//! What no sender that doubles its window each round trip can surpass.

use super::profile::{Load, Profile};

/// Payload and size of a packet, in bytes: IPv4 and TCP without options take 40, which is less
/// than any contender needs.
const PAYLOAD: f64 = 1_460.0;
const PACKET: f64 = 1_500.0;
/// Segments of the first round trip (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;
/// Halvings of the time that is looked for, beyond which `f64` has no digits left.
const HALVINGS: usize = 60;

/// A path without losses, jitter and queues.
///
/// It takes the rate `r` of payload and the round-trip time `T`. In round trip `k`, counted from
/// 0, an ideal sender sends what its window holds, `W 2^k` with `W` ten segments, as fast as the
/// line takes it, and no more than the line takes in `T`. After the time `t` it has sent
///
/// `s(t) = sum over k < n of min(W 2^k, r T) + min(W 2^n, r (t - n T))`, `n = floor(t / T)`,
///
/// and it has arrived half a round trip later: `a(t) = s(t - T / 2)`, zero before. No handshake
/// is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    bytes_per_s: f64,
    rtt_s: f64,
}

impl Line {
    /// A line of this rate, headers included, and this delay one way.
    pub(super) const fn new(mbit_s: f64, delay_ms: f64) -> Self {
        Self { bytes_per_s: mbit_s * 125e3 * PAYLOAD / PACKET, rtt_s: 2.0 * delay_ms / 1e3 }
    }

    /// Bytes that have arrived.
    fn arrived(self, t: f64) -> f64 {
        let mut left = t - self.rtt_s / 2.0;
        let full = self.bytes_per_s * self.rtt_s;
        let (mut window, mut sent) = (INITIAL_WINDOW * PAYLOAD, 0.0);
        while window < full && left >= self.rtt_s {
            sent += window;
            window *= 2.0;
            left -= self.rtt_s;
        }
        let rest = (self.bytes_per_s * left).max(0.0);
        sent + if window < full { rest.min(window) } else { rest }
    }
}

/// The goodput in Mbit/s of a transfer over these lines together. Of `bytes` it is their size over
/// the time at which the sum of what has arrived reaches it; of what has no end, or is not over
/// then, what arrives in `limit_s`.
pub(super) fn goodput(lines: &[Line], bytes: Option<f64>, limit_s: f64) -> f64 {
    let arrived = |t: f64| lines.iter().map(|line| line.arrived(t)).sum::<f64>();
    let all = arrived(limit_s);
    let Some(bytes) = bytes.filter(|bytes| *bytes <= all) else { return all * 8e-6 / limit_s };
    let (mut before, mut after) = (0.0, limit_s);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(before, after);
        if arrived(middle) < bytes { before = middle } else { after = middle }
    }
    bytes * 8e-6 / after
}

impl Profile {
    /// The bound of its transfer; `None` where a rate changes or datagrams are sent.
    pub(super) fn bound_mbit_s(&self) -> Option<f64> {
        let line = |path: &super::profile::DrawnPath| {
            Some(Line::new(path.rate.constant()?, path.delay_ms))
        };
        let lines = self.paths.iter().map(line).collect::<Option<Vec<_>>>()?;
        let bytes = match self.load {
            Load::Transfer { kilobytes, .. } => Some(kilobytes * 1e3),
            Load::Endless => None,
            Load::Datagrams { .. } => return None,
        };
        Some(goodput(&lines, bytes, self.duration.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Payload at 1,460 bytes a millisecond, a round trip of 40 ms: 12 Mbit/s.
    const LINE: Line = Line::new(12.0, 20.0);

    fn is(goodput: f64, bytes: f64, seconds: f64) {
        let expected = bytes * 8e-6 / seconds;
        assert!((goodput / expected - 1.0).abs() < 1e-9, "{goodput} for {expected}");
    }

    /// The window of ten segments leaves in 10 ms and waits for the round trip of 40 ms, twenty
    /// leave from 40 to 60 ms, and from 80 ms on the window of forty fills the line. The fifteenth
    /// segment has left at 45 ms and arrives 20 ms later, the fortieth leaves at 90 ms.
    #[test]
    fn windows_double_until_the_line_is_full() {
        is(goodput(&[LINE], Some(5.0 * 1_460.0), 10.0), 5.0 * 1_460.0, 0.025);
        is(goodput(&[LINE], Some(15.0 * 1_460.0), 10.0), 15.0 * 1_460.0, 0.065);
        is(goodput(&[LINE], Some(40.0 * 1_460.0), 10.0), 40.0 * 1_460.0, 0.110);
        is(goodput(&[LINE], Some(1_030.0 * 1_460.0), 10.0), 1_030.0 * 1_460.0, 1.1);
    }

    /// A second line without start-up to speak of: a round trip of 2 ms takes 2 segments, which the
    /// first window has. From 1 ms on it delivers a segment each ms, the first one 10 from 20 to
    /// 30 ms: at 30 ms there are 29 and 10.
    #[test]
    fn curves_of_unlike_paths_add_up() {
        let near = Line::new(12.0, 1.0);
        is(goodput(&[LINE, near], Some(39.0 * 1_460.0), 10.0), 39.0 * 1_460.0, 0.030);
        is(goodput(&[LINE, near], Some(19.0 * 1_460.0), 10.0), 19.0 * 1_460.0, 0.020);
    }

    /// What is not over is cut off: in 110 ms there are the 40 segments from above.
    #[test]
    fn what_has_no_end_is_measured_over_the_limit() {
        is(goodput(&[LINE], None, 0.110), 40.0 * 1_460.0, 0.110);
        is(goodput(&[LINE], Some(1e6), 0.110), 40.0 * 1_460.0, 0.110);
    }
}

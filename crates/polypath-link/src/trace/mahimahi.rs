//! Mahimahi packet-delivery traces.

use super::recording::lines::content;
use core::fmt;
use polypath_units::Bandwidth;
use std::time::Duration;

/// What one delivery opportunity can carry: one MTU of 1500 bytes.
///
/// Mahimahi counts 1504 because its packets carry the four-byte TUN header, which ours do not.
pub const OPPORTUNITY_BYTES: u64 = 1500;

/// The latest millisecond a trace may name, about 49 days.
const MAX_MILLIS: u64 = u32::MAX as u64;

/// A list of delivery opportunities: at each of these milliseconds one MTU can leave the link.
///
/// The format is that of Mahimahi (Netravali et al., USENIX ATC 2015, section 3.2): one
/// non-negative integer on each line, in ascending order, a millisecond repeated once for each
/// MTU that it carries. A repeated trace starts over at its last millisecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    millis: Vec<u32>,
}

/// A trace that cannot be used. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A line that is not an integer.
    #[error("line {line}: {given:?} is not a whole number of milliseconds from 0 to {MAX_MILLIS}")]
    NotMillis {
        /// The line.
        line: usize,
        /// What it holds, shortened.
        given: String,
    },
    /// A time that is earlier than the one before it.
    #[error("line {line}: {at} ms is earlier than {previous} ms before it; times must ascend")]
    Descending {
        /// The line.
        line: usize,
        /// Its time.
        at: u32,
        /// The time before it.
        previous: u32,
    },
    /// No delivery opportunity after time zero.
    #[error("the trace has no delivery opportunity after 0 ms; at least one is needed")]
    Empty,
}

impl Trace {
    /// A trace with an opportunity at each of `millis`.
    ///
    /// # Errors
    /// When the times descend (the line is then the position from 1) or none is after zero.
    pub fn from_millis(millis: Vec<u32>) -> Result<Self, TraceError> {
        if let Some(i) = millis.windows(2).position(|pair| pair[1] < pair[0]) {
            let (previous, at) = (millis[i], millis[i + 1]);
            return Err(TraceError::Descending { line: i + 2, at, previous });
        }
        if millis.last().is_none_or(|&last| last == 0) {
            return Err(TraceError::Empty);
        }
        Ok(Self { millis })
    }

    /// Whether a text is rather a Mahimahi trace than a table: its first line that is neither
    /// blank nor a comment has digits alone.
    pub fn looks_like(text: &str) -> bool {
        let first = content(text).next();
        first.is_some_and(|line| line.text.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Reads the Mahimahi format. Blank lines are skipped, and comments, which begin with `#` or
    /// `//`; lines end with LF, CR LF or CR.
    ///
    /// # Errors
    /// See [`TraceError`]; any text gives a trace or an error.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut millis = Vec::new();
        for line in content(text) {
            let (line, given) = (line.number, line.text.trim());
            let at = parse_millis(given).ok_or_else(|| TraceError::NotMillis {
                line,
                given: given.chars().take(40).collect(),
            })?;
            match millis.last() {
                Some(&previous) if at < previous => {
                    return Err(TraceError::Descending { line, at, previous });
                }
                _ => millis.push(at),
            }
        }
        Self::from_millis(millis)
    }

    /// How many opportunities the trace has.
    pub fn opportunities(&self) -> usize {
        self.millis.len()
    }

    /// The length of one repetition: the time of the last opportunity.
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.period_millis())
    }

    /// The mean rate over one repetition.
    pub fn mean_rate(&self) -> Bandwidth {
        let bytes = self.millis.len() as u64 * OPPORTUNITY_BYTES;
        Bandwidth::from_transfer(bytes, self.period()).unwrap_or(Bandwidth::ZERO)
    }

    pub(super) fn period_millis(&self) -> u64 {
        self.millis.last().map_or(0, |&last| u64::from(last))
    }

    /// How many opportunities lie in [0, `millis`].
    pub(crate) fn count_until(&self, millis: u64, repeat: bool) -> u64 {
        let (rounds, within) = match repeat {
            true => (millis / self.period_millis(), millis % self.period_millis()),
            false => (0, millis),
        };
        let partial = self.millis.partition_point(|&at| u64::from(at) <= within);
        rounds.saturating_mul(self.millis.len() as u64).saturating_add(partial as u64)
    }

    /// The millisecond of opportunity `index` (from 0); `None` past the end of the trace.
    pub(crate) fn millis_of(&self, index: u64, repeat: bool) -> Option<u64> {
        let len = self.millis.len() as u64;
        let (round, within) = (index / len, index % len);
        if round > 0 && !repeat {
            return None;
        }
        round
            .checked_mul(self.period_millis())?
            .checked_add(u64::from(self.millis[within as usize]))
    }
}

/// Digits only: `u32::from_str` would also take a leading plus sign.
fn parse_millis(given: &str) -> Option<u32> {
    given.bytes().all(|b| b.is_ascii_digit()).then(|| given.parse().ok()).flatten()
}

/// The Mahimahi format, which [`Trace::parse`] reads back.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.millis.iter().try_for_each(|at| writeln!(f, "{at}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let trace = Trace::parse("0\n3\n3\r\n\n 12 \n").unwrap();
        assert_eq!(trace.to_string(), "0\n3\n3\n12\n");
        assert_eq!(Trace::parse(&trace.to_string()), Ok(trace.clone()));
        assert_eq!((trace.opportunities(), trace.period()), (4, Duration::from_millis(12)));
        // 4 x 1500 B x 8 bit in 12 ms.
        assert_eq!(trace.mean_rate(), Bandwidth::from_mbit_per_sec(4.0));
    }

    #[test]
    fn a_trace_begins_with_digits_alone() {
        for trace in ["12\n13\n", "\n \n0\r\n", "1\nx\n"] {
            assert!(Trace::looks_like(trace), "{trace}");
        }
        for other in ["", "\n", "rate_mbit_s\n1\n", "1.5,Mbits/sec\n", "12,bits/sec\n", "-1\n"] {
            assert!(!Trace::looks_like(other), "{other}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        for given in ["x", "+1", "-1", "1.5", "4294967296", "1 2"] {
            let expected = TraceError::NotMillis { line: 3, given: given.to_owned() };
            assert_eq!(Trace::parse(&format!("1\n\n{given}\n9")), Err(expected));
        }
        let descending = TraceError::Descending { line: 2, at: 4, previous: 5 };
        assert_eq!(Trace::parse("5\n4\n"), Err(descending.clone()));
        assert_eq!(Trace::from_millis(vec![5, 4]), Err(descending));
        for empty in ["", "\n", "0\n0\n"] {
            assert_eq!(Trace::parse(empty), Err(TraceError::Empty));
        }
    }

    #[test]
    fn a_repeated_trace_starts_over_at_its_end() {
        let trace = Trace::from_millis(vec![0, 2, 5]).unwrap();
        let first: Vec<_> = (0..7).map(|i| trace.millis_of(i, true).unwrap()).collect();
        assert_eq!(first, [0, 2, 5, 5, 7, 10, 10]);
        for (millis, count) in [(0, 1), (1, 1), (2, 2), (4, 2), (5, 4), (7, 5), (10, 7)] {
            assert_eq!(trace.count_until(millis, true), count, "{millis} ms");
        }
        assert_eq!((trace.millis_of(2, false), trace.millis_of(3, false)), (Some(5), None));
        assert_eq!(trace.count_until(99, false), 3);
    }
}

//! Logs of `ping`: delays over time.

use super::recording::lines::lines;
use polypath_units::millis;
use std::collections::BTreeMap;
use std::time::Duration;

/// How much of a line a message shows.
const SHOWN: usize = 60;
/// The longest delay that a log may have, a day.
const MAX_MILLIS: f64 = 86_400_000.0;

/// What a run of `ping` of iputils printed: the first answer to each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PingLog {
    echoes: Vec<Echo>,
    sent: Option<u64>,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The number of the request.
    pub sequence: u64,
    /// The round-trip time.
    pub delay: Duration,
}

/// A log that cannot be used. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PingError {
    /// An answer without a number or a delay that can be read.
    #[error("line {line}: {given:?} has no icmp_seq=NUMBER and time=NUMBER ms")]
    Answer {
        /// The line.
        line: usize,
        /// What it holds, shortened.
        given: String,
    },
    /// No answer at all.
    #[error("no line tells an answer (icmp_seq=... time=... ms)")]
    Empty,
}

impl PingLog {
    /// Reads the output of `ping` of iputils, also with times before the lines (`ping -D` or
    /// `ts`). Lines that tell no answer are skipped; of several answers to a request the first
    /// counts.
    ///
    /// # Errors
    /// See [`PingError`]; any text gives a log or an error.
    pub fn parse(text: &str) -> Result<Self, PingError> {
        let (mut answers, mut sent) = (BTreeMap::new(), None);
        for line in lines(text) {
            let (number, line) = (line.number, line.text);
            if line.contains("icmp_seq=") && line.contains("time=") {
                let given = || line.chars().take(SHOWN).collect();
                let echo = answer(line);
                let echo =
                    echo.ok_or_else(|| PingError::Answer { line: number, given: given() })?;
                answers.entry(echo.sequence).or_insert(echo);
            } else if let Some((before, _)) = line.split_once(" packets transmitted") {
                sent = before.rsplit(' ').next().and_then(|count| count.parse().ok());
            }
        }
        let echoes: Vec<_> = answers.into_values().collect();
        if echoes.is_empty() { Err(PingError::Empty) } else { Ok(Self { echoes, sent }) }
    }

    /// The answers, in the order of the requests; at least one.
    pub fn echoes(&self) -> &[Echo] {
        &self.echoes
    }

    /// The delays in milliseconds, in the order of the requests.
    pub fn delays_ms(&self) -> Vec<f64> {
        self.echoes.iter().map(|echo| millis(echo.delay)).collect()
    }

    /// How many requests were sent, if the log says.
    pub fn sent(&self) -> Option<u64> {
        self.sent
    }

    /// How many requests had no answer, if the log says how many were sent.
    pub fn lost(&self) -> Option<u64> {
        self.sent.map(|sent| sent.saturating_sub(self.echoes.len() as u64))
    }
}

fn answer(line: &str) -> Option<Echo> {
    let sequence = value(line, "icmp_seq=")?.parse().ok()?;
    let (_, after) = line.split_once("time=")?;
    let mut words = after.split_ascii_whitespace();
    let millis: f64 = words.next()?.parse().ok()?;
    let valid = words.next() == Some("ms") && (0.0..=MAX_MILLIS).contains(&millis);
    valid.then(|| Echo { sequence, delay: Duration::from_secs_f64(millis / 1e3) })
}

/// The word after `key`.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_once(key)?.1.split_ascii_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
Start time: 1
[2023-05-13 10:28:58.613345] PING 192.0.2.1 (192.0.2.1) 38(66) bytes of data.
[2023-05-13 10:28:58.614002] 46 bytes from 192.0.2.1: icmp_seq=2 ttl=50 time=149 ms
46 bytes from 192.0.2.1: icmp_seq=1 ttl=50 time=48.3 ms
46 bytes from 192.0.2.1: icmp_seq=1 ttl=50 time=99 ms (DUP!)

[2023-05-13 10:29:28.463842] 5 packets transmitted, 2 received, +1 duplicates, 60% packet loss
";

    #[test]
    fn the_first_answer_to_each_request_counts() {
        let log = PingLog::parse(LOG).unwrap();
        let told: Vec<_> = log.echoes().iter().map(|e| (e.sequence, e.delay.as_micros())).collect();
        assert_eq!(told, [(1, 48_300), (2, 149_000)]);
        assert_eq!(log.delays_ms(), [48.3, 149.0]);
        assert_eq!((log.sent(), log.lost()), (Some(5), Some(3)));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert_eq!(PingLog::parse("hello\n"), Err(PingError::Empty));
        for time in ["-1 ms", "x ms", "NaN ms", "1", "1 s", "86400001 ms"] {
            let line = format!("icmp_seq=1 time={time}");
            let error = PingError::Answer { line: 2, given: line.clone() };
            assert_eq!(PingLog::parse(&format!("\n{line}")), Err(error));
        }
        assert!(PingLog::parse("icmp_seq=-1 time=1 ms").is_err());
        let log = PingLog::parse("icmp_seq=1 time=1 ms").unwrap();
        assert_eq!((log.sent(), log.lost()), (None, None));
    }
}

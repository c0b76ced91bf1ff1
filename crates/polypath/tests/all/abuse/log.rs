//! What hub and edge have logged: how much, of which kinds, and nothing that should not be there.

use std::collections::BTreeMap;

use serde_json::Value;

/// The length of the date and the time up to the minute, as in `2025-01-31T12:59`.
const MINUTE: usize = 16;

/// The lines of all processes that were the hub, or the edge.
#[derive(Debug, Default)]
pub(super) struct Log {
    kinds: BTreeMap<String, u64>,
    minutes: BTreeMap<String, u64>,
    /// Panics and other lines that are no objects, and errors: what abuse brings about is a warning
    /// at most.
    unexpected: Vec<String>,
}

impl Log {
    /// Adds what a process has logged with `--log json`.
    pub(super) fn add(&mut self, text: &str) {
        for line in text.lines() {
            // A panic is no object.
            let Ok(Value::Object(object)) = serde_json::from_str(line) else {
                self.unexpected.push(line.to_owned());
                continue;
            };
            let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
            let (level, message) = (text("level"), text("message"));
            if level == "ERROR" {
                self.unexpected.push(line.to_owned());
            }
            *self.kinds.entry(format!("{level} {}", without_numbers(message))).or_default() += 1;
            let minute = text("timestamp").get(..MINUTE).unwrap_or_default().to_owned();
            *self.minutes.entry(minute).or_default() += 1;
        }
    }

    /// The most lines of a minute.
    pub(super) fn most_in_a_minute(&self) -> u64 {
        self.minutes.values().copied().max().unwrap_or_default()
    }

    pub(super) fn unexpected(&self) -> &[String] {
        &self.unexpected
    }

    /// The number of lines of each kind, the most frequent first.
    pub(super) fn kinds(&self) -> Vec<(u64, &str)> {
        let mut kinds: Vec<_> = self.kinds.iter().map(|(kind, &n)| (n, kind.as_str())).collect();
        kinds.sort_unstable_by(|a, b| b.cmp(a));
        kinds
    }

    pub(super) fn lines(&self) -> u64 {
        self.minutes.values().sum()
    }
}

/// Texts that differ in numbers alone are of one kind.
pub(super) fn without_numbers(text: &str) -> String {
    let mut kind = String::new();
    for character in text.chars() {
        match character {
            digit if digit.is_ascii_digit() => {
                if !kind.ends_with('#') {
                    kind.push('#');
                }
            }
            other => kind.push(other),
        }
    }
    kind
}

#[test]
fn panics_and_errors_are_unexpected_and_minutes_are_counted() {
    let mut log = Log::default();
    let line = |time: &str, level: &str, message: &str| {
        format!(r#"{{"timestamp":"2025-01-31T{time}Z","level":"{level}","message":"{message}"}}"#)
    };
    let lines = [
        line("12:59:01", "INFO", "joined 7"),
        line("12:59:59", "INFO", "joined 12"),
        line("13:00:00", "WARN", "lost"),
        line("13:00:01", "ERROR", "refused"),
        "thread 'main' panicked at src/main.rs:1:1:".to_owned(),
    ];
    log.add(&lines.join("\n"));
    assert_eq!(log.unexpected(), &lines[3..]);
    assert_eq!((log.lines(), log.most_in_a_minute()), (4, 2));
    assert_eq!(log.kinds()[0], (2, "INFO joined #"));
}

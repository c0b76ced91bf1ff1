//! Text that is no trace, and what would be right.

use super::lines::lines;

/// Text of another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is {what}; {instead}")]
pub struct ForeignError {
    what: &'static str,
    instead: &'static str,
}

/// How a line begins, what has such a line, and what would be right.
const FOREIGN: [(&str, &str, &str); 8] = [
    ("<", "a web page or XML", "download the file itself, on GitHub with \"Raw\""),
    ("{", "JSON", "write its times and rates as CSV"),
    ("[{", "JSON", "write its times and rates as CSV"),
    ("[[", "JSON", "write its times and rates as CSV"),
    ("[ ID]", "what iperf prints", IPERF),
    ("Connecting to host", "what iperf prints", IPERF),
    ("Client connecting to", "what iperf prints", IPERF),
    ("Server listening on", "what iperf prints", IPERF),
];
const IPERF: &str =
    "write the end of each interval and its rate as two columns, time_s,rate_mbit_s";
/// So many lines are looked at.
const HEAD: usize = 10;

/// Refuses text of another kind.
pub(super) fn refuse(text: &str) -> Result<(), ForeignError> {
    let row = lines(text).take(HEAD).find_map(|line| {
        let begins = |(start, ..): &&(&str, _, _)| line.text.starts_with(start);
        FOREIGN.iter().find(begins)
    });
    row.map_or(Ok(()), |&(_, what, instead)| Err(ForeignError { what, instead }))
}

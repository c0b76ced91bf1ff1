//! Standard output.

use core::fmt::Write as _;
use std::io::{self, ErrorKind, Write};

/// Writes `text` to standard output. A reader that has seen enough, such as `head`, is no error.
///
/// # Errors
/// When standard output cannot be written for any other reason, for example a full disk.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes `text` to standard error, for whoever watches: with it closed there is nobody to tell.
pub fn tell(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Rows in columns as wide as their widest cell: the first `left` ones stand left, the others
/// right.
pub fn columns<const N: usize>(rows: &[[String; N]], left: usize) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..N).filter_map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if index > 0 { "  " } else { "" };
            // Writing to a `String` cannot fail.
            let _ = match index < left {
                true => write!(line, "{gap}{cell:width$}"),
                false => write!(line, "{gap}{cell:>width$}"),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

//! Standard output.

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

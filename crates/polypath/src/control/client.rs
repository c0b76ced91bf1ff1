//! Asking a running hub or edge.

use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};

use super::Status;

/// A node that lives answers at once; one that was stopped by a signal does not answer at all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What the node behind the control socket `path` says of itself.
///
/// # Errors
/// When no node is there, or it does not answer.
pub fn ask(path: &Path) -> anyhow::Result<Status> {
    let shown = path.display();
    let stream = match UnixStream::connect(path) {
        Ok(stream) => stream,
        Err(error) if nobody_there(&error) => bail!(
            "no hub or edge is running at the control socket {shown}; allowed: the socket that one was started with as --control"
        ),
        Err(error) => return Err(error).with_context(|| format!("cannot ask {shown}")),
    };
    let answer = read(stream).with_context(|| format!("no answer from {shown}"))?;
    serde_json::from_str(&answer)
        .with_context(|| format!("the answer from {shown} is not a status"))
}

fn nobody_there(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

fn read(mut stream: UnixStream) -> io::Result<String> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

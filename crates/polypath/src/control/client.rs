//! Asking a running hub or edge.

use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};

use super::Status;
use super::place::{Place, all_places};

/// A node that lives answers at once; one that was stopped by a signal does not answer at all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What the node behind the control socket `path` says of itself; without a path, the first that
/// answers in the places where nodes make their sockets by default.
///
/// # Errors
/// When no node is there, or it does not answer.
pub fn ask(path: Option<&Path>) -> anyhow::Result<Status> {
    match path {
        Some(path) => ask_at(path),
        None => ask_in(&all_places()),
    }
}

fn ask_at(path: &Path) -> anyhow::Result<Status> {
    let shown = path.display();
    match UnixStream::connect(path) {
        Ok(stream) => read(stream, path),
        Err(error) if nobody_there(&error) => bail!(
            "no hub or edge is running at the control socket {shown}; allowed: the socket that one was started with as --control"
        ),
        Err(error) => Err(error).with_context(|| format!("cannot ask {shown}")),
    }
}

fn ask_in(places: &[Place]) -> anyhow::Result<Status> {
    let mut looked = Vec::new();
    for place in places {
        let socket = place.socket();
        match place.check().and_then(|()| UnixStream::connect(&socket)) {
            Ok(stream) => return read(stream, &socket),
            Err(error) => looked.push(format!("\n  {}: {error}", socket.display())),
        }
    }
    bail!(
        "no hub or edge was found; allowed: --control SOCKET with the socket that its log names at \
         the start; looked at{}",
        looked.concat()
    );
}

fn nobody_there(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

fn read(mut stream: UnixStream, path: &Path) -> anyhow::Result<Status> {
    let shown = path.display();
    let mut answer = String::new();
    stream
        .set_read_timeout(Some(TIMEOUT))
        .and_then(|()| stream.read_to_string(&mut answer))
        .with_context(|| format!("no answer from {shown}"))?;
    serde_json::from_str(&answer)
        .with_context(|| format!("the answer from {shown} is not a status"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixListener;

    const STATUS: &str = r#"{"role":"hub","version":"0","uptime_s":1.0,"bonds":[]}"#;

    #[test]
    fn the_first_that_answers_is_taken_and_otherwise_every_place_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let places = ["a", "b", "c"].map(|name| Place::ours(folder.path().join(name)));
        for place in &places {
            place.prepare().unwrap();
        }
        // One that was killed, none, and one that lives.
        drop(UnixListener::bind(places[0].socket()).unwrap());
        let message = ask_in(&places).unwrap_err().to_string();
        for place in &places {
            assert!(message.contains(place.socket().to_str().unwrap()), "{message}");
        }
        assert!(message.contains("allowed: --control SOCKET"), "{message}");

        let lives = UnixListener::bind(places[2].socket()).unwrap();
        let status = std::thread::scope(|scope| {
            scope.spawn(|| lives.accept().unwrap().0.write_all(STATUS.as_bytes()).unwrap());
            ask_in(&places).unwrap()
        });
        assert_eq!(status.version, "0");
    }
}

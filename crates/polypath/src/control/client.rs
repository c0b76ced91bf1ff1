//! Asking a running hub or edge.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use polypath_net::conversations::Conversations;
use serde::Deserialize;

use super::place::{Place, all_places};
use super::request::Request;
use super::{Refusal, Status};

/// A node that lives answers at once; one that was stopped by a signal does not answer at all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What the node behind the control socket `path` says of itself; without a path, the first that
/// answers in the places where nodes make their sockets by default.
///
/// # Errors
/// When no node is there, or it does not answer.
pub fn ask(path: Option<&Path>) -> anyhow::Result<Status> {
    let (answer, shown) = connect(path)?.ask("")?;
    serde_json::from_str(&answer)
        .with_context(|| format!("the answer from {shown} is not a status"))
}

/// Which conversations it carries: so many at most, those of most bytes, and with `rule` of that
/// rule alone.
///
/// # Errors
/// When no node is there, or it does not answer, or it refuses to.
pub fn ask_conversations(
    path: Option<&Path>,
    most: u16,
    rule: Option<&str>,
) -> anyhow::Result<Conversations> {
    let request = Request::Conversations { most, rule: rule.map(str::to_owned) };
    let line = format!("{}\n", serde_json::to_string(&request)?);
    let (answer, shown) = connect(path)?.ask(&line)?;
    let answer: Answer = serde_json::from_str(&answer)
        .with_context(|| format!("the answer from {shown} tells no conversations"))?;
    match answer {
        Answer::Conversations(told) => Ok(told),
        Answer::Refusal(refusal) => Err(refusal.into()),
        Answer::Status(status) => bail!(
            "{shown} is of polypath {}, which does not tell conversations; allowed: the version of \
             this program",
            status.version
        ),
    }
}

/// What may come where conversations are asked for. A node that knows of no requests answers with
/// its status.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Conversations(Conversations),
    Refusal(Refusal),
    Status(Box<Status>),
}

/// A control socket that somebody listens at.
struct Connected {
    stream: UnixStream,
    path: PathBuf,
}

fn connect(path: Option<&Path>) -> anyhow::Result<Connected> {
    match path {
        Some(path) => connect_to(path),
        None => connect_in(&all_places()),
    }
}

fn connect_to(path: &Path) -> anyhow::Result<Connected> {
    let shown = path.display();
    match UnixStream::connect(path) {
        Ok(stream) => Ok(Connected { stream, path: path.to_owned() }),
        Err(error) if nobody_there(&error) => bail!(
            "no hub or edge is running at the control socket {shown}; allowed: the socket that one was started with as --control"
        ),
        Err(error) => Err(error).with_context(|| format!("cannot ask {shown}")),
    }
}

fn connect_in(places: &[Place]) -> anyhow::Result<Connected> {
    let mut looked = Vec::new();
    for place in places {
        let socket = place.socket();
        match place.check().and_then(|()| UnixStream::connect(&socket)) {
            Ok(stream) => return Ok(Connected { stream, path: socket }),
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

impl Connected {
    /// Says what is asked for, and waits for the answer. Returns it and whose it is.
    fn ask(mut self, request: &str) -> anyhow::Result<(String, String)> {
        let shown = self.path.display().to_string();
        // A node that knows of no requests may have answered and closed already.
        let _ = self.stream.write_all(request.as_bytes());
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let read = self
            .stream
            .set_read_timeout(Some(TIMEOUT))
            .and_then(|()| self.stream.read_to_end(&mut answer));
        match read {
            // It closes before it has read the request.
            Err(error) if error.kind() == ErrorKind::ConnectionReset && !answer.is_empty() => {}
            read => drop(read.with_context(|| format!("no answer from {shown}"))?),
        }
        let answer = String::from_utf8(answer);
        Ok((answer.with_context(|| format!("the answer from {shown} is no text"))?, shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let message = connect_in(&places).err().unwrap().to_string();
        for place in &places {
            assert!(message.contains(place.socket().to_str().unwrap()), "{message}");
        }
        assert!(message.contains("allowed: --control SOCKET"), "{message}");

        let lives = UnixListener::bind(places[2].socket()).unwrap();
        let (answer, _) = std::thread::scope(|scope| {
            scope.spawn(|| lives.accept().unwrap().0.write_all(STATUS.as_bytes()).unwrap());
            connect_in(&places).unwrap().ask("").unwrap()
        });
        assert_eq!(answer, STATUS);
    }

    /// Which reads nothing, and closes the socket with the request in it.
    #[test]
    fn a_node_of_before_there_were_requests_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        let old = UnixListener::bind(&path).unwrap();
        let answer = |ask: &dyn Fn() -> String| {
            std::thread::scope(|scope| {
                scope.spawn(|| old.accept().unwrap().0.write_all(STATUS.as_bytes()).unwrap());
                ask()
            })
        };
        let version = answer(&|| ask(Some(&path)).unwrap().version);
        assert_eq!(version, "0");
        let error = answer(&|| ask_conversations(Some(&path), 1, None).unwrap_err().to_string());
        assert!(error.contains("is of polypath 0, which does not tell conversations"), "{error}");
    }
}

//! Answering at the control socket.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use polypath_net::accept;
use polypath_net::conversations::{Conversations, Wanted};
use serde::Serialize;
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::io::AsyncWriteExt;
use tokio::net::{UnixListener, UnixStream};

use super::place::{Place, places};
use super::request::{Request, wanted};
use super::{Refusal, Status};

/// Clients that wait to be answered.
const BACKLOG: i32 = 16;
/// Time for a client to read its answer.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// Why a control socket could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Another node answers there.
    #[error(
        "another hub or edge answers at the control socket {}; allowed: --control SOCKET",
        .0.display()
    )]
    InUse(PathBuf),
    /// Something else than a socket is there; it is not removed.
    #[error("{} is not a socket and is not replaced; allowed: --control SOCKET", .0.display())]
    NotASocket(PathBuf),
    /// The operating system refuses.
    #[error("cannot make the control socket {}: {error}; allowed: --control SOCKET", path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// None of the default places will do.
    #[error("no place for the control socket: {0}")]
    NoPlace(String),
}

/// A control socket that listens; its file is removed when dropped.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// Listens at `path`, or without one in the first default place that will do, and logs where.
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When `path`, or every default place, will not do.
    pub fn open(path: Option<&Path>) -> Result<Self, ControlError> {
        let control = match path {
            Some(path) => Self::bind(path)?,
            None => Self::bind_in(&places())?,
        };
        tracing::info!(path = %control.path.display(), "control socket");
        Ok(control)
    }

    fn bind_in(places: &[Place]) -> Result<Self, ControlError> {
        let mut failed = Vec::new();
        for place in places {
            let path = place.socket();
            let io = |error| ControlError::Io { path: path.clone(), error };
            match place.prepare().map_err(io).and_then(|()| Self::bind(&path)) {
                Ok(control) => {
                    control.warn_of_another(&failed);
                    return Ok(control);
                }
                Err(error) => failed.push(error),
            }
        }
        let failed: Vec<_> = failed.iter().map(ToString::to_string).collect();
        Err(ControlError::NoPlace(failed.join("; ")))
    }

    /// Who asks without --control finds the node in the place before this one.
    fn warn_of_another(&self, failed: &[ControlError]) {
        if let Some(ControlError::InUse(other)) =
            failed.iter().find(|error| matches!(error, ControlError::InUse(_)))
        {
            let (other, path) = (other.display(), self.path.display());
            tracing::warn!("another hub or edge answers at {other}; this one: --control {path}");
        }
    }

    /// Listens at `path`. The file of a node that is gone is replaced, one of a node that lives is
    /// not. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// See [`ControlError`].
    pub fn bind(path: &Path) -> Result<Self, ControlError> {
        let io = |error| ControlError::Io { path: path.to_owned(), error };
        remove_stale(path)?;
        make_directory(path).map_err(io)?;
        let listener = listen(path).map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => ControlError::InUse(path.to_owned()),
            _ => io(error),
        })?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Answers every client with what `status` says then, or `conversations`, whatever it asks for.
    /// Runs until dropped.
    ///
    /// # Errors
    /// See [`accept`].
    pub async fn serve(
        self,
        status: impl Fn() -> Status,
        conversations: impl AsyncFn(&Wanted) -> Result<Conversations, Refusal>,
    ) -> io::Result<()> {
        loop {
            let (mut client, _) =
                accept("the control socket", |cx| self.listener.poll_accept(cx)).await?;
            // One at a time: an answer is made in no time, and a client that does not read holds
            // up only those who ask too.
            match Request::read(&mut client).await {
                Ok(Request::Status {}) => answer(client, &status()).await,
                Ok(Request::Conversations { most, rule }) => {
                    let told = match wanted(most, rule) {
                        Ok(wanted) => conversations(&wanted).await,
                        Err(refusal) => Err(refusal),
                    };
                    match told {
                        Ok(told) => answer(client, &told).await,
                        Err(refusal) => answer(client, &refusal).await,
                    }
                }
                Err(refusal) => answer(client, &refusal).await,
            }
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "control socket not removed");
        }
    }
}

async fn answer(mut client: UnixStream, said: &impl Serialize) {
    let written = async {
        let mut text = serde_json::to_vec(said)?;
        text.push(b'\n');
        client.write_all(&text).await?;
        client.shutdown().await
    };
    match tokio::time::timeout(ANSWER_TIME, written).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a client of the control socket left"),
        Err(_) => tracing::debug!("a client of the control socket does not read"),
    }
}

fn remove_stale(path: &Path) -> Result<(), ControlError> {
    let io = |error| ControlError::Io { path: path.to_owned(), error };
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(error)),
    };
    if !kind.is_socket() {
        return Err(ControlError::NotASocket(path.to_owned()));
    }
    match StdUnixStream::connect(path) {
        Ok(_) => Err(ControlError::InUse(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(io)
        }
        Err(error) => Err(io(error)),
    }
}

fn make_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or(Ok(()), |parent| DirBuilder::new().recursive(true).mode(0o700).create(parent))
}

/// Nobody can connect before the socket listens, and then its mode is set.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    UnixListener::from_std(std::os::unix::net::UnixListener::from(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_default_place_that_will_not_do_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| Place::ours(folder.path().join(name));
        fs::write(folder.path().join("file"), "").unwrap();
        let bad = [place("missing/polypath"), place("file")];
        let places = [bad.as_slice(), &[place("a"), place("b")]].concat();
        let first = ControlSocket::bind_in(&places).unwrap();
        assert_eq!(first.path, place("a").socket());
        let second = ControlSocket::bind_in(&places).unwrap();
        assert_eq!(second.path, place("b").socket(), "another node has the first");

        let error = ControlSocket::bind_in(&bad).unwrap_err().to_string();
        for place in &bad {
            assert!(error.contains(place.socket().to_str().unwrap()), "{error}");
        }
        assert!(error.contains("allowed: --control SOCKET"), "{error}");
    }

    #[tokio::test]
    async fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/control.sock");
        let first = ControlSocket::bind(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(matches!(ControlSocket::bind(&path), Err(ControlError::InUse(_))));
        assert!(path.exists(), "the live socket was left alone");
        drop(first);
        assert!(!path.exists());

        // What a process that was killed leaves behind.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(ControlSocket::bind(&path).unwrap());

        fs::write(&path, "precious").unwrap();
        assert!(matches!(ControlSocket::bind(&path), Err(ControlError::NotASocket(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }
}

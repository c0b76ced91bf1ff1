//! One gateway for each network namespace.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use rustix::net::sockopt::socket_peercred;

use super::HostError;

/// Names of this kind (unix(7), abstract) are those of a network namespace, and go with the process
/// that has them, however it ends.
const NAME: &str = "polypath-gateway";

/// The right to be the gateway of this network namespace.
#[derive(Debug)]
pub(super) struct Lock(
    #[expect(dead_code, reason = "what counts is that it is open")] UnixListener,
);

impl Lock {
    pub(super) fn take() -> Result<Self, HostError> {
        let name = SocketAddr::from_abstract_name(NAME).map_err(HostError::Claim)?;
        match UnixListener::bind_addr(&name) {
            Ok(listener) => Ok(Self(listener)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                Err(HostError::Occupied { process: holder(&name) })
            }
            Err(error) => Err(HostError::Claim(error)),
        }
    }
}

/// The process that listens there.
fn holder(name: &SocketAddr) -> Option<u32> {
    let connection = UnixStream::connect_addr(name).ok()?;
    let credentials = socket_peercred(&connection).ok()?;
    u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()
}

//! What a hub or edge tells the service manager that started it, as `sd_notify(3)` says.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use polypath_net::driver::Driver;

/// The service manager; nobody, where none asks to be told.
#[derive(Debug, Default)]
pub(crate) struct ServiceManager {
    socket: Option<UnixDatagram>,
    /// The time after which it takes the process for dead.
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// The one of the environment. One that cannot be reached is logged: it will say itself that it
    /// has heard nothing.
    pub(crate) fn of_environment() -> Self {
        Self::of(|name| env::var_os(name)).unwrap_or_else(|error| {
            tracing::warn!(%error, "the service manager of NOTIFY_SOCKET cannot be told anything");
            Self::default()
        })
    }

    fn of(variable: impl Fn(&str) -> Option<OsString>) -> io::Result<Self> {
        let Some(address) = variable("NOTIFY_SOCKET") else { return Ok(Self::default()) };
        let socket = UnixDatagram::unbound()?;
        socket.connect_addr(&socket_address(&address)?)?;
        // A manager that does not read holds up nobody.
        socket.set_nonblocking(true)?;
        Ok(Self { socket: Some(socket), watchdog: watchdog(variable) })
    }

    /// It serves.
    pub(crate) fn ready(&self) {
        self.tell("READY=1");
    }

    /// It has begun to end.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    /// Says twice in the time of the watchdog that the process lives, as long as the lock of the
    /// node is free and tasks are run. Runs until dropped.
    pub(crate) async fn watch(&self, driver: Driver) {
        let Some(limit) = self.watchdog else { return std::future::pending().await };
        let mut ticks = tokio::time::interval(limit / 2);
        loop {
            ticks.tick().await;
            drop(driver.bonds());
            self.tell("WATCHDOG=1");
        }
    }

    fn tell(&self, state: &str) {
        let Some(socket) = &self.socket else { return };
        if let Err(error) = socket.send(state.as_bytes()) {
            tracing::warn!(%error, state, "the service manager was not told");
        }
    }
}

/// A path, or after `@` the name of an abstract socket.
fn socket_address(text: &OsStr) -> io::Result<SocketAddr> {
    match text.as_bytes() {
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => {
            <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name)
        }
        [b'/', ..] => SocketAddr::from_pathname(text),
        _ => {
            let allowed =
                format!("{text:?} is no socket; allowed: an absolute path, or @ and a name");
            Err(io::Error::new(io::ErrorKind::InvalidInput, allowed))
        }
    }
}

/// The time of the watchdog, if it is for this process.
fn watchdog(variable: impl Fn(&str) -> Option<OsString>) -> Option<Duration> {
    let number = |name: &str| variable(name)?.to_str()?.parse::<u64>().ok();
    let is_ours = variable("WATCHDOG_PID").is_none()
        || number("WATCHDOG_PID") == Some(u64::from(std::process::id()));
    // Its half is the period of a timer, which cannot be nothing.
    number("WATCHDOG_USEC").filter(|&time| is_ours && time > 1).map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> io::Result<ServiceManager> {
        ServiceManager::of(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    fn next(manager: &UnixDatagram) -> String {
        let mut bytes = [0; 64];
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    #[test]
    fn nobody_is_told_where_nobody_asks() {
        let nobody = of(&[("WATCHDOG_USEC", "1000000")]).unwrap();
        assert!(nobody.socket.is_none() && nobody.watchdog.is_none());
        nobody.ready();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sockets_have_a_path_or_an_abstract_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("polypath-{}", std::process::id());
        let abstract_name =
            <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(&name).unwrap();
        for (manager, address) in [
            (UnixDatagram::bind(&path).unwrap(), path.to_str().unwrap().to_owned()),
            (UnixDatagram::bind_addr(&abstract_name).unwrap(), format!("@{name}")),
        ] {
            let service = of(&[("NOTIFY_SOCKET", &address)]).unwrap();
            service.ready();
            service.stopping();
            assert_eq!([next(&manager), next(&manager)], ["READY=1", "STOPPING=1"]);
        }
    }

    #[test]
    fn a_socket_that_cannot_be_is_an_error() {
        for wrong in ["", "notify", "/no/such/socket"] {
            assert!(of(&[("NOTIFY_SOCKET", wrong)]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_watchdog_of_another_process_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let _manager = UnixDatagram::bind(&path).unwrap();
        let own = std::process::id().to_string();
        for (time, process, expected) in [
            ("30000000", own.as_str(), Some(Duration::from_secs(30))),
            ("30000000", "1", None),
            ("30000000", "x", None),
            ("0", &own, None),
            ("soon", &own, None),
        ] {
            let socket = ("NOTIFY_SOCKET", path.to_str().unwrap());
            let variables = [socket, ("WATCHDOG_USEC", time), ("WATCHDOG_PID", process)];
            assert_eq!(of(&variables).unwrap().watchdog, expected, "{time} {process}");
        }
    }
}

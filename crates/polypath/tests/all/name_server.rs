//! A name server that never answers, and commands that have no other.

use std::net::UdpSocket;
use std::process::Command;

use crate::process::Process;
use crate::world::World;

/// Of the tests' own: those that run at the same time have different ones.
pub(crate) const ADDRESSES: [&str; 3] = ["127.77.0.53", "127.77.0.54", "127.77.0.55"];

/// The file of settings by which the name server at this address is the only one; it is given up
/// after 20 s.
pub(crate) fn settings(world: &World, address: &str) -> String {
    let settings = format!("nameserver {address}\noptions timeout:10 attempts:2\n");
    world.file("resolv.conf", settings.as_bytes())
}

/// What starts a command in a mount namespace of its own, where the only name server is the one of
/// the file.
pub(crate) fn runner(file: &str) -> [&str; 6] {
    let script = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"";
    ["unshare", "--mount", "sh", "-c", script, file]
}

/// A command that knows no other name server.
pub(crate) fn with_name_server(file: &str, args: &[&str]) -> Process {
    let [unshare, arguments @ ..] = runner(file);
    let mut command = Command::new(unshare);
    command.args(arguments).arg(crate::program()).args(args).env_remove("RUST_LOG");
    Process::spawn(command)
}

/// A name server that does not answer, for a test, unless none can be had here: that is told then.
#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
pub(crate) fn silent_server(test: &str, address: &str) -> Option<UdpSocket> {
    let unshared = Command::new("unshare").args(["--mount", "true"]).status();
    let socket = UdpSocket::bind((address, 53));
    match (unshared, socket) {
        (Ok(unshared), Ok(socket)) if unshared.success() => Some(socket),
        _ => {
            println!("skipped: {test}: no permission to unshare, or for port 53");
            None
        }
    }
}

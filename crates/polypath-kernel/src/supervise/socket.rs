//! Sockets of Multipath TCP in place of those of TCP.

use super::seccomp::Call;
use nix::unistd::{Uid, setfsuid};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with, sockopt};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::fs::MetadataExt;

/// Makes them, in its thread.
#[derive(Debug)]
pub(super) struct Maker {
    control: String,
    /// The inode number of the network namespace that the thread is in.
    name_space: u64,
    has_failed: bool,
}

impl Maker {
    /// With this congestion control, of which a socket is tried.
    pub(super) fn new(control: &str) -> io::Result<Self> {
        let name_space = fs::metadata("/proc/thread-self/ns/net")?.st_ino();
        let maker = Self { control: control.to_owned(), name_space, has_failed: false };
        maker.socket(AddressFamily::INET, SocketFlags::CLOEXEC)?;
        Ok(maker)
    }

    /// What a call is to return.
    pub(super) fn make(&mut self, call: &Call) -> io::Result<OwnedFd> {
        let family = match call.family {
            libc::AF_INET => AddressFamily::INET,
            _ => AddressFamily::INET6,
        };
        let mut flags = SocketFlags::CLOEXEC;
        flags.set(SocketFlags::NONBLOCK, call.is_nonblocking);
        self.follow(call.thread)?;
        let user = user(call.thread)?;
        // Whose the socket is, is who this thread is while it makes it.
        let own = setfsuid(user);
        let made = self.socket(family, flags);
        setfsuid(own);
        made
    }

    /// Whether no call has failed before.
    pub(super) const fn is_first_failure(&mut self) -> bool {
        !core::mem::replace(&mut self.has_failed, true)
    }

    /// Moves this thread into the network namespace of another.
    fn follow(&mut self, thread: u32) -> io::Result<()> {
        let file = format!("/proc/{thread}/ns/net");
        let wanted = fs::metadata(&file)?.st_ino();
        if wanted == self.name_space {
            return Ok(());
        }
        let name_space = File::open(&file)?;
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(name_space.as_fd(), network)?;
        self.name_space = name_space.metadata()?.st_ino();
        Ok(())
    }

    fn socket(&self, family: AddressFamily, flags: SocketFlags) -> io::Result<OwnedFd> {
        let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::MPTCP))?;
        sockopt::set_tcp_congestion(&socket, &self.control)?;
        Ok(socket)
    }
}

/// As whom a thread acts on files and sockets: the last of its user ids.
fn user(thread: u32) -> io::Result<Uid> {
    let status = fs::read_to_string(format!("/proc/{thread}/status"))?;
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let id = ids.and_then(|ids| ids.split_whitespace().nth(3)?.parse().ok());
    id.map(Uid::from_raw).ok_or_else(|| ErrorKind::InvalidData.into())
}

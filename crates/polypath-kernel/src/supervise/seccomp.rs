//! The filter that holds up calls of `socket()` for TCP, and what it tells (seccomp_unotify(2)).
#![expect(
    unsafe_code,
    reason = "no safe interface of seccomp is there: each call says why it holds"
)]

use libc::{
    AF_INET, AF_INET6, BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W,
    IPPROTO_MPTCP, IPPROTO_TCP, O_CLOEXEC, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, seccomp_data,
    seccomp_notif, seccomp_notif_addfd, seccomp_notif_resp, sock_filter, sock_fprog,
};
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// `AUDIT_ARCH_*` of this program: system calls of other architectures (32 bits) have other
/// numbers.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: u32 = 0xc000_00f3;

/// The bits of the second argument that say the type.
const TYPE: u32 = 0xf;

/// A call that is held up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    id: u64,
    /// Of the thread that makes it.
    pub(super) thread: u32,
    pub(super) family: i32,
    pub(super) is_nonblocking: bool,
    closes_on_exec: bool,
}

/// What is told of the calls of processes that have the filter.
#[derive(Debug)]
pub(super) struct Listener {
    notifications: OwnedFd,
}

impl Listener {
    /// Gives this thread the filter, and so all processes that it starts.
    pub(super) fn install() -> io::Result<Self> {
        let mut filter = filter();
        let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        let flags =
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        let operation = libc::SECCOMP_SET_MODE_FILTER;
        // SAFETY: the kernel reads the program during the call, and the filter outlives that.
        let made =
            unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program) };
        let made = i32::try_from(made).map_err(io::Error::other)?;
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call has made this descriptor for its caller. It is closed on exec.
        let notifications = unsafe { OwnedFd::from_raw_fd(made) };
        Ok(Self { notifications })
    }

    /// The next call that is held up; `None` if its process has ended meanwhile.
    pub(super) fn next(&self) -> io::Result<Option<Call>> {
        // SAFETY: all of it are integers, for which 0 is a value; the kernel asks for zeros.
        let mut told: seccomp_notif = unsafe { core::mem::zeroed() };
        // SAFETY: the kernel writes a structure of this type.
        let received = unsafe { self.call(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut told) };
        match received {
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
            Ok(()) => {
                // The upper halves of arguments are not those of an int.
                let [family, kind, ..] = told.data.args.map(|argument| argument as i32);
                Ok(Some(Call {
                    id: told.id,
                    thread: told.pid,
                    family,
                    is_nonblocking: kind & SOCK_NONBLOCK != 0,
                    closes_on_exec: kind & SOCK_CLOEXEC != 0,
                }))
            }
        }
    }

    /// Lets a call return this socket.
    pub(super) fn hand_over(&self, call: &Call, socket: &OwnedFd) -> io::Result<()> {
        let mut handed = seccomp_notif_addfd {
            id: call.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: socket.as_raw_fd() as u32,
            newfd: 0,
            newfd_flags: if call.closes_on_exec { O_CLOEXEC as u32 } else { 0 },
        };
        // SAFETY: the kernel reads a structure of this type.
        match unsafe { self.call(libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut handed) } {
            Err(error) if is_gone(&error) => Ok(()),
            // Of the process, which may have too many descriptors.
            Err(error) => self.send(call, error.raw_os_error().unwrap_or(libc::EMFILE), 0),
            Ok(()) => Ok(()),
        }
    }

    /// Lets a call be made as it is.
    pub(super) fn let_pass(&self, call: &Call) -> io::Result<()> {
        self.send(call, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32)
    }

    /// Whether a call is held up still: its process has not ended.
    pub(super) fn is_waiting(&self, call: &Call) -> bool {
        let mut id = call.id;
        // SAFETY: the kernel reads a number of 64 bits.
        unsafe { self.call(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id) }.is_ok()
    }

    /// Whether no process has the filter any more.
    pub(super) fn is_abandoned(&self) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut of = [PollFd::new(&self.notifications, PollFlags::IN)];
        poll(&mut of, Some(&Timespec::default()))?;
        Ok(of[0].revents().contains(PollFlags::HUP))
    }

    fn send(&self, call: &Call, errno: i32, flags: u32) -> io::Result<()> {
        let mut answer = seccomp_notif_resp { id: call.id, val: 0, error: -errno, flags };
        // SAFETY: the kernel reads a structure of this type.
        match unsafe { self.call(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) } {
            Err(error) if is_gone(&error) => Ok(()),
            sent => sent,
        }
    }

    /// # Safety
    /// `argument` is what `request` reads and writes.
    unsafe fn call<T>(&self, request: libc::Ioctl, argument: *mut T) -> io::Result<()> {
        let descriptor = self.notifications.as_raw_fd();
        // SAFETY: the caller's.
        match unsafe { libc::ioctl(descriptor, request, argument) } {
            0.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.notifications.as_fd()
    }
}

/// The process that made the call has ended.
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOENT)
}

/// Tells of `socket(AF_INET or AF_INET6, SOCK_STREAM, PROTOCOL)` where that is 0, `IPPROTO_TCP` or
/// `IPPROTO_MPTCP`, and allows all else.
fn filter() -> Vec<sock_filter> {
    const ALLOW: u8 = 14;
    const NOTIFY: u8 = 15;
    let argument = |number: usize| offset_of!(seccomp_data, args) + 8 * number;
    // Jumps are counted from the next instruction.
    let unless = |at: u8, equals: u32| jump(equals, 0, ALLOW - at - 1);
    vec![
        load(offset_of!(seccomp_data, arch)),
        unless(1, ARCHITECTURE),
        load(offset_of!(seccomp_data, nr)),
        unless(3, libc::SYS_socket as u32),
        load(argument(0)),
        jump(AF_INET as u32, 1, 0),
        unless(6, AF_INET6 as u32),
        load(argument(1)),
        statement(BPF_ALU | BPF_AND | BPF_K, TYPE),
        unless(9, SOCK_STREAM as u32),
        load(argument(2)),
        jump(0, NOTIFY - 12, 0),
        jump(IPPROTO_TCP as u32, NOTIFY - 13, 0),
        jump(IPPROTO_MPTCP as u32, NOTIFY - 14, 0),
        statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW),
        statement(BPF_RET | BPF_K, libc::SECCOMP_RET_USER_NOTIF),
    ]
}

const fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Loads the lower half of a word.
const fn load(offset: usize) -> sock_filter {
    let lower = if cfg!(target_endian = "big") { 4 } else { 0 };
    let half = if offset < offset_of!(seccomp_data, args) { 0 } else { lower };
    statement(BPF_LD | BPF_W | BPF_ABS, (offset + half) as u32)
}

const fn jump(equals: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | BPF_JEQ | BPF_K) as u16, jt: then, jf: otherwise, k: equals }
}

//! The receive buffer of a socket, looked at while it receives.
#![expect(unsafe_code, reason = "SO_MEMINFO of sock_diag(7), which no crate in use wraps")]

use polypath_units::Timestamp;
use rustix::fd::AsRawFd;
use std::io;
use std::net::TcpStream;

/// How many numbers `SO_MEMINFO` gives (`SK_MEMINFO_VARS`).
const NUMBERS: usize = 9;

/// The window that the kernel offers for 256 bytes of a receive buffer: the payload of a full
/// segment over the memory that it takes (`tcp_measure_rcv_mss`). With timestamps and a mapping of
/// Multipath TCP that is 1,424 of 2,304 bytes.
const WINDOW_OF_256: u64 = 1_424 * 256 / 2_304;

/// The memory, in bytes, that a receive buffer takes to offer such a window.
pub(super) const fn memory_of(window: u64) -> u64 {
    (window.saturating_mul(256)).div_ceil(WINDOW_OF_256)
}

/// What a receiver holds that the application has not read, in the kernel's own account: packets
/// with their overhead, of Multipath TCP those in order and those that wait for earlier ones, of
/// all subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSample {
    /// When.
    pub at: Timestamp,
    /// The memory that is taken, in bytes (`SK_MEMINFO_RMEM_ALLOC`).
    pub taken: u64,
    /// What may be taken for now, in bytes; it grows (`SK_MEMINFO_RCVBUF`).
    pub limit: u64,
}

impl BufferSample {
    /// How much of the window is taken, in bytes: what the simulator has as the contents of a
    /// receive buffer.
    pub const fn taken_window(&self) -> u64 {
        self.taken * WINDOW_OF_256 / 256
    }

    /// Of a receiver.
    pub(super) fn look(receiver: &TcpStream, at: Timestamp) -> io::Result<Self> {
        let mut numbers = [0_u32; NUMBERS];
        let mut length = size_of_val(&numbers) as libc::socklen_t;
        let fd = receiver.as_raw_fd();
        let (value, length) = (numbers.as_mut_ptr().cast(), &raw mut length);
        // SAFETY: the value has room for `length` bytes, and the kernel writes no more.
        match unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_MEMINFO, value, length) } {
            0 => {}
            _ => return Err(io::Error::last_os_error()),
        }
        let number = |index: libc::c_int| u64::from(numbers[index as usize]);
        let [taken, limit] = [libc::SK_MEMINFO_RMEM_ALLOC, libc::SK_MEMINFO_RCVBUF].map(number);
        Ok(Self { at, taken, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// A connection within the machine. `peek` waits until something is there.
    #[test]
    fn what_is_not_read_is_taken() {
        const BYTES: usize = 10_000;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut receiver = listener.accept().unwrap().0;
        let look = |receiver: &TcpStream| BufferSample::look(receiver, Timestamp::ZERO).unwrap();
        let empty = look(&receiver);
        assert_eq!(empty.taken, 0);
        sender.write_all(&[0; BYTES]).unwrap();
        let mut bytes = [0; BYTES];
        while receiver.peek(&mut bytes).unwrap() < BYTES {}
        let full = look(&receiver);
        assert!(full.taken >= BYTES as u64 && full.taken <= full.limit, "{full:?}");
        receiver.read_exact(&mut bytes).unwrap();
        assert!(look(&receiver).taken < full.taken);
    }
}

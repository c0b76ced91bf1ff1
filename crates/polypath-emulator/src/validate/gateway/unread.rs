//! What the kernel has brought a UDP socket and found no room for.

use std::fs::read_to_string;
use std::io;

/// Of the network namespace of the calling thread.
const COUNTERS: &str = "/proc/thread-self/net/snmp";
const PROTOCOL: &str = "Udp:";
const COUNTER: &str = "RcvbufErrors";

/// Packets over IPv4 for which sockets of this namespace had no room, since it was made.
pub(super) fn receive_buffer_errors() -> io::Result<u64> {
    let missing = || io::Error::other(format!("{COUNTERS} has no {PROTOCOL} {COUNTER}"));
    find(&read_to_string(COUNTERS)?).ok_or_else(missing)
}

/// The counter in `table`, which has two lines for each protocol: of names, and of their values.
fn find(table: &str) -> Option<u64> {
    let mut lines = table.lines().filter_map(|line| line.strip_prefix(PROTOCOL));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut columns = names.split_whitespace().zip(values.split_whitespace());
    columns.find(|(name, _)| *name == COUNTER)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_stands_below_its_name() {
        let table = "Ip: Forwarding\nIp: 1\nUdp: InDatagrams NoPorts RcvbufErrors\n\
                     Udp: 25 3 17\nUdpLite: RcvbufErrors\nUdpLite: 4\n";
        assert_eq!(find(table), Some(17));
        assert_eq!(find("Udp: InDatagrams\nUdp: 25\n"), None);
    }

    #[test]
    fn the_kernel_has_it() {
        assert!(receive_buffer_errors().is_ok());
    }
}

//! An answer of inet_diag about a subflow, which the kernel sends: any bytes are an answer or an
//! error, and addresses of IPv4 that sockets of IPv6 have are told as such.
#![no_main]

use std::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use polypath_mptcp::kernel::decode_subflow;
use polypath_mptcp::state::DataState;

fuzz_target!(|input: &[u8]| {
    let _ = DataState::decode(input);
    if let Ok(Some(subflow)) = decode_subflow(input) {
        let again = decode_subflow(input).ok().flatten();
        assert_eq!(again, Some(subflow));
        for end in [subflow.ends.local, subflow.ends.remote] {
            let mapped = matches!(end.ip(), IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some());
            assert!(!mapped, "{end}");
        }
    }
});

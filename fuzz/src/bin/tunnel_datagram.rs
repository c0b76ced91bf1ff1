//! A datagram of a UDP association. The payload is the rest of the datagram, and what was decoded
//! encodes to bytes that decode to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_net::tunnel::{MAX_DATAGRAM_HEADER, decode_datagram, encode_datagram};

fuzz_target!(|datagram: &[u8]| {
    if let Ok((target, payload)) = decode_datagram(datagram) {
        assert!(datagram.ends_with(payload));
        assert!(datagram.len() - payload.len() <= MAX_DATAGRAM_HEADER);
        let again = encode_datagram(&target, payload);
        assert_eq!(decode_datagram(&again), Ok((target, payload)));
    }
});

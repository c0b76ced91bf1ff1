//! The first bytes of a tunnel stream in both directions. The first byte of the input chooses the
//! message (even: request, odd: status). What was decoded encodes to bytes that decode to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_fuzz::whole_message;
use polypath_net::tunnel::{MAX_REQUEST, MAX_STATUS, Progress, Request, Status};

fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((kind, bytes)) if kind % 2 == 0 => request(bytes),
        Some((_, bytes)) => status(bytes),
        None => {}
    }
});

fn request(bytes: &[u8]) {
    if let Some((value, used)) = whole_message(bytes, Request::decode) {
        assert!(used <= MAX_REQUEST);
        let again = value.encode();
        assert_eq!(Request::decode(&again), Ok(Progress::Done { value, used: again.len() }));
    }
}

fn status(bytes: &[u8]) {
    if let Some((value, used)) = whole_message(bytes, Status::decode) {
        assert!(used <= MAX_STATUS);
        let again = value.encode();
        assert_eq!(Status::decode(&again), Ok(Progress::Done { value, used: again.len() }));
    }
}

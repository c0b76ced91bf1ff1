//! The first bytes of a tunnel stream in both directions. The first byte of the input chooses the
//! message (of its remainder by 4: 0 request, 1 status, 2 lease, 3 networks). What was decoded
//! encodes to bytes that decode to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_fuzz::whole_message;
use polypath_net::tunnel::{Lease, MAX_REQUEST, MAX_STATUS, Networks, Progress, Request, Status};

fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((kind, bytes)) => match kind % 4 {
            0 => request(bytes),
            1 => status(bytes),
            2 => lease(bytes),
            _ => networks(bytes),
        },
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

fn lease(bytes: &[u8]) {
    if let Some((value, used)) = whole_message(bytes, Lease::decode) {
        assert_eq!(Lease::decode(&value.encode()), Ok(Progress::Done { value, used }));
    }
}

fn networks(bytes: &[u8]) {
    if let Some((value, used)) = whole_message(bytes, Networks::decode) {
        assert_eq!(Networks::decode(&value.encode()), Ok(Progress::Done { value, used }));
    }
}

fn status(bytes: &[u8]) {
    if let Some((value, used)) = whole_message(bytes, Status::decode) {
        assert!(used <= MAX_STATUS);
        let again = value.encode();
        assert_eq!(Status::decode(&again), Ok(Progress::Done { value, used: again.len() }));
    }
}

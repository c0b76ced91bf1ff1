//! What two ends say about connections beside the bond. The first byte of the input chooses the
//! message (of its remainder by 3: 0 offer, 1 header of a connection, 2 answer). What was decoded
//! encodes to bytes that decode to the same; what is opened is what the holder of the key has said,
//! to the last byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_fuzz::whole_message;
use polypath_net::tunnel::{
    ConnectionHeader, MptcpOffer, Progress, SessionKeys, SessionSecret, decode_answer,
    encode_answer,
};

/// The secret of the seeds.
const SECRET: SessionSecret = SessionSecret([0x5a; 32]);
/// The connection that answers are for.
const NUMBER: u64 = 258;
const TAG: usize = 32;

fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((kind, bytes)) => match kind % 3 {
            0 => offer(bytes),
            1 => header(bytes),
            _ => answer(bytes),
        },
        None => {}
    }
});

fn offer(bytes: &[u8]) {
    if let Some((value, used)) = whole_message(bytes, MptcpOffer::decode) {
        assert_eq!(value.encode(), bytes[..used]);
    }
}

fn header(bytes: &[u8]) {
    let keys = SessionKeys::new(&SECRET);
    if let Some((sealed, _)) = whole_message(bytes, ConnectionHeader::decode) {
        let session = sealed.session();
        if let Ok(header) = sealed.open(&keys) {
            assert_eq!(header.session, session);
            let again = header.encode(&keys);
            // What follows may differ: a name may come in other letters.
            assert_eq!(again[..17], bytes[..17]);
            let Ok(Progress::Done { value, .. }) = ConnectionHeader::decode(&again) else {
                panic!("what was encoded is no header")
            };
            assert_eq!(value.open(&keys), Ok(header));
        }
    }
}

fn answer(bytes: &[u8]) {
    let keys = SessionKeys::new(&SECRET);
    if let Some((sealed, used)) = whole_message(bytes, decode_answer) {
        assert!(used >= TAG);
        if let Ok(status) = sealed.open(NUMBER, &keys) {
            let again = encode_answer(&status, NUMBER, &keys);
            let Ok(Progress::Done { value, .. }) = decode_answer(&again) else {
                panic!("what was encoded is no answer")
            };
            assert_eq!(value.open(NUMBER, &keys), Ok(status));
        }
    }
}

//! The first bytes of a path in both directions. The first byte of the input chooses the message
//! (even: join, odd: reply). A message must be found as soon as it is whole and not before, and
//! must survive encoding.
#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use polypath_bond::codec::{DecodeError, Join, JoinReply};
use std::fmt::Debug;

fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((kind, bytes)) if kind % 2 == 0 => check(bytes, Join::decode, Join::encode),
        Some((_, bytes)) => check(bytes, JoinReply::decode, JoinReply::encode),
        None => {}
    }
});

type Decode<T> = fn(&mut BytesMut) -> Result<Option<T>, DecodeError>;

fn check<T: Debug + PartialEq>(bytes: &[u8], decode: Decode<T>, encode: fn(&T, &mut BytesMut)) {
    let mut buf = BytesMut::from(bytes);
    match decode(&mut buf) {
        Ok(Some(message)) => {
            let taken = bytes.len() - buf.len();
            assert_eq!(decode(&mut BytesMut::from(&bytes[..taken - 1])), Ok(None));
            let mut again = BytesMut::new();
            encode(&message, &mut again);
            assert_eq!(decode(&mut again), Ok(Some(message)));
            assert!(again.is_empty());
        }
        Ok(None) => assert_eq!(buf, bytes, "bytes taken without a message"),
        Err(_) => {}
    }
}

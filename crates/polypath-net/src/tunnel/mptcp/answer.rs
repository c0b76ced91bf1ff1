//! What the hub answers on a connection: the status of requests in the bond, and a tag.

use ring::hmac;

use super::keys::{BadTag, Sealed, SessionKeys, TAG};
use crate::tunnel::wire::{Reader, Short};
use crate::tunnel::{Progress, Status, StatusError};

/// The answer to the connection of this number as bytes.
pub fn encode_answer(status: &Status, number: u64, keys: &SessionKeys) -> Vec<u8> {
    let mut bytes = status.encode();
    let tag = hmac::sign(&keys.of_hub, &[&number.to_be_bytes()[..], &bytes].concat());
    bytes.extend(tag.as_ref());
    bytes
}

/// Decodes an answer from the front of `bytes`. Who has sent it is not known before it is opened.
///
/// # Errors
/// When they are none.
pub fn decode_answer(bytes: &[u8]) -> Result<Progress<Sealed<Status>>, StatusError> {
    let (message, used) = match Status::decode(bytes)? {
        Progress::Done { value, used } => (value, used),
        Progress::NeedMore { total } => return Ok(Progress::NeedMore { total }),
    };
    let mut reader = Reader::new(bytes);
    let read = reader.take(used).and_then(|signed| Ok((signed.to_vec(), reader.array()?)));
    match read {
        Ok((signed, tag)) => {
            Ok(Progress::Done { value: Sealed { message, signed, tag }, used: used + TAG })
        }
        Err(Short { total }) => Ok(Progress::NeedMore { total }),
    }
}

impl Sealed<Status> {
    /// The answer.
    ///
    /// # Errors
    /// When it is not that of the session's hub to the connection of this number.
    pub fn open(self, number: u64, keys: &SessionKeys) -> Result<Status, BadTag> {
        self.open_by(&keys.of_hub, &number.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::SessionSecret;
    use super::*;
    use crate::tunnel::RefusalKind;

    #[test]
    fn an_answer_is_for_one_connection_of_one_session() {
        let [keys, others] = [1, 2].map(|byte| SessionKeys::new(&SessionSecret([byte; 32])));
        let refused = Status::Refused(RefusalKind::Policy.with("no"));
        for status in [Status::Ok, refused] {
            let bytes = encode_answer(&status, 7, &keys);
            let sealed = match decode_answer(&bytes) {
                Ok(Progress::Done { value, used }) if used == bytes.len() => value,
                other => panic!("{other:?}"),
            };
            assert_eq!(sealed.clone().open(7, &keys), Ok(status));
            assert_eq!(sealed.clone().open(8, &keys), Err(BadTag));
            assert_eq!(sealed.open(7, &others), Err(BadTag));
            for cut in 0..bytes.len() {
                let Ok(Progress::NeedMore { total }) = decode_answer(&bytes[..cut]) else {
                    panic!("{cut} bytes are no answer")
                };
                assert!(cut < total && total <= bytes.len(), "{cut}: {total}");
            }
        }
    }

    /// Made with the hmac and hashlib of Python from what docs/tunnel.md says.
    #[test]
    fn bytes_of_the_specification() {
        let keys = SessionKeys::new(&SessionSecret([0x5a; 32]));
        let tag = b"\xfd\xb8\x49\xb0\x6f\x65\xb9\x8c\x15\x57\x26\xd5\x65\x9d\xc1\x39\
                    \x1d\x72\x6f\xe9\x5a\xc9\x18\x89\x83\x8b\xf6\x1e\x3d\xc4\xe1\x91";
        let bytes = [&b"\x01\0\0\0"[..], tag].concat();
        assert_eq!(encode_answer(&Status::Ok, 258, &keys), bytes);
    }

    #[test]
    fn what_the_edge_has_said_is_no_answer() {
        let keys = SessionKeys::new(&SessionSecret([1; 32]));
        let status = Status::Ok.encode();
        let tag = hmac::sign(&keys.of_edge, &[&7_u64.to_be_bytes()[..], &status].concat());
        let bytes = [&status, tag.as_ref()].concat();
        let Ok(Progress::Done { value, .. }) = decode_answer(&bytes) else { panic!("{bytes:?}") };
        assert_eq!(value.open(7, &keys), Err(BadTag));
    }
}

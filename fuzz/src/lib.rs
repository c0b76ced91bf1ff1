//! What several targets ask of a decoder.

use polypath_net::tunnel::Progress;

/// The message at the front of `bytes` and its length.
///
/// # Panics
/// When the decoder takes more than there is, asks for what it has, asks for more than the message
/// turns out to need, or finds something else in the message when nothing follows it.
pub fn whole_message<T: PartialEq + std::fmt::Debug, E>(
    bytes: &[u8],
    decode: impl Fn(&[u8]) -> Result<Progress<T>, E>,
) -> Option<(T, usize)> {
    match decode(bytes) {
        Ok(Progress::Done { value, used }) => {
            assert!(used <= bytes.len(), "{used} bytes taken of {}", bytes.len());
            for shown in 0..used {
                match decode(&bytes[..shown]) {
                    Ok(Progress::NeedMore { total }) => assert!(shown < total && total <= used),
                    Ok(Progress::Done { used, .. }) => panic!("{used} bytes would have done"),
                    Err(_) => panic!("an error after {shown} bytes of a valid message"),
                }
            }
            assert!(
                matches!(decode(&bytes[..used]), Ok(Progress::Done { value: again, .. }) if again == value)
            );
            Some((value, used))
        }
        Ok(Progress::NeedMore { total }) => {
            assert!(total > bytes.len(), "{total} bytes wanted, {} shown", bytes.len());
            None
        }
        Err(_) => None,
    }
}

//! The payload of a bond datagram. What decodes must encode to the size that was told, and decode
//! again to the same frames.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use polypath_bond::codec::{Frame, Frames};

fuzz_target!(|payload: &[u8]| {
    let mut frames = Frames::new(Bytes::copy_from_slice(payload));
    let decoded: Vec<Frame> = frames.by_ref().map_while(Result::ok).collect();
    assert!(frames.next().is_none(), "frames behind an error");

    let again: Result<Vec<_>, _> = Frames::new(encode(&decoded)).collect();
    assert_eq!(again.as_ref(), Ok(&decoded));
});

fn encode(frames: &[Frame]) -> Bytes {
    let mut buf = BytesMut::new();
    for (index, frame) in frames.iter().enumerate() {
        let (last, before) = (index + 1 == frames.len(), buf.len());
        frame.encode(&mut buf, last);
        assert_eq!(buf.len() - before, frame.encoded_size(last), "{frame:?}");
    }
    buf.freeze()
}

//! A datagram as the paths of bonds and switches see it: the routing feedback header in front of
//! it, if any. What was read encodes to the same bytes, and a switch changes the code alone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_brf::Code;
use polypath_brf::FeedbackHeader;

fuzz_target!(|input: &[u8]| {
    let mix = |sum: u16, &byte: &u8| sum.wrapping_mul(31) ^ u16::from(byte);
    let code = Code::new(input.iter().fold(0, mix));
    let mut written = input.to_vec();
    let has = FeedbackHeader::write_code(&mut written, code);
    let Some(header) = FeedbackHeader::decode(input) else {
        assert!(!has);
        assert_eq!(written, input);
        return;
    };
    assert!(has);
    let mut again = Vec::new();
    header.encode(&mut again);
    assert_eq!(again, input[..FeedbackHeader::SIZE]);
    assert_eq!(FeedbackHeader::decode(&written), Some(FeedbackHeader { code, ..header }));
    assert_eq!(written[FeedbackHeader::SIZE..], input[FeedbackHeader::SIZE..]);
});

//! An Ethernet frame that comes out of an interface, as the wire of the emulator reads and marks
//! it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_emulator::wire::frame::{Contents, ETHERNET_HEADER, mark_ce, read};

fuzz_target!(|frame: &[u8]| {
    let contents = read(frame);
    let mut marked = frame.to_vec();
    let bears_mark = mark_ce(&mut marked);
    if !bears_mark {
        assert_eq!(marked, frame);
        return;
    }
    let [before, after] = [frame, &marked[..]].map(|frame| &frame[ETHERNET_HEADER..]);
    assert_eq!(read(&marked), contents, "flow and class stay");
    if before[0] >> 4 == 4 {
        assert_eq!(after[1], before[1] | 0b11);
        assert_eq!(sum(&after[..20]), sum(&before[..20]), "the checksum is as right as before");
        assert_eq!(after[12..], before[12..]);
    } else {
        assert_eq!(after[1], before[1] | 0b11_0000);
        assert_eq!((after[0], &after[2..]), (before[0], &before[2..]));
        assert!(matches!(contents, Contents::Packet(_) | Contents::Neighbour));
    }
    let mut again = marked.clone();
    assert!(mark_ce(&mut again) && again == marked, "a mark is set once");
});

/// The sum that a checksum makes right (RFC 1071): all words in ones' complement. Both zeros are
/// one.
fn sum(header: &[u8]) -> u64 {
    let words = header.chunks_exact(2).map(|word| u64::from(word[0]) << 8 | u64::from(word[1]));
    words.sum::<u64>() % 0xffff
}

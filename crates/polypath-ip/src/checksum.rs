//! Checksums after a change.

/// Writes `new` at `at` into what a checksum covers, and mends the checksum at `checksum_at`: it is
/// as right or as wrong as before (RFC 1624, equation 3). `covered` begins at an even byte of what
/// the sum is over; what else the sum is over, such as a pseudo header, stays the same.
///
/// # Panics
/// When `new` or the checksum is not within `covered`.
pub fn replace(covered: &mut [u8], checksum_at: usize, at: usize, new: &[u8]) {
    let checksum = u16::from_be_bytes([covered[checksum_at], covered[checksum_at + 1]]);
    // Each byte is a word whose other half is zero: where words begin does not matter.
    let word =
        |index: usize, byte: u8| u64::from(byte) << if index.is_multiple_of(2) { 8 } else { 0 };
    let mut sum = u64::from(!checksum);
    for (index, &new) in (at..).zip(new) {
        let old = std::mem::replace(&mut covered[index], new);
        sum += 0xffff - word(index, old) + word(index, new);
    }
    let checksum = !folded(sum);
    covered[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// The sum of words in ones' complement: the carries are added to it.
fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::checksum::Sum16BitWords;
    use proptest::prelude::*;

    /// RFC 1624, section 4: a checksum of 0xdd2f, a word that was 0x5555 and is 0x3285. The method
    /// of RFC 1141 gets 0xffff here.
    #[test]
    fn the_example_of_rfc_1624_comes_out() {
        let mut covered = [0xdd, 0x2f, 0x55, 0x55];
        replace(&mut covered, 0, 2, &[0x32, 0x85]);
        assert_eq!(covered, [0x00, 0x00, 0x32, 0x85]);
    }

    proptest! {
        #[test]
        fn a_right_checksum_stays_right(
            mut bytes in prop::collection::vec(any::<u8>(), 12..60),
            new in prop::collection::vec(any::<u8>(), 0..8),
            at in 2_usize..52,
        ) {
            prop_assume!(at + new.len() <= bytes.len());
            bytes[..2].fill(0);
            let checksum = Sum16BitWords::new().add_slice(&bytes).ones_complement();
            bytes[..2].copy_from_slice(&checksum.to_be().to_be_bytes());
            replace(&mut bytes, 0, at, &new);
            prop_assert_eq!(&bytes[at..at + new.len()], &new);
            prop_assert_eq!(Sum16BitWords::new().add_slice(&bytes).ones_complement(), 0);
        }
    }
}

//! QUIC variable-length integers (RFC 9000 section 16), and a reader that cannot run past the end.

use super::DecodeError;
use bytes::BufMut;

/// The largest integer that a varint holds, and the highest DSN, offset, sequence number or code.
pub(crate) const MAX_VARINT: u64 = (1 << 62) - 1;

/// How many bytes the shortest form of `value` takes: 1, 2, 4 or 8.
///
/// # Panics
///
/// If `value` is above [`MAX_VARINT`].
pub(crate) const fn varint_size(value: u64) -> usize {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        0x4000_0000..=MAX_VARINT => 8,
        _ => panic!("integer above 2^62 - 1 in a bond frame"),
    }
}

/// Appends the shortest form of `value`.
pub(super) fn put_varint(buf: &mut impl BufMut, value: u64) {
    match varint_size(value) {
        1 => buf.put_u8(value as u8),
        2 => buf.put_u16(0x4000 | value as u16),
        4 => buf.put_u32(0x8000_0000 | value as u32),
        _ => buf.put_u64(0xc000_0000_0000_0000 | value),
    }
}

/// Reads fields from the front of `bytes`; every read is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes are left.
    pub(crate) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The next `len` bytes.
    pub(crate) fn bytes(
        &mut self,
        len: usize,
        field: &'static str,
    ) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(truncated(field))?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(
        &mut self,
        field: &'static str,
    ) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(truncated(field))?;
        self.rest = rest;
        Ok(*taken)
    }

    /// The next byte.
    pub(crate) fn byte(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    /// Skips the zero bytes at the front.
    pub(super) fn skip_zeros(&mut self) {
        let zeros = self.rest.iter().take_while(|&&byte| byte == 0).count();
        self.rest = &self.rest[zeros..];
    }

    /// The next varint, in any of its forms: RFC 9000 does not ask for the shortest.
    #[inline]
    pub(crate) fn varint(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        let first = *self.rest.first().ok_or(truncated(field))?;
        let value = match first >> 6 {
            0 => u64::from(self.array::<1>(field)?[0]),
            1 => u64::from(u16::from_be_bytes(self.array(field)?) & 0x3fff),
            2 => u64::from(u32::from_be_bytes(self.array(field)?) & 0x3fff_ffff),
            _ => u64::from_be_bytes(self.array(field)?) & MAX_VARINT,
        };
        Ok(value)
    }

    /// A varint that may not exceed `max`; `allowed` says so in text.
    pub(super) fn bounded(
        &mut self,
        max: u64,
        field: &'static str,
        allowed: &'static str,
    ) -> Result<u64, DecodeError> {
        let value = self.varint(field)?;
        if value > max {
            return Err(DecodeError::OutOfRange { field, value, allowed });
        }
        Ok(value)
    }

    /// UTF-8 text behind its length, which may not exceed `max` bytes.
    pub(super) fn text(
        &mut self,
        max: usize,
        field: &'static str,
        allowed: &'static str,
    ) -> Result<&'a str, DecodeError> {
        let len = self.bounded(max as u64, field, allowed)? as usize;
        let bytes = self.bytes(len, field)?;
        std::str::from_utf8(bytes).map_err(|_| DecodeError::Text { field })
    }
}

const fn truncated(field: &'static str) -> DecodeError {
    DecodeError::Truncated { field }
}

/// The end of a range, if it is still a valid number.
pub(super) fn range_end(start: u64, len: u64, field: &'static str) -> Result<u64, DecodeError> {
    match start.checked_add(len) {
        Some(end) if end <= MAX_VARINT => Ok(end),
        _ => Err(DecodeError::Overflow { field }),
    }
}

/// The longest part of `text` that takes at most `max` bytes.
pub(super) fn head(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Appends `text` behind its length, cut to `max` bytes.
pub(super) fn put_text(buf: &mut impl BufMut, text: &str, max: usize) {
    let text = head(text, max);
    put_varint(buf, text.len() as u64);
    buf.put_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9000 appendix A.1.
    const RFC: [(&[u8], u64); 5] = [
        (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
        (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
        (&[0x7b, 0xbd], 15_293),
        (&[0x25], 37),
        (&[0x40, 0x25], 37),
    ];

    #[test]
    fn rfc_9000_examples_decode() {
        for (bytes, value) in RFC {
            let mut reader = Reader::new(bytes);
            assert_eq!(reader.varint("x"), Ok(value));
            assert_eq!(reader.remaining(), 0);
        }
    }

    #[test]
    fn the_shortest_form_is_written() {
        for (bytes, value) in &RFC[..4] {
            let mut buf = Vec::new();
            put_varint(&mut buf, *value);
            assert_eq!(buf, *bytes);
        }
    }

    #[test]
    fn sizes_change_at_the_powers_of_the_rfc() {
        for (bits, below, above) in [(6, 1, 2), (14, 2, 4), (30, 4, 8)] {
            assert_eq!(varint_size((1 << bits) - 1), below);
            assert_eq!(varint_size(1 << bits), above);
        }
        assert_eq!(varint_size(MAX_VARINT), 8);
    }

    #[test]
    fn a_cut_varint_is_truncated() {
        for (bytes, _) in RFC {
            let cut = &bytes[..bytes.len() - 1];
            assert_eq!(Reader::new(cut).varint("x"), Err(truncated("x")));
        }
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 3), "aé");
    }
}

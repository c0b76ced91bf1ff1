//! A cursor over received bytes that can run out but cannot panic.

/// The bytes ran out: the message has at least `total` bytes from its first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Short {
    pub(super) total: usize,
}

/// Reads big-endian fields from the front of a byte slice.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes consumed so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The bytes not consumed yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Short> {
        let end = self.at.saturating_add(count);
        let taken = self.bytes.get(self.at..end).ok_or(Short { total: end })?;
        self.at = end;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Short> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A byte that is 0 or 1; the byte, if it is another.
    pub(super) fn flag(&mut self) -> Result<Result<bool, u8>, Short> {
        Ok(match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(other),
        })
    }

    pub(super) fn u16(&mut self) -> Result<u16, Short> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Short> {
        self.array().map(u64::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_out_names_the_total_and_consumes_nothing() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.u16(), Ok(0x0102));
        assert_eq!(reader.u16(), Err(Short { total: 4 }));
        assert_eq!(reader.rest(), &[3]);
        assert_eq!(reader.take(usize::MAX), Err(Short { total: usize::MAX }));
    }
}

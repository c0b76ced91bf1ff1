//! SACK blocks in compact form.

/// Blocks that fit into a segment without timestamps (RFC 2018 section 3).
pub(super) const MAX_BLOCKS: usize = 4;

/// Up to four SACK blocks (RFC 2018), the first of which may be a DSACK (RFC 2883). They are kept
/// relative to the acknowledgement number of their segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    offsets: [i32; MAX_BLOCKS],
    lens: [u32; MAX_BLOCKS],
    count: u8,
    has_dsack: bool,
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self =
        Self { offsets: [0; MAX_BLOCKS], lens: [0; MAX_BLOCKS], count: 0, has_dsack: false };

    /// The blocks of a segment that acknowledges `ack`, the most recent first; those beyond the
    /// fourth, and any further than 2 GiB from `ack`, are left out.
    pub fn new(
        ack: u64,
        dsack: Option<(u64, u64)>,
        blocks: impl IntoIterator<Item = (u64, u64)>,
    ) -> Self {
        let mut sack = Self { has_dsack: dsack.is_some(), ..Self::NONE };
        dsack.into_iter().chain(blocks).for_each(|block| sack.push(ack, block));
        sack
    }

    fn push(&mut self, ack: u64, (start, end): (u64, u64)) {
        let at = usize::from(self.count);
        let offset = i32::try_from(i128::from(start) - i128::from(ack));
        let len = u32::try_from(end.saturating_sub(start));
        if let (Ok(offset), Ok(len)) = (offset, len)
            && at < MAX_BLOCKS
        {
            (self.offsets[at], self.lens[at]) = (offset, len);
            self.count += 1;
        }
    }

    /// Drops the last block.
    pub(super) const fn pop(&mut self) {
        self.count = self.count.saturating_sub(1);
        self.has_dsack &= self.count > 0;
    }

    /// Keeps the first `count` blocks at most.
    pub(super) fn truncate(&mut self, count: usize) {
        while self.len() > count {
            self.pop();
        }
    }

    /// How many blocks there are.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no block.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the first block reports a duplicate.
    pub const fn has_dsack(&self) -> bool {
        self.has_dsack
    }

    /// All blocks of a segment that acknowledges `ack`.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.len()).map(move |at| self.block(ack, at))
    }

    fn block(&self, ack: u64, at: usize) -> (u64, u64) {
        let start = ack.saturating_add_signed(i64::from(self.offsets[at]));
        (start, start + u64::from(self.lens[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_round_trip_and_the_dsack_is_first() {
        let ack = 1 << 40;
        let blocks = [(ack + 10, ack + 20), (ack + 30, ack + 31)];
        let sack = SackBlocks::new(ack, Some((ack - 5, ack - 1)), blocks);
        let expected = [(ack - 5, ack - 1), blocks[0], blocks[1]];
        assert_eq!(sack.iter(ack).collect::<Vec<_>>(), expected);
        assert!(sack.has_dsack());
    }

    #[test]
    fn there_is_room_for_four() {
        let mut sack = SackBlocks::new(0, None, (1..9).map(|n| (n * 10, n * 10 + 5)));
        assert_eq!(sack.len(), 4);
        sack.truncate(1);
        assert_eq!(sack.iter(0).collect::<Vec<_>>(), [(10, 15)]);
        sack.pop();
        assert!(sack.is_empty() && !sack.has_dsack());
    }
}

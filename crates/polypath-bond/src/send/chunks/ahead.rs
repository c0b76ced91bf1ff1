//! What was left behind by what was sent ahead of it.

use super::Chunks;

impl Chunks {
    /// DSN space that was left behind and is still to be sent.
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Leaves the chunk at `dsn`, never sent, behind: it is sent later, in the order of DSNs.
    pub(crate) fn reserve(&mut self, dsn: u64) {
        let index = self.index_of(dsn);
        let Some(chunk) = self.chunks.get_mut(index) else { return };
        chunk.reserved = true;
        self.reserved += chunk.len;
        self.reinject.insert(chunk.dsn, chunk.len);
    }

    /// The length of the first chunk that was left behind.
    pub(crate) fn next_reserved(&self) -> Option<u64> {
        let dsn = self.reserved_after(0).ok()?;
        self.chunks.get(self.index_of(dsn)).map(|chunk| chunk.len)
    }

    /// The DSN of the last chunk that was left behind.
    pub(crate) fn last_reserved(&self) -> Option<u64> {
        self.chunks.iter().rev().find(|chunk| chunk.reserved).map(|chunk| chunk.dsn)
    }

    /// The DSN of the first chunk with at least `skip` left behind before it, itself left behind;
    /// or how much more would have to be. Asked for each segment that is sent ahead, with hundreds
    /// of chunks left behind: it is looked for from the nearer end.
    pub(crate) fn reserved_after(&self, skip: u64) -> Result<u64, u64> {
        if skip >= self.reserved {
            return Err(skip - self.reserved);
        }
        if skip < self.reserved / 2 { self.seek_forwards(skip) } else { self.seek_backwards(skip) }
            .ok_or(0)
    }

    pub(super) fn seek_forwards(&self, skip: u64) -> Option<u64> {
        let first = self.index_of(self.reinject.first()?);
        let mut before = 0;
        let found = self.chunks.range(first..).filter(|chunk| chunk.reserved).find(|chunk| {
            let enough = before >= skip;
            before += chunk.len;
            enough
        });
        found.map(|chunk| chunk.dsn)
    }

    pub(super) fn seek_backwards(&self, skip: u64) -> Option<u64> {
        let reserved = self.chunks.iter().rev().filter(|chunk| chunk.reserved);
        let before = reserved.scan(self.reserved, |before, chunk| {
            *before -= chunk.len;
            Some((*before, chunk.dsn))
        });
        before.take_while(|&(before, _)| before >= skip).last().map(|(_, dsn)| dsn)
    }
}

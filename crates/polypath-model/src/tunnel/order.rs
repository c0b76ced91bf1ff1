//! When events happen, and which of two at the same time is first.

use std::time::Duration;

/// A time that never comes, more than an hour. Times are in nanoseconds, because equal times must
/// be distinguished from near ones.
pub(super) const NEVER: u64 = (1 << (64 - BELOW)) - 1;
/// Above the keys of all events that happen, and below those of events that never do.
pub(super) const END: u64 = (NEVER << BELOW) - 1;
/// The low bits of a key hold the order in which events were made, so that equal times keep it, and
/// to whom the event belongs, so that the least key says everything.
const BELOW: u32 = ORDER_BITS + OWNER_BITS;
const ORDER_BITS: u32 = 14;
const OWNER_BITS: u32 = 8;

/// Nanoseconds of a time.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).map_or(NEVER, |nanos| nanos.min(NEVER))
}

/// Seconds of a time in nanoseconds. Signed: x86-64 converts no others in one instruction.
#[inline]
pub(super) fn seconds(nanos: u64) -> f64 {
    nanos as i64 as f64 / 1e9
}

/// How many events were made, shifted to its place in their keys.
#[derive(Debug, Default)]
pub(super) struct Order(u64);

impl Order {
    /// Counts an event that needs no key.
    #[inline]
    pub(super) const fn skip(&mut self) {
        self.0 += 1 << OWNER_BITS;
    }

    /// The key of the next event, at [`NEVER`] at the latest. The least key is the first event.
    #[inline]
    pub(super) const fn key(&mut self, at: u64, owner: usize) -> u64 {
        self.skip();
        at << BELOW | self.0 & ((1 << BELOW) - (1 << OWNER_BITS)) | owner as u64
    }
}

/// The time in a key.
#[inline]
pub(super) const fn time(key: u64) -> u64 {
    key >> BELOW
}

/// To whom the event belongs.
#[inline]
pub(super) const fn owner(key: u64) -> usize {
    (key & ((1 << OWNER_BITS) - 1)) as usize
}

//! What a queue is in front of.

use crate::rate::Rate;
use polypath_units::Bandwidth;
use std::time::Duration;

/// The rate and one-way delay behind a queue, on which limits in BDP and the time to send a packet
/// depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipe<'a> {
    pub(crate) rate: &'a Rate,
    pub(crate) delay: Duration,
}

impl Pipe<'_> {
    /// The rate that a BDP is reckoned with.
    pub(super) fn rate(self) -> Bandwidth {
        self.rate.reference()
    }
}

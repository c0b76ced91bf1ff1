//! What the log says of keys that have several bonds at the same time.

use crate::driver::Driver;
use crate::limit::{Client, Lines};
use polypath_bond::{BondKey, SameKey};
use tokio::time::Instant;

/// Lines in a minute, for all edges together.
const LINES: u32 = 10;

/// A log that edges cannot fill.
#[derive(Debug, Default)]
pub(super) struct SameKeyLog(Lines);

impl SameKeyLog {
    /// Tells the operator that this edge has other bonds besides this one. From other addresses
    /// that is mostly another host with a copy of the key; from the same one a file that is sent
    /// beside a running edge, which is as it should be, or two hosts behind one address.
    pub(super) fn tell(
        &mut self,
        edge: &Client,
        driver: &Driver,
        bond: BondKey,
        others: &[SameKey],
    ) {
        let Some(left_out) = self.0.next(LINES, Instant::now()) else { return };
        let other = others.iter().find(|other| other.is_elsewhere).or(others.first());
        let Some(&SameKey { bond: other, is_elsewhere }) = other else { return };
        let (from, other_from) = (driver.remotes(bond), driver.remotes(other));
        if is_elsewhere {
            tracing::warn!(
                %edge, %bond, from, %other, other_from, left_out,
                "one key has two bonds at the same time from different addresses; if these are two \
                 edges, give each a key of its own"
            );
        } else {
            tracing::info!(
                %edge, %bond, from, %other, other_from, left_out,
                "one key has two bonds at the same time from the same address"
            );
        }
    }
}

//! The end of the data: DATA_FIN (RFC 8684 section 3.3.3).

use super::connection::Connection;
use polypath_units::{PathSet, Timestamp};
use std::time::Duration;

impl Connection {
    /// The peer has acknowledged the end: the subflows close.
    pub(super) fn on_fin_acked(&mut self) {
        if !std::mem::replace(&mut self.fin_acked, true) {
            self.subflows.iter_mut().for_each(|subflow| subflow.tcp.close());
        }
    }

    /// Whether the end of the data is to be told, and a subflow is there to tell it.
    pub(super) fn can_finish(&self) -> bool {
        let all_sent = self.closing && self.unsent == 0 && self.chunks.next_again().is_none();
        all_sent && !self.fin_acked && self.fastest(PathSet::EMPTY).is_some()
    }

    /// Says that the data ends, again until it is acknowledged.
    pub(super) fn finish(&mut self, now: Timestamp) {
        if !self.can_finish() || self.fin_at.is_some_and(|at| at > now) {
            return;
        }
        let Some(fastest) = self.fastest(PathSet::EMPTY) else { return };
        let rtt = self.congestion.rtt(fastest);
        let rto = rtt.map_or(Duration::from_secs(1), |rtt| rtt.base_rto());
        let again = self.fin_at.replace(now + rto).is_some();
        for subflow in &mut self.subflows {
            // The fastest may be dead, and without data in flight nobody finds out.
            if subflow.path == fastest || again && subflow.works() {
                subflow.fin_due = true;
                subflow.tcp.acknowledge();
            }
        }
    }
}

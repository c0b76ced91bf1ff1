//! What the numbers of datagrams tell of their order and of those that are missing.

use super::RecvFlow;
use crate::flow::FlowCounters;

impl RecvFlow {
    /// The datagram `seq` is whole, and not known yet: whether a later one came before.
    pub(super) fn count_order(&mut self, seq: u64) {
        let is_overtaken = self.held.last_key_value().is_some_and(|(&last, _)| seq < last);
        self.counters.reordered += u64::from(seq >= self.next && is_overtaken);
    }

    /// What became of datagrams so far.
    pub(crate) fn counted(&self) -> FlowCounters {
        FlowCounters { lost: self.lost(), ..self.counters }
    }

    /// Numbers that were passed over and never came. Those that found no room may be beyond the
    /// ones that were passed over, for as long as the datagrams before them are waited for.
    fn lost(&self) -> u64 {
        let given = self.counters.delivered + self.ready.len() as u64;
        self.next.saturating_sub(given + self.counters.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PathWaits, RecvFlow};
    use crate::codec::{DatagramFrame, FlowConfig, FlowId};
    use crate::flow::Arrived;
    use bytes::Bytes;
    use polypath_units::{PathId, Timestamp};
    use std::time::Duration;

    const WAIT: Duration = Duration::from_millis(20);

    /// One that waits so long for order.
    fn flow(wait: Duration) -> RecvFlow {
        let resequence = Some(wait);
        RecvFlow::new(&FlowConfig { resequence, ..FlowConfig::default() })
    }

    /// A datagram of one byte.
    fn datagram(seq: u64) -> Arrived {
        let datagram = DatagramFrame { flow: FlowId(0), seq, data: Bytes::from_static(b"x") };
        Arrived { path: PathId::default(), fragment: datagram.into(), is_marked: false }
    }

    /// What is counted of order after these numbers have come, each at so many milliseconds:
    /// reordered, late and lost.
    fn counted(wait: Duration, arrivals: &[(u64, u64)]) -> [u64; 3] {
        let mut flow = flow(wait);
        for &(seq, ms) in arrivals {
            let (now, paths) = (Timestamp::from_millis(ms), PathWaits::default());
            flow.release(|| paths, now);
            flow.insert(datagram(seq), || paths, 10_000, now);
        }
        let unread = flow.counted();
        while flow.pop().is_some() {}
        let counted = flow.counted();
        assert_eq!(unread.lost, counted.lost, "that it was read changes nothing");
        [counted.reordered, counted.late, counted.lost]
    }

    #[test]
    fn what_is_put_in_order_what_is_late_and_what_never_comes_are_counted_apart() {
        assert_eq!(counted(WAIT, &[(0, 0), (1, 0), (2, 1)]), [0, 0, 0], "in order");
        assert_eq!(counted(WAIT, &[(0, 0), (3, 1), (1, 2), (2, 3)]), [2, 0, 0], "put in order");
        assert_eq!(counted(WAIT, &[(0, 0), (2, 1), (3, 2), (4, 90)]), [0, 0, 1], "1 never comes");
        assert_eq!(counted(WAIT, &[(0, 0), (3, 1), (4, 90), (1, 91)]), [0, 1, 1], "1 is late");
        assert_eq!(counted(Duration::ZERO, &[(2, 0), (0, 1), (2, 2)]), [0, 1, 1], "and no copies");
    }

    /// It has come.
    #[test]
    fn what_finds_no_room_is_not_lost() {
        let mut flow = flow(Duration::ZERO);
        for seq in 0..3 {
            match seq {
                1 => flow.drop_arrived(&datagram(seq).fragment),
                _ => {
                    flow.insert(datagram(seq), PathWaits::default, 10_000, Timestamp::ZERO);
                }
            }
        }
        assert_eq!((flow.counted().lost, flow.counted().dropped), (0, 1));
    }

    /// What is waited for is not lost yet.
    #[test]
    fn a_number_is_lost_once_it_is_passed_over() {
        assert_eq!(counted(WAIT, &[(0, 0), (2, 1), (3, 20)]), [0, 0, 0]);
        assert_eq!(counted(WAIT, &[(0, 0), (2, 1), (3, 21)]), [0, 0, 1]);
    }
}

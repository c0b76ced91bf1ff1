//! Datagrams that come before the join.

use bytes::Bytes;

/// What kept datagrams cost together, in bytes; later ones are lost and sent again.
const MAX_COST: usize = 64 << 10;
/// What one costs beside its bytes.
const COST: usize = 64;

/// What anybody may have sent on a connection that has not joined.
#[derive(Debug, Default)]
pub(super) struct EarlyDatagrams {
    datagrams: Vec<Bytes>,
    cost: usize,
}

impl EarlyDatagrams {
    /// Keeps a datagram if there is room. A copy: it would keep the packet that it came in.
    pub(super) fn push(&mut self, datagram: &Bytes) {
        let cost = self.cost + datagram.len() + COST;
        if cost <= MAX_COST {
            self.cost = cost;
            self.datagrams.push(Bytes::copy_from_slice(datagram));
        }
    }

    /// Takes all, in the order of their arrival.
    pub(super) fn take(&mut self) -> Vec<Bytes> {
        std::mem::take(self).datagrams
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_datagrams_cost_as_well() {
        let mut early = EarlyDatagrams::default();
        (0..100_000).for_each(|_| early.push(&Bytes::new()));
        assert_eq!(early.take().len(), MAX_COST / COST);
        early.push(&Bytes::from(vec![0; MAX_COST - COST]));
        assert_eq!(early.take().len(), 1, "there is room again");
        early.push(&Bytes::from(vec![0; MAX_COST - COST + 1]));
        assert!(early.take().is_empty());
    }

    #[test]
    fn a_datagram_does_not_keep_its_packet() {
        let packet = Bytes::from(vec![7; 1_450]);
        let mut early = EarlyDatagrams::default();
        early.push(&packet.slice(..1));
        assert!(packet.is_unique());
        assert_eq!(early.take(), [Bytes::from_static(&[7])]);
    }
}

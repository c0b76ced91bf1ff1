//! What RFC 8684 demands of every exchange, counted apart from the connections.

use polypath_sim::tcp::{Flags, Mapping, MptcpOption, Segment};
use std::collections::{BTreeMap, BTreeSet};

/// One end, seen from outside.
#[derive(Debug)]
struct End {
    written: u64,
    closed: bool,
    /// Bytes of the peer's data that have reached it.
    arrived: BTreeSet<u64>,
    /// The first byte of the peer's data that has not.
    next: u64,
    /// Where the peer's data ends, as it has been told.
    fin: Option<u64>,
    /// The last acknowledgement that it sent.
    acked: u64,
    /// The number after the last one that it may send.
    edge: u64,
    /// What each byte of its subflows stands for, by path.
    mapped: BTreeMap<(usize, u64), u64>,
}

/// Both ends.
#[derive(Debug)]
pub(crate) struct Ledger([End; 2]);

impl Default for Ledger {
    fn default() -> Self {
        Self([End::new(), End::new()])
    }
}

impl End {
    fn new() -> Self {
        Self {
            written: 0,
            closed: false,
            arrived: BTreeSet::new(),
            next: 1,
            fin: None,
            acked: 1,
            edge: 1,
            mapped: BTreeMap::new(),
        }
    }

    /// What it may acknowledge at most: what has arrived, and the DATA_FIN after it.
    fn acknowledgeable(&self) -> u64 {
        self.next + u64::from(self.fin == Some(self.next))
    }

    fn take(&mut self, dsn: u64, len: u32) {
        self.arrived.extend((dsn..).take(len as usize).filter(|&byte| byte >= self.next));
        while self.arrived.remove(&self.next) {
            self.next += 1;
        }
    }
}

impl Ledger {
    pub(crate) fn on_written(&mut self, side: usize, bytes: u64) {
        self.0[side].written += bytes;
    }

    pub(crate) fn on_closed(&mut self, side: usize) {
        self.0[side].closed = true;
    }

    /// A segment reaches `side`.
    pub(crate) fn on_arrival(&mut self, side: usize, segment: &Segment) {
        let end = &mut self.0[side];
        match segment.mptcp {
            Some(MptcpOption::MpCapable { .. }) => {
                end.edge = end.edge.max(1 + u64::from(segment.window));
            }
            Some(MptcpOption::Dss(dss)) => {
                if let Some(mapping) = dss.mapping {
                    end.take(mapping.dsn, segment.len);
                    if dss.data_fin {
                        end.fin = Some(mapping.dsn + u64::from(mapping.len.get()) - 1);
                    }
                }
                if let Some(acked) = dss.data_ack {
                    end.edge = end.edge.max(acked + u64::from(segment.window));
                }
            }
            _ => {}
        }
    }

    /// `side` sends a segment on a path; `trace` is shown if it must not.
    pub(crate) fn on_sent(&mut self, side: usize, path: usize, segment: &Segment, trace: &str) {
        let end = &mut self.0[side];
        let Some(MptcpOption::Dss(dss)) = segment.mptcp else {
            assert_eq!(segment.len, 0, "data without a mapping (3.3.1):\n{trace}");
            if segment.flags.contains(Flags::SYN) {
                let capable = matches!(segment.mptcp, Some(MptcpOption::MpCapable { .. }));
                assert_eq!(
                    capable,
                    path == 0,
                    "MP_CAPABLE first, then MP_JOIN (3.1, 3.2):\n{trace}"
                );
            }
            return;
        };
        if let Some(acked) = dss.data_ack {
            assert!(acked <= end.acknowledgeable(), "of what has not come (3.3.2):\n{trace}");
            assert!(acked >= end.acked, "a data ACK goes back (3.3.2):\n{trace}");
            end.acked = acked;
        }
        match dss.mapping {
            Some(mapping) if dss.data_fin => end.on_data_fin(mapping, segment, trace),
            Some(mapping) => end.on_mapping(mapping, path, segment, trace),
            None => assert_eq!(segment.len, 0, "data without a mapping (3.3.1):\n{trace}"),
        }
    }

    /// Everything that was written has come, and its end if it has one, and both know it.
    pub(crate) fn assert_complete(&self, delivered: [u64; 2], trace: &str) {
        for (side, end) in self.0.iter().enumerate() {
            let peer = &self.0[1 - side];
            assert_eq!(end.next - 1, peer.written, "came to {side}:\n{trace}");
            assert_eq!(delivered[side], peer.written, "delivered to {side}:\n{trace}");
            let fin = peer.closed.then_some(1 + peer.written);
            assert_eq!(end.fin, fin, "DATA_FIN to {side} (3.3.3):\n{trace}");
            assert_eq!(end.acked, end.acknowledgeable(), "acknowledged by {side}:\n{trace}");
            assert!(end.arrived.is_empty(), "beyond the end, to {side}:\n{trace}");
        }
    }
}

impl End {
    fn on_mapping(&mut self, mapping: Mapping, path: usize, segment: &Segment, trace: &str) {
        assert_eq!(u32::from(mapping.len.get()), segment.len, "of all it carries:\n{trace}");
        assert_eq!(u64::from(mapping.ssn), segment.seq, "of what it carries:\n{trace}");
        let dsn_end = mapping.dsn + u64::from(segment.len);
        assert!(dsn_end <= 1 + self.written, "of what was not written:\n{trace}");
        assert!(dsn_end <= self.edge, "beyond the window (3.3.4):\n{trace}");
        for offset in 0..u64::from(segment.len) {
            let before = self.mapped.insert((path, segment.seq + offset), mapping.dsn + offset);
            let same = before.is_none_or(|dsn| dsn == mapping.dsn + offset);
            assert!(same, "a mapping has changed (3.3.1):\n{trace}");
        }
    }

    fn on_data_fin(&self, mapping: Mapping, segment: &Segment, trace: &str) {
        let end = mapping.dsn + u64::from(mapping.len.get()) - 1;
        assert_eq!(end, 1 + self.written, "a DATA_FIN stands after the data (3.3.3):\n{trace}");
        if segment.len == 0 {
            let alone = (mapping.ssn, mapping.len.get());
            assert_eq!(alone, (0, 1), "a DATA_FIN alone (3.3.3):\n{trace}");
        }
    }
}

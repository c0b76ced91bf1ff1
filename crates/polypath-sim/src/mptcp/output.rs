//! What the subflows send, with the options of Multipath TCP.

use super::connection::{Connection, OPEN_WINDOW, Output};
use crate::tcp::{Dss, Flags, Mapping, MptcpOption, Segment, State};
use core::num::NonZeroU16;
use polypath_units::Timestamp;

impl Connection {
    /// Takes what a subflow has to send.
    pub(super) fn transmit(&mut self, index: usize, now: Timestamp) {
        while let Some(mut segment) =
            self.subflows[index].tcp.poll_transmit(now, &mut self.congestion)
        {
            self.decorate(index, &mut segment);
            let path = self.subflows[index].path;
            if segment.len > 0 {
                self.detector.on_sent(path, now);
            }
            self.out.push_back(Output::Segment(path, segment));
        }
    }

    /// Puts the multipath option and the shared window into a segment.
    fn decorate(&mut self, index: usize, segment: &mut Segment) {
        let subflow = &mut self.subflows[index];
        if segment.syn.is_some() {
            segment.window = self.receiving.window().min(u64::from(u16::MAX)) as u32;
            segment.set_mptcp(match index {
                0 => MptcpOption::MpCapable { connection: 0 },
                _ => MptcpOption::MpJoin {
                    connection: 0,
                    address_id: subflow.path.get(),
                    backup: subflow.backup,
                },
            });
            return;
        }
        if subflow.tcp.state() == State::Closed || segment.flags.contains(Flags::RST) {
            return;
        }
        segment.window = self.receiving.window().min(u64::from(OPEN_WINDOW)) as u32;
        let payload = NonZeroU16::new(segment.len as u16).map(|len| Mapping {
            dsn: segment.tag,
            ssn: segment.seq as u32,
            len,
        });
        let fin = payload.is_none() && core::mem::take(&mut subflow.fin_due) && !self.fin_acked;
        let mapping = payload.or(fin.then_some(Mapping {
            dsn: self.chunks.next(),
            ssn: 0,
            len: NonZeroU16::MIN,
        }));
        let data_ack = Some(self.receiving.data_ack());
        segment.set_mptcp(MptcpOption::Dss(Dss { data_ack, mapping, data_fin: fin }));
    }
}

//! What a bond says of itself.

use super::{Bond, BondCounters};
use crate::codec::StreamId;
use crate::path::{Path, PathCounters, PathState};
use polypath_core::congestion::Congestion;
use polypath_units::{Bandwidth, PathId, Timestamp};
use std::time::Duration;

/// A path as shown to people and programs.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStatus {
    /// Which path.
    pub id: PathId,
    /// What people call it.
    pub name: String,
    /// Whether it carries data.
    pub state: PathState,
    /// Used only when no other path works.
    pub backup: bool,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Smallest RTT.
    pub min_rtt: Option<Duration>,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Measured delivery rate in bytes/s.
    pub delivery_rate: f64,
    /// Share of packets lost recently.
    pub loss: f64,
    /// Counters since the path joined.
    pub counters: PathCounters,
}

/// What a path has carried in the last second: datagrams of the bond that hold data of streams or
/// flows, also such as travel again. What the bond says of itself does not count, so that both are
/// zero on an idle path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathRates {
    /// What was sent.
    pub sent: Bandwidth,
    /// What arrived.
    pub received: Bandwidth,
}

/// A bond as shown to people and programs.
#[derive(Clone, Debug, PartialEq)]
pub struct BondStatus {
    /// Its paths, by number.
    pub paths: Vec<PathStatus>,
    /// Its counters.
    pub counters: BondCounters,
    /// Bytes that wait to be sent.
    pub unsent: u64,
    /// Bytes sent and not acknowledged.
    pub unacked: u64,
    /// Bytes received and not read.
    pub buffered: u64,
    /// Ranges received beyond the first missing byte.
    pub gaps: usize,
}

impl Bond {
    /// What people call a path of it.
    pub fn path_name(&self, id: PathId) -> Option<&str> {
        self.paths.get(id).map(|path| &*path.name)
    }

    /// A snapshot of the bond.
    pub fn status(&self) -> BondStatus {
        BondStatus {
            paths: self.paths.iter().map(|path| self.path_status(path)).collect(),
            counters: self.counters,
            unsent: self.send.unsent(),
            unacked: self.chunks.unacked(),
            buffered: self.recv.buffered(),
            gaps: self.acks.data.gaps(),
        }
    }

    /// What each of its paths carries now.
    pub fn rates(&self, now: Timestamp) -> impl Iterator<Item = (PathId, PathRates)> {
        self.paths.iter().map(move |path| {
            let (sent, received) = (path.sending.rate(now), path.receiving.rate(now));
            (path.id, PathRates { sent, received })
        })
    }

    /// Its congestion control.
    pub const fn congestion(&self) -> &Congestion {
        &self.congestion
    }

    fn path_status(&self, path: &Path) -> PathStatus {
        let id = path.id;
        let rtt = self.congestion.rtt(id);
        PathStatus {
            id,
            name: path.name.clone(),
            state: path.state,
            backup: path.backup,
            srtt: rtt.and_then(|rtt| rtt.srtt()),
            min_rtt: rtt.and_then(|rtt| rtt.min()),
            cwnd: self.congestion.window(id),
            in_flight: self.congestion.bytes_in_flight(id),
            delivery_rate: self.congestion.delivery_rate(id),
            loss: self.congestion.loss_rate(id),
            counters: path.counters,
        }
    }

    /// When something arrived on any path last, or one was added.
    pub(crate) fn last_arrival(&self) -> Timestamp {
        self.paths.last_heard()
    }

    /// Whether anything written on a stream, its end included, is unacknowledged.
    pub fn is_sending(&self, id: StreamId) -> bool {
        self.send.get(id).is_some()
    }

    /// What received data costs, book-keeping included: at most twice the receive buffer, and
    /// 64 bytes for each stream.
    // For tests of what a peer can make this end hold.
    #[doc(hidden)]
    pub fn buffer_cost(&self) -> u64 {
        self.recv.cost()
    }

    /// What received datagrams cost, those included of which a part is missing: at most the receive
    /// buffer.
    // For tests of what a peer can make this end hold.
    #[doc(hidden)]
    pub fn datagram_cost(&self) -> u64 {
        self.flows.cost()
    }

    /// Bytes of received data held for the application, at most the receive buffer.
    pub fn buffered(&self) -> u64 {
        self.recv.buffered()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{OVERHEAD, hub};
    use crate::codec::{Control, Frame, StreamFrame};
    use crate::config::BondConfig;
    use bytes::{Bytes, BytesMut};

    /// Sends all that the bond has to send now. Its bytes, those of datagrams with data alone.
    fn send(bond: &mut Bond, first: u64, now: Timestamp) -> [u64; 2] {
        let (mut all, mut data) = (0, 0);
        for number in first.. {
            let Some(transmit) = bond.poll_transmit(now) else { break };
            let len = transmit.payload.len;
            all += len;
            data += if transmit.payload.is_data() { len } else { 0 };
            bond.on_packet_sent(PathId::default(), number, len + OVERHEAD, transmit.payload, now);
        }
        [all, data]
    }

    fn arrives(bond: &mut Bond, frame: &Frame, now: Timestamp) -> u64 {
        let mut datagram = BytesMut::new();
        frame.encode(&mut datagram, false);
        let bytes = datagram.len() as u64;
        bond.on_datagram(PathId::default(), datagram.freeze(), now);
        bytes
    }

    fn rates(bond: &Bond, now: Timestamp) -> PathRates {
        bond.rates(now).next().unwrap().1
    }

    /// Acknowledgements, messages, probes and their answers are on every idle path.
    #[test]
    fn rates_are_of_data_and_zero_without_it() {
        let mut bond = hub(BondConfig::default(), None);
        let at = Timestamp::from_millis(10_000);
        arrives(&mut bond, &Frame::Ping { id: 1 }, at);
        arrives(&mut bond, &Frame::Control { seq: 0, message: Control::MaxData { max: 0 } }, at);
        let [all, data] = send(&mut bond, 0, at);
        assert!(all > 0 && data == 0, "{all} {data}");
        assert_eq!(rates(&bond, at), PathRates::default());

        let id = bond.open_stream().unwrap();
        bond.write(id, &Bytes::from(vec![0; 5_000])).unwrap();
        let [_, data] = send(&mut bond, 100, at);
        assert!(data > 0);
        // At the begin of a part of a second the window is a second.
        let sent = Bandwidth::from_bits_per_sec(8 * data);
        assert_eq!(rates(&bond, at), PathRates { sent, received: Bandwidth::ZERO });

        let stream = Frame::Stream(StreamFrame {
            dsn: 0,
            id: StreamId(0),
            offset: 0,
            fin: false,
            data: Bytes::from(vec![1; 900]),
        });
        let received = Bandwidth::from_bits_per_sec(8 * arrives(&mut bond, &stream, at));
        assert_eq!(rates(&bond, at), PathRates { sent, received });
        assert_eq!(rates(&bond, Timestamp::from_millis(11_125)), PathRates::default());
    }
}

//! The limits on the rate of what this end sends and takes.

use crate::codec::StreamId;
use crate::limit::RateLimit;
use polypath_units::{Bandwidth, Timestamp};
use std::collections::BTreeSet;

/// A limit for each direction, of the same rate.
#[derive(Debug)]
pub(super) struct RateLimits {
    /// `None` where there is no limit.
    send: Option<RateLimit>,
    take: Option<RateLimit>,
    /// Streams whose reading the limit holds back, and when it lets them go on.
    held_readers: BTreeSet<StreamId>,
    release_at: Option<Timestamp>,
}

impl RateLimits {
    pub(super) fn new(rate: Option<Bandwidth>, now: Timestamp) -> Self {
        let limit = rate.map(|rate| RateLimit::new(rate, now));
        Self { send: limit.clone(), take: limit, held_readers: BTreeSet::new(), release_at: None }
    }

    /// `Ok` if something may be sent at `now`, otherwise when to ask again.
    pub(super) fn check_send(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        self.send.as_mut().map_or(Ok(()), |limit| limit.check(now))
    }

    /// `bytes` of data were sent.
    pub(super) fn on_sent(&mut self, bytes: u64) {
        if let Some(limit) = &mut self.send {
            limit.take(bytes);
        }
    }

    /// Whether the stream must wait before it is read on. [`Self::release_readers`] names it then.
    pub(super) fn holds_reader(&mut self, id: StreamId, now: Timestamp) -> bool {
        let Some(Err(again)) = self.take.as_mut().map(|limit| limit.check(now)) else {
            return false;
        };
        self.held_readers.insert(id);
        self.release_at = Some(again);
        true
    }

    /// An application has read `bytes`.
    pub(super) fn on_read(&mut self, bytes: u64) {
        if let Some(limit) = &mut self.take {
            limit.take(bytes);
        }
    }

    /// Whether a datagram of `bytes` that arrived is within the limit; it is counted then.
    pub(super) fn admits_datagram(&mut self, bytes: u64, now: Timestamp) -> bool {
        let Some(limit) = &mut self.take else { return true };
        let admitted = limit.check(now).is_ok();
        if admitted {
            limit.take(bytes);
        }
        admitted
    }

    /// When readers that are held back go on.
    pub(super) fn release_at(&self) -> Option<Timestamp> {
        self.release_at
    }

    /// The streams that may be read again by `now`; each is named once.
    pub(super) fn release_readers(&mut self, now: Timestamp) -> BTreeSet<StreamId> {
        if self.release_at.take_if(|at| *at <= now).is_none() {
            return BTreeSet::new();
        }
        std::mem::take(&mut self.held_readers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::Bond;
    use crate::bond::fixtures::hub;
    use crate::codec::Side;
    use crate::config::BondConfig;
    use crate::error::ReadError;
    use crate::event::Event;
    use bytes::{Bytes, BytesMut};
    use polypath_units::PathId;
    use std::time::Duration;

    /// A driver's timers are no finer. Being late loses nothing: credit goes on building up.
    const LATENESS: Duration = Duration::from_micros(100);

    fn bond(max_rate: Option<Bandwidth>) -> Bond {
        hub(BondConfig { max_rate, ..BondConfig::default() }, None)
    }

    /// Gives a bond `count` in-order segments of 1,000 bytes of the edge's first stream.
    fn feed(bond: &mut Bond, count: u64) -> StreamId {
        let id = StreamId::new(Side::Edge, 0);
        for n in 0..count {
            let mut datagram = BytesMut::new();
            let at = n * 1_000;
            crate::codec::encode_stream_header(&mut datagram, at, id, at, false, None);
            datagram.extend_from_slice(&[0; 1_000]);
            bond.on_datagram(PathId::default(), datagram.freeze(), Timestamp::ZERO);
        }
        id
    }

    /// Reads as its application would: after a refusal, only once told to.
    fn read_until(bond: &mut Bond, id: StreamId, end: Timestamp) -> u64 {
        let (mut now, mut total) = (Timestamp::ZERO, 0);
        while bond.poll_event().is_some() {}
        loop {
            match bond.read(id, 1_000, now) {
                Ok(Some(data)) => total += data.len() as u64,
                Err(ReadError::Blocked) => loop {
                    // The acknowledgements that are due are none of this test's business.
                    while bond.poll_transmit(now).is_some() {}
                    now = bond.poll_timeout().unwrap().max(now + LATENESS);
                    if now >= end {
                        return total;
                    }
                    bond.handle_timeout(now);
                    let events = std::iter::from_fn(|| bond.poll_event());
                    if events.into_iter().any(|event| event == Event::StreamReadable(id)) {
                        break;
                    }
                },
                other => panic!("{other:?}"),
            }
        }
    }

    /// 1 MB/s for 200 ms, and 20 ms of burst; the last read may be in debt by its 1,000 bytes and
    /// the last millisecond may not have been given out yet.
    #[test]
    fn streams_are_read_at_the_limit() {
        let mut limited = bond(Some(Bandwidth::from_mbit_per_sec(8.0)));
        let id = feed(&mut limited, 500);
        let read = read_until(&mut limited, id, Timestamp::from_millis(200));
        assert!((218_000..=221_000).contains(&read), "{read}");

        let mut free = bond(None);
        let id = feed(&mut free, 500);
        let end = Timestamp::from_millis(1);
        assert_eq!(read_until(&mut free, id, end), 500_000);
    }

    /// A burst of 20,000 bytes may leave at once, and the datagram that takes the bucket below
    /// zero; nothing else before the time that the bond names.
    #[test]
    fn data_is_sent_at_the_limit() {
        let mut bond = bond(Some(Bandwidth::from_mbit_per_sec(8.0)));
        let id = bond.open_stream().unwrap();
        bond.write(id, &Bytes::from(vec![0; 1_000_000])).unwrap();
        let (mut now, mut sent, mut number) = (Timestamp::ZERO, 0, 0);
        let end = Timestamp::from_millis(500);
        while now < end {
            while let Some(transmit) = bond.poll_transmit(now) {
                sent += transmit.payload.len;
                let (path, bytes) = (transmit.path, transmit.payload.len + 30);
                bond.on_packet_sent(path, number, bytes, transmit.payload, now);
                bond.on_packet_acked(path, number, now);
                bond.on_acks_end(path, now);
                number += 1;
            }
            now = bond.poll_timeout().unwrap().max(now + LATENESS);
            bond.handle_timeout(now);
        }
        assert!((500_000..=500_000 + 20_000 + 1_200).contains(&sent), "{sent}");
    }
}

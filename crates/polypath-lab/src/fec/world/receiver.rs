//! The end that receives: what has come of each path, and what repair symbols gave back.

use super::super::code::{self, Decoder};
use super::super::path::MAX_ACK_DELAY;
use super::Content;
use polypath_units::Timestamp;

/// Acknowledgements wait for so many packets, as the bond's do.
const ACK_EVERY: usize = 8;

/// The end that receives.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    pub(super) decoder: Decoder,
    /// When each datagram was there.
    pub(super) there: Vec<Option<Timestamp>>,
    /// What of each path has come.
    pub(super) paths: Vec<Arrivals>,
    pub(super) solved: u64,
}

/// The packets that have come on a path: their numbers and times.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    pub(super) all: Vec<(u64, Timestamp)>,
    /// So many were acknowledged.
    pub(super) acknowledged: usize,
    pub(super) last_ack: Timestamp,
    /// How many the sender has heard of.
    pub(super) heard: usize,
}

impl Receiver {
    /// A packet of a path has come.
    pub(super) fn on_packet(&mut self, path: usize, content: Content, now: Timestamp) {
        let (number, new) = match content {
            Content::Datagram { number, id } => {
                (number, self.decoder.on_datagram(id, code::content(id)))
            }
            Content::Repair { number, repair, sum } => {
                (number, self.decoder.on_repair(&repair, sum))
            }
            Content::Probe { number } => (number, Vec::new()),
            Content::Acknowledgement { .. } => return,
        };
        let has_come = matches!(content, Content::Datagram { .. });
        self.solved += (new.len() as u64).saturating_sub(u64::from(has_come));
        for id in new {
            self.note(id, now);
        }
        self.paths[path].all.push((number, now));
    }

    /// A datagram is there. One that was solved is the one that was sent.
    fn note(&mut self, id: u64, now: Timestamp) {
        assert_eq!(
            self.decoder.symbol(id),
            Some(code::content(id)),
            "datagram {id} was solved wrongly"
        );
        let place = id as usize;
        if self.there.len() <= place {
            self.there.resize(place + 1, None);
        }
        self.there[place] = Some(now);
    }
}

impl Arrivals {
    /// When they are to be acknowledged.
    pub(super) fn next_ack(&self) -> Timestamp {
        match self.all.get(self.acknowledged..).unwrap_or_default() {
            [] => Timestamp::MAX,
            new if new.len() >= ACK_EVERY => new[ACK_EVERY - 1].1,
            // After a pause at once.
            [first, ..] => first.1.max(self.last_ack + MAX_ACK_DELAY),
        }
    }
}

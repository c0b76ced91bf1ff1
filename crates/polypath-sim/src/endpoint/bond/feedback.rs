//! Routing feedback of the light carriers: switches tell a path its rate, as in front of the QUIC
//! carrier's datagrams.

use super::{Attachment, LightBond};
use crate::IP_UDP_HEADER;
use polypath_brf::FeedbackHeader;
use polypath_units::Timestamp;

impl LightBond {
    /// The peer offers routing feedback or not. Returns whether both do.
    pub(super) fn agree(&mut self, index: usize, offered: bool) -> bool {
        let agreed = self.feedback && offered;
        if agreed {
            self.paths[index].feedback.agree();
        }
        agreed
    }

    /// Obeys what switches have written in front of a packet.
    pub(super) fn hear(&mut self, index: usize, header: Option<FeedbackHeader>, now: Timestamp) {
        let Attachment { carrier, feedback, .. } = &mut self.paths[index];
        if let Some(code) = header.and_then(|header| feedback.on_header(&header)) {
            let headers = FeedbackHeader::SIZE as u64 + u64::from(IP_UDP_HEADER);
            self.bond.on_feedback(carrier.path, code, headers, now);
        }
    }
}

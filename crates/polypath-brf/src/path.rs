//! Routing feedback of a path: switches tell it its rate.
//!
//! Source: "SDN-Based Congestion Control and Bandwidth Allocation Scheme in 5G Networks", Sensors
//! 24(3):749, 2024, section 3.2, which has it for TCP; `docs/algorithms/feedback.md`. Each path is
//! a flow of its own to the switches, as a subflow of Multipath TCP is. How the rate travels is
//! docs/decisions/0010-routing-feedback-of-bonds.md.

use crate::{Code, FeedbackHeader};

/// What one end of a path has agreed, said and heard with [`FeedbackHeader`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathFeedback {
    agreed: bool,
    /// A header was sent.
    opened: bool,
    /// A header of the peer has come.
    heard: bool,
}

impl PathFeedback {
    /// Both ends have offered it: every datagram has a header from now on.
    pub const fn agree(&mut self) {
        self.agreed = true;
    }

    /// Whether both ends have offered it.
    pub const fn is_agreed(&self) -> bool {
        self.agreed
    }

    /// The header of the next datagram, which holds `data` or not; `None` without an agreement.
    pub fn next_header(&mut self, data: bool) -> Option<FeedbackHeader> {
        if !self.agreed {
            return None;
        }
        let opens = !std::mem::replace(&mut self.opened, true);
        Some(FeedbackHeader { opens, replies: self.heard, data, ..FeedbackHeader::default() })
    }

    /// Whether a header of the peer says what is not known.
    pub fn is_news(&self, header: &FeedbackHeader) -> bool {
        !self.heard || header.code.bytes_per_sec().is_some()
    }

    /// A datagram of the peer had this header. Returns what switches have written into it.
    pub fn on_header(&mut self, header: &FeedbackHeader) -> Option<Code> {
        self.heard = true;
        Some(header.code).filter(|code| self.agreed && code.bytes_per_sec().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_header_opens_and_those_after_the_peer_s_reply() {
        let mut feedback = PathFeedback::default();
        assert_eq!(feedback.next_header(true), None);
        feedback.agree();
        let first = feedback.next_header(true).unwrap();
        assert!(first.opens && !first.replies && first.data);
        let second = feedback.next_header(false).unwrap();
        assert!(!second.opens && !second.replies && !second.data);
        assert!(feedback.is_news(&first));
        assert_eq!(feedback.on_header(&first), None, "nobody has written");
        assert!(!feedback.is_news(&first));
        assert!(feedback.next_header(false).unwrap().replies);
    }

    #[test]
    fn codes_count_only_where_both_ends_have_agreed() {
        let told = FeedbackHeader { code: Code::new(12_005), ..FeedbackHeader::default() };
        let mut feedback = PathFeedback::default();
        assert_eq!(feedback.on_header(&told), None);
        feedback.agree();
        assert_eq!(feedback.on_header(&told), Some(Code::new(12_005)));
        let empty = FeedbackHeader { code: Code::new(7), ..told };
        assert_eq!(feedback.on_header(&empty), None);
    }
}

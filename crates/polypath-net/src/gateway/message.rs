//! What the datagrams of a gateway's flows are (docs/tunnel.md, section 6).

use bytes::Bytes;
use polypath_ip::{ConversationKey, ConversationKeyError};

/// The first byte of what is no packet: the version of IP is in that of one.
const ANSWER_HERE: u8 = 0;

/// A datagram of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datagram {
    /// What is there is an IP packet, if anything.
    Packet,
    /// The hub is to send this conversation in the flow that this came by.
    AnswerHere(ConversationKey),
}

/// Tells the hub by which flow it is to send a conversation.
pub(super) fn answer_here(conversation: &ConversationKey) -> Bytes {
    let mut bytes = vec![ANSWER_HERE];
    bytes.extend(conversation.encode());
    bytes.into()
}

impl Datagram {
    /// What has come from an edge.
    ///
    /// # Errors
    /// When it names no conversation and should.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, ConversationKeyError> {
        match bytes {
            [ANSWER_HERE, key @ ..] => ConversationKey::decode(key).map(Self::AnswerHere),
            _ => Ok(Self::Packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 15] = [4, 17, 1, 192, 0, 2, 1, 192, 0, 2, 2, 0, 9, 0, 53];

    #[test]
    fn messages_are_told_from_packets() {
        let key = ConversationKey::decode(&KEY).unwrap();
        let message = answer_here(&key);
        assert_eq!(message[..], [&[0], &KEY[..]].concat());
        assert_eq!(Datagram::read(&message), Ok(Datagram::AnswerHere(key)));
        for packet in [&[][..], &[0x45], &[0x60], &[0xff]] {
            assert_eq!(Datagram::read(packet), Ok(Datagram::Packet));
        }
        assert!(Datagram::read(&message[..8]).is_err());
    }
}

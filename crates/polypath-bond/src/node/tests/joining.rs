//! The first stream of a path: one message each way, of one version, and nothing behind it.

use super::*;
use crate::codec::{JoinRefusal, JoinReply};
use noq_proto::{Dir, StreamId};

/// The first bidirectional stream.
pub(super) fn first() -> StreamId {
    StreamId::new(noq_proto::Side::Client, Dir::Bi, 0)
}

pub(super) fn accepted() -> JoinReply {
    JoinReply::Accepted { parameters: Bond::parameters(&BondConfig::default()) }
}

pub(super) fn reply(reply: &JoinReply) -> Bytes {
    let mut message = BytesMut::new();
    reply.encode(&mut message);
    message.freeze()
}

/// Both messages.
fn both(one: &Bytes, other: &[u8]) -> Bytes {
    Bytes::from([one, other].concat())
}

impl Pair {
    /// The stranger, as an edge, opens the stream and says this first.
    fn open(&mut self, bytes: &[u8]) {
        assert!(Exchange::open(self.quic()));
        self.say_on_stream(bytes);
    }

    /// The stranger says more on the stream.
    fn say_on_stream(&mut self, bytes: &[u8]) {
        let written = self.quic().send_stream(first()).write(bytes);
        assert_eq!(written.unwrap(), bytes.len());
        self.run();
    }

    /// What the hub has answered.
    fn answer(&mut self) -> Option<JoinReply> {
        let mut exchange = Exchange::default();
        exchange.pump_in(self.quic());
        exchange.receive(JoinReply::decode).unwrap()
    }

    /// An edge whose join this hub has heard.
    fn asked() -> (Self, BondKey) {
        let (mut pair, bond) = Self::edge(RECOMMENDED);
        pair.run();
        while pair.node.poll_event().is_some() {}
        assert_eq!(pair.quic().streams().accept(Dir::Bi), Some(first()));
        (pair, bond)
    }
}

/// What follows the version is of that version's form: short, long or without an end.
#[test]
fn a_join_of_another_version_is_answered_so_whatever_follows() {
    let ours = message(&join());
    let mut newer = ours.to_vec();
    newer[2] = 2;
    for said in [&newer, &both(&newer.clone().into(), b"more").to_vec(), &vec![0x7f, 0xff, 2]] {
        let mut pair = Pair::hub(RECOMMENDED);
        pair.open(said);
        let Some(JoinReply::Refused { code, reason }) = pair.answer() else { panic!("{said:?}") };
        assert_eq!(code, JoinRefusal::Version, "{said:?}");
        assert_eq!(reason, "this hub speaks protocol version 1, the join is of version 2");
        assert_eq!(pair.node.bonds().count(), 0);
    }
}

#[test]
fn a_join_that_cannot_be_read_is_answered_so() {
    let mut pair = Pair::hub(RECOMMENDED);
    pair.open(&[2, 1, 0]);
    let answer = pair.answer();
    let malformed = JoinRefusal::Malformed;
    assert!(matches!(answer, Some(JoinReply::Refused { code, .. }) if code == malformed));
}

#[test]
fn an_edge_is_told_which_version_the_hub_speaks() {
    let (mut pair, bond) = Pair::asked();
    let (code, reason) = (JoinRefusal::Version, "this hub speaks protocol version 7".to_owned());
    pair.say_on_stream(&reply(&JoinReply::Refused { code, reason: reason.clone() }));
    let path = PathId::default();
    let refused = NodeEvent::PathRefused { bond, path, code, reason };
    assert_eq!(pair.node.poll_event(), Some(refused));
}

#[test]
fn bytes_behind_a_join_are_a_violation() {
    let mut pair = Pair::hub(RECOMMENDED);
    pair.open(&both(&message(&join()), &[0]));
    assert_eq!(pair.closed_with(), Some(CloseCode::ProtocolViolation));
    assert_eq!(pair.node.bonds().count(), 0, "nothing of it is taken");
}

#[test]
fn bytes_that_come_long_after_a_join_are_a_violation() {
    let mut pair = Pair::hub(RECOMMENDED);
    pair.open(&message(&join()));
    let key = pair.node.bonds().next().expect("the hub has a bond");
    assert!(pair.is_joined(key));
    assert_eq!(pair.closed_with(), None);
    pair.say_on_stream(&message(&join()));
    assert_eq!(pair.closed_with(), Some(CloseCode::ProtocolViolation));
    assert!(!pair.is_joined(key));
}

#[test]
fn bytes_behind_a_reply_are_a_violation() {
    for apart in [false, true] {
        let (mut pair, key) = Pair::asked();
        if apart {
            pair.say_on_stream(&reply(&accepted()));
            assert!(matches!(pair.node.poll_event(), Some(NodeEvent::PathJoined { .. })));
            assert_eq!(pair.closed_with(), None);
            pair.say_on_stream(&[0]);
        } else {
            pair.say_on_stream(&both(&reply(&accepted()), &[0]));
        }
        assert_eq!(pair.closed_with(), Some(CloseCode::ProtocolViolation), "apart: {apart}");
        let lost = pair.node.poll_event();
        assert!(matches!(lost, Some(NodeEvent::PathLost { .. })), "apart: {apart}: {lost:?}");
        assert!(!pair.is_joined(key));
    }
}

#[test]
fn a_hub_that_opens_a_stream_violates_the_protocol() {
    let (mut pair, _) = Pair::asked();
    let id = pair.quic().streams().open(Dir::Bi).expect("one is granted");
    pair.quic().send_stream(id).write(&[0]).unwrap();
    pair.run();
    assert_eq!(pair.closed_with(), Some(CloseCode::ProtocolViolation));
}

/// Each says how to create the bond, for no one of them need be the first to arrive.
#[test]
fn creating_a_bond_twice_takes_its_secret() {
    for (secret, expected) in [(2, None), (3, Some(JoinRefusal::BadProof))] {
        let mut pair = Pair::hub(RECOMMENDED);
        pair.join();
        let mut again = join();
        again.create = Some(BondSecret::new([secret; 32]));
        pair.stranger = End::new(address(STRANGER), None);
        pair.stranger.connect(pair.instant(), to_hub(RECOMMENDED), address(NODE));
        pair.run();
        pair.open(&message(&again));
        let refused = match pair.answer() {
            Some(JoinReply::Refused { code, .. }) => Some(code),
            Some(JoinReply::Accepted { .. }) => None,
            None => panic!("no answer to secret {secret}"),
        };
        assert_eq!(refused, expected, "secret {secret}");
    }
}

/// The hub closes all connections once it has the close and has said its own, which may come later
/// on one path than the end of the connection does on another.
#[test]
fn a_path_that_ends_with_its_bond_is_not_lost() {
    for closed in [true, false] {
        let (mut pair, key) = Pair::asked();
        pair.say_on_stream(&reply(&accepted()));
        if closed {
            let now = pair.now;
            pair.bond(key).close(CloseCode::NoError.to_wire(), "done", now);
            pair.run();
        }
        let (now, code) = (pair.instant(), VarInt::from_u32(CloseCode::BondClosed as u32));
        pair.quic().close(now, code, Bytes::new());
        pair.run();
        let mut events = std::iter::from_fn(|| pair.node.poll_event());
        let lost = events.any(|event| matches!(event, NodeEvent::PathLost { .. }));
        assert_eq!(lost, !closed, "closed here: {closed}");
        assert!(pair.bond(key).is_closed());
    }
}

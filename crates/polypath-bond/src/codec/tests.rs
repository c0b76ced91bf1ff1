//! Properties of the whole codec.

use super::varint::MAX_VARINT;
use super::*;
use crate::identity::BondSecret;
use bytes::{Bytes, BytesMut};
use polypath_core::failure::{Query, Suspect, SuspicionReport};
use polypath_units::{PathId, PathSet};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use std::num::NonZeroU8;
use std::ops::Range;
use std::time::Duration;

fn number() -> impl Strategy<Value = u64> {
    // Each size of varint is as likely as the others.
    prop_oneof![0..1u64 << 6, 0..1u64 << 14, 0..1u64 << 30, 0..=MAX_VARINT]
}

/// Leaves room for the longest data behind it.
fn position() -> impl Strategy<Value = u64> {
    number().prop_map(|n| n.min(MAX_VARINT - 4096))
}

fn path() -> impl Strategy<Value = PathId> {
    (0..64u8).prop_map(|n| PathId::new(n).unwrap())
}

fn data(min: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), min..200).prop_map(Bytes::from)
}

fn stream_frame() -> impl Strategy<Value = Frame> {
    (position(), number().prop_map(StreamId), position(), any::<bool>())
        .prop_flat_map(|(dsn, id, offset, fin)| {
            data(usize::from(!fin)).prop_map(move |data| StreamFrame { dsn, id, offset, fin, data })
        })
        .prop_map(Frame::Stream)
}

fn datagram_frame() -> impl Strategy<Value = Frame> {
    (number().prop_map(FlowId), number(), data(0))
        .prop_map(|(flow, seq, data)| Frame::Datagram(DatagramFrame { flow, seq, data }))
}

fn fragment_frame() -> impl Strategy<Value = Frame> {
    (number().prop_map(FlowId), number(), 0..60_000usize, 0..5_000usize, data(1)).prop_map(
        |(flow, seq, offset, behind, data)| {
            let total = offset + data.len() + behind;
            Frame::Fragment(FragmentFrame { flow, seq, total, offset, data })
        },
    )
}

/// Ranges above `next`, and `next` itself.
fn ranges() -> impl Strategy<Value = (u64, Vec<Range<u64>>)> {
    let steps = vec((1..1u64 << 32, 1..1u64 << 32), 0..=MAX_ACK_RANGES);
    (0..1u64 << 60, steps).prop_map(|(next, steps)| {
        let mut end = next;
        let ranges = steps.into_iter().map(|(gap, len)| {
            let start = end + gap;
            end = start + len;
            start..end
        });
        (next, ranges.collect())
    })
}

fn ack_frame() -> impl Strategy<Value = Frame> {
    let arrivals = btree_map(path(), number(), 0..=64);
    (ranges(), 0..1u64 << 60, ranges(), arrivals).prop_map(|(dsn, credit, control, arrivals)| {
        Frame::Ack(AckFrame {
            rcv_nxt: dsn.0,
            window: dsn.0 + credit,
            ranges: dsn.1,
            control_nxt: control.0,
            control_ranges: control.1,
            arrivals: arrivals.into_iter().map(|(path, bytes)| Arrival { path, bytes }).collect(),
        })
    })
}

fn flow_time() -> impl Strategy<Value = Option<Duration>> {
    prop::option::of((0..=60_000_000u64).prop_map(Duration::from_micros))
}

fn redundancy() -> impl Strategy<Value = Redundancy> {
    let copies = (0..=64u8).prop_map(NonZeroU8::new);
    (copies, flow_time(), prop::option::of(0..1_000_000u32))
        .prop_map(|(copies, rtt_above, loss_above)| Redundancy { copies, rtt_above, loss_above })
}

/// Paths of which all have a weight or none has.
fn path_list(weighted: bool) -> impl Strategy<Value = PathList> {
    let listed =
        move |(path, weight)| ListedPath { path, weight: if weighted { weight } else { 0 } };
    let paths = btree_map(path(), 1..=MAX_WEIGHT, 0..=MAX_LISTED_PATHS)
        .prop_map(move |paths| paths.into_iter().map(listed).collect::<Vec<_>>());
    paths.prop_shuffle().prop_map(|paths| PathList::new(&paths).unwrap())
}

fn flow_config() -> impl Strategy<Value = FlowConfig> {
    let alone = [FlowMode::Aggregate, FlowMode::Best, FlowMode::PriorityBased];
    let mode = prop_oneof![
        (0..=1_000_000u32, path_list(false)).prop_map(|(copy_share, paths)| FlowConfig {
            copy_share,
            paths,
            ..FlowConfig::of(FlowMode::SmallestDelay)
        }),
        (prop::sample::select(alone.to_vec()), path_list(false))
            .prop_map(|(mode, paths)| FlowConfig { paths, ..FlowConfig::of(mode) }),
        (redundancy(), path_list(false)).prop_map(|(redundancy, paths)| FlowConfig {
            redundancy,
            paths,
            ..FlowConfig::of(FlowMode::Redundant)
        }),
        any::<bool>()
            .prop_flat_map(path_list)
            .prop_map(|paths| FlowConfig { paths, ..FlowConfig::of(FlowMode::LoadBalancing) }),
    ];
    (mode, flow_time(), any::<bool>()).prop_map(|(config, resequence, resend)| FlowConfig {
        resequence,
        resend,
        ..config
    })
}

fn control() -> impl Strategy<Value = Control> {
    let stream = || number().prop_map(StreamId);
    let flow = || number().prop_map(FlowId);
    prop_oneof![
        number().prop_map(|max| Control::MaxData { max }),
        (stream(), number()).prop_map(|(id, max)| Control::MaxStreamData { id, max }),
        (0..=1u64 << 61).prop_map(|max| Control::MaxStreams { max }),
        (stream(), number(), number()).prop_map(|(id, code, final_size)| Control::ResetStream {
            id,
            code,
            final_size
        }),
        (stream(), number()).prop_map(|(id, code)| Control::StopSending { id, code }),
        (path(), number(), any::<bool>())
            .prop_map(|(path, sequence, backup)| Control::PathStatus { path, sequence, backup }),
        path().prop_map(|path| Control::PathRemove { path }),
        (flow(), flow_config()).prop_map(|(flow, config)| Control::FlowOpen { flow, config }),
        flow().prop_map(|flow| Control::FlowClose { flow }),
        (number(), "\\PC{0,64}").prop_map(|(code, reason)| Control::Close { code, reason }),
        (0..1u64 << 60, 0..=1u64 << 60, number()).prop_map(|(first, count, max)| {
            Control::FirstWindow(FirstWindow { streams: first..first + count, max })
        }),
    ]
}

fn suspicion_report() -> impl Strategy<Value = Frame> {
    let suspects = btree_map(path(), any::<u16>(), 0..=64);
    (any::<u16>(), 0..1u64 << 61, 0..1u64 << 60, number(), suspects).prop_map(
        |(query, rcv_nxt, span, window, suspects)| {
            let suspect = |(path, ms): (PathId, u16)| Suspect {
                path,
                silent_for: Duration::from_millis(ms.into()),
            };
            let suspects = suspects.into_iter().map(suspect).collect();
            let max_end = rcv_nxt + span;
            Frame::PathSuspect(SuspicionReport { query, rcv_nxt, max_end, window, suspects })
        },
    )
}

fn query() -> impl Strategy<Value = Frame> {
    (1..=u16::MAX, btree_set(path(), 0..=64)).prop_map(|(id, paths)| {
        Frame::PathQuery(Query { id, paths: paths.into_iter().collect::<PathSet>() })
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        1 => Just(Frame::Padding),
        4 => stream_frame(),
        1 => (position(), 1..4096u64).prop_map(|(dsn, len)| Frame::Skip { dsn, len }),
        2 => datagram_frame(),
        2 => fragment_frame(),
        2 => ack_frame(),
        3 => (number(), control()).prop_map(|(seq, message)| Frame::Control { seq, message }),
        1 => number().prop_map(|id| Frame::Ping { id }),
        1 => number().prop_map(|id| Frame::Pong { id }),
        1 => suspicion_report(),
        1 => query(),
    ]
}

/// Frames of one payload; a decoder makes one of a run of paddings.
fn frames() -> impl Strategy<Value = Vec<Frame>> {
    vec(frame(), 1..6).prop_map(|mut frames| {
        frames.dedup_by(|a, b| *a == Frame::Padding && *b == Frame::Padding);
        frames
    })
}

fn encode(frames: &[Frame], open_end: bool) -> Bytes {
    let mut buf = BytesMut::new();
    for (index, frame) in frames.iter().enumerate() {
        let (last, before) = (open_end && index + 1 == frames.len(), buf.len());
        frame.encode(&mut buf, last);
        assert_eq!(buf.len() - before, frame.encoded_size(last), "{frame:?}");
    }
    buf.freeze()
}

/// What remains of a frame whose data were cut where nothing tells their length.
fn is_shortened(frame: &Frame, whole: &Frame) -> bool {
    match (frame, whole) {
        (Frame::Stream(frame), Frame::Stream(whole)) => {
            let data = whole.data.slice(..frame.data.len());
            *frame == StreamFrame { data, ..whole.clone() }
        }
        (Frame::Datagram(frame), Frame::Datagram(whole)) => {
            let data = whole.data.slice(..frame.data.len());
            *frame == DatagramFrame { data, ..whole.clone() }
        }
        (Frame::Fragment(frame), Frame::Fragment(whole)) => {
            let data = whole.data.slice(..frame.data.len());
            *frame == FragmentFrame { data, ..whole.clone() }
        }
        _ => false,
    }
}

fn join() -> impl Strategy<Value = Join> {
    let key = (any::<bool>(), any::<[u8; 32]>().prop_map(BondSecret::new));
    let rest = (any::<[u8; 16]>(), path(), any::<bool>(), "\\PC{0,16}", parameters());
    (key, rest).prop_map(|((create, key), (bond, path, backup, name, parameters))| Join {
        version: PROTOCOL_VERSION,
        bond: BondId(bond),
        path,
        create: create.then(|| key.clone()),
        proof: if create { BondSecret::NONE } else { key },
        backup,
        name,
        parameters,
    })
}

fn parameters() -> impl Strategy<Value = Parameters> {
    let times = (0..=604_800_000u64, 0..=1_000_000u64);
    (number(), number(), 0..=1u64 << 61, times).prop_map(
        |(initial_window, stream_window, max_streams, (idle, ack))| Parameters {
            initial_window,
            stream_window,
            max_streams,
            idle_timeout: Duration::from_millis(idle),
            max_ack_delay: Duration::from_micros(ack),
        },
    )
}

fn reply() -> impl Strategy<Value = JoinReply> {
    let code = prop_oneof![
        Just(JoinRefusal::Version),
        Just(JoinRefusal::UnknownBond),
        Just(JoinRefusal::BadProof),
        Just(JoinRefusal::NotAllowed),
        Just(JoinRefusal::LimitReached),
        Just(JoinRefusal::Malformed)
    ];
    prop_oneof![
        parameters().prop_map(|parameters| JoinReply::Accepted { parameters }),
        (code, "\\PC{0,64}").prop_map(|(code, reason)| JoinReply::Refused { code, reason }),
    ]
}

proptest! {
    #[test]
    fn frames_survive_the_wire(frames in frames(), open_end: bool) {
        let decoded: Result<Vec<_>, _> = Frames::new(encode(&frames, open_end)).collect();
        prop_assert_eq!(decoded, Ok(frames));
    }

    #[test]
    fn a_cut_payload_yields_only_frames_that_were_there(
        frames in frames(),
        open_end: bool,
        cut: prop::sample::Index,
    ) {
        let payload = encode(&frames, open_end);
        let cut = payload.slice(..cut.index(payload.len()));
        for (index, frame) in Frames::new(cut).map_while(Result::ok).enumerate() {
            let whole = &frames[index];
            let shortened = open_end && index + 1 == frames.len() && is_shortened(&frame, whole);
            prop_assert!(frame == *whole || shortened, "{:?} of {:?}", frame, whole);
        }
    }

    #[test]
    fn what_random_bytes_decode_to_encodes_to_the_same(bytes in vec(any::<u8>(), 0..300)) {
        let mut iter = Frames::new(bytes.into());
        while let Some(Ok(frame)) = iter.next() {
            let again = encode(std::slice::from_ref(&frame), false);
            prop_assert_eq!(Frames::new(again).next(), Some(Ok(frame)));
        }
        prop_assert_eq!(iter.next(), None);
    }

    #[test]
    fn a_changed_byte_never_panics(
        frames in frames(),
        at: prop::sample::Index,
        value: u8,
    ) {
        let mut payload = encode(&frames, true).to_vec();
        let at = at.index(payload.len());
        payload[at] = value;
        let decoded: Vec<_> = Frames::new(payload.into()).collect();
        let errors = decoded.iter().filter(|frame| frame.is_err()).count();
        prop_assert!(errors == 0 || errors == 1 && decoded.last().unwrap().is_err());
    }

    #[test]
    fn joins_survive_the_wire_byte_by_byte(join in join()) {
        let mut whole = BytesMut::new();
        join.encode(&mut whole);
        let (mut fed, last) = (BytesMut::new(), whole.len() - 1);
        for (index, byte) in whole.iter().enumerate() {
            fed.extend_from_slice(&[*byte]);
            let decoded = Join::decode(&mut fed);
            prop_assert_eq!(decoded, Ok((index == last).then(|| join.clone())));
        }
        prop_assert!(fed.is_empty());
    }

    #[test]
    fn replies_survive_the_wire_byte_by_byte(reply in reply()) {
        let mut whole = BytesMut::new();
        reply.encode(&mut whole);
        let (mut fed, last) = (BytesMut::new(), whole.len() - 1);
        for (index, byte) in whole.iter().enumerate() {
            fed.extend_from_slice(&[*byte]);
            let decoded = JoinReply::decode(&mut fed);
            prop_assert_eq!(decoded, Ok((index == last).then(|| reply.clone())));
        }
        prop_assert!(fed.is_empty());
    }

    #[test]
    fn random_bytes_are_no_panic_as_join(bytes in vec(any::<u8>(), 0..200)) {
        let mut buf = BytesMut::from(&bytes[..]);
        if Join::decode(&mut buf) == Ok(None) {
            prop_assert_eq!(&buf[..], &bytes[..]);
        }
        let mut buf = BytesMut::from(&bytes[..]);
        if JoinReply::decode(&mut buf) == Ok(None) {
            prop_assert_eq!(&buf[..], &bytes[..]);
        }
    }
}

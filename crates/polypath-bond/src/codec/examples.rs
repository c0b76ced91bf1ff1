//! Every example of `docs/protocol.md`, and the refusals that it asks for.

use super::flow_config::MAX_FLOW_TIME;
use super::frame::MAX_SILENCE;
use super::join::{MAX_IDLE_TIMEOUT, MAX_JOIN_ACK_DELAY, MAX_NAME};
use super::*;
use crate::identity::BondSecret;
use bytes::{Bytes, BytesMut};
use polypath_brf::{Code, FeedbackHeader};
use polypath_core::failure::{Query, Suspect, SuspicionReport};
use polypath_units::{PathId, PathSet};
use std::collections::BTreeSet;
use std::num::NonZeroU8;
use std::ops::Range;
use std::time::Duration;

const PROTOCOL: &str = include_str!("../../../../docs/protocol.md");

/// The indented lines of hexadecimal in the document, without blanks.
fn documented() -> BTreeSet<String> {
    let code = PROTOCOL.lines().filter_map(|line| line.strip_prefix("    "));
    let hex = |line: &&str| line.bytes().all(|b| b == b' ' || b.is_ascii_hexdigit());
    code.filter(hex).map(|line| line.replace(' ', "")).collect()
}

fn bytes(hex: &str) -> BytesMut {
    let hex: String = hex.split_whitespace().collect();
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn path(number: u8) -> PathId {
    PathId::new(number).unwrap()
}

fn control(seq: u64, message: Control) -> (Frame, bool) {
    (Frame::Control { seq, message }, false)
}

/// Each frame of the examples, and whether it is encoded as the last of its payload.
fn frame_examples() -> Vec<(Frame, bool)> {
    let ms = Duration::from_millis;
    vec![
        (Frame::Padding, false),
        (Frame::Skip { dsn: 10_000, len: 1200 }, false),
        (Frame::Ping { id: 7 }, false),
        (Frame::Pong { id: 7 }, false),
        (stream(false), true),
        (stream(true), false),
        (datagram(), true),
        (datagram(), false),
        (fragment(), true),
        (fragment(), false),
        (ack(), false),
        control(3, Control::MaxData { max: 1_000_000 }),
        control(4, Control::MaxStreamData { id: StreamId(4), max: 65_536 }),
        control(5, Control::MaxStreams { max: 100 }),
        control(6, Control::ResetStream { id: StreamId(4), code: 1, final_size: 1200 }),
        control(7, Control::StopSending { id: StreamId(5), code: 2 }),
        control(8, Control::PathStatus { path: path(1), sequence: 2, backup: true }),
        control(9, Control::PathRemove { path: path(1) }),
        control(
            10,
            Control::FlowOpen {
                flow: FlowId(0),
                config: FlowConfig {
                    resequence: Some(ms(20)),
                    ..FlowConfig::of(FlowMode::Redundant)
                },
            },
        ),
        control(11, Control::FlowClose { flow: FlowId(0) }),
        control(12, Control::Close { code: 0, reason: "bye".to_owned() }),
        control(13, Control::FirstWindow(FirstWindow { streams: 8..24, max: 1_048_576 })),
        control(14, Control::FlowOpen { flow: FlowId(4), config: balanced() }),
        control(15, Control::FlowOpen { flow: FlowId(8), config: seldom_redundant() }),
        control(16, Control::FlowOpen { flow: FlowId(12), config: copied_cheaply() }),
        (Frame::PathSuspect(report()), false),
        (Frame::PathQuery(Query { id: 9, paths: PathSet::only(path(1)) }), false),
    ]
}

fn balanced() -> FlowConfig {
    let listed = [(1, 80), (0, 20)].map(|(to, weight)| ListedPath { path: path(to), weight });
    let paths = PathList::new(&listed).unwrap();
    FlowConfig { paths, resend: true, ..FlowConfig::of(FlowMode::LoadBalancing) }
}

fn seldom_redundant() -> FlowConfig {
    let redundancy = Redundancy {
        copies: NonZeroU8::new(2),
        rtt_above: Some(Duration::from_millis(80)),
        loss_above: Some(10_000),
    };
    FlowConfig { redundancy, ..FlowConfig::of(FlowMode::Redundant) }
}

fn copied_cheaply() -> FlowConfig {
    let resend = true;
    FlowConfig { copy_share: 50_000, resend, ..FlowConfig::of(FlowMode::SmallestDelay) }
}

fn stream(fin: bool) -> Frame {
    let data = Bytes::from_static(b"hi");
    Frame::Stream(StreamFrame { dsn: 10_000, id: StreamId(4), offset: 1200, fin, data })
}

fn datagram() -> Frame {
    let data = Bytes::from_static(b"hi");
    Frame::Datagram(DatagramFrame { flow: FlowId(0), seq: 7, data })
}

fn fragment() -> Frame {
    let (total, offset, data) = (9000, 1200, Bytes::from_static(b"hi"));
    Frame::Fragment(FragmentFrame { flow: FlowId(0), seq: 7, total, offset, data })
}

fn ack() -> Frame {
    Frame::Ack(AckFrame {
        rcv_nxt: 10_000,
        window: 1_000_000,
        ranges: vec![Range { start: 11_200, end: 12_400 }],
        control_nxt: 5,
        control_ranges: vec![Range { start: 7, end: 8 }],
        arrivals: vec![
            Arrival { path: path(0), bytes: 20_000 },
            Arrival { path: path(1), bytes: 5000 },
        ],
    })
}

fn report() -> SuspicionReport {
    let suspect = Suspect { path: path(1), silent_for: Duration::from_millis(250) };
    SuspicionReport {
        query: 9,
        rcv_nxt: 10_000,
        max_end: 12_400,
        window: 300_000,
        suspects: vec![suspect],
    }
}

fn parameters() -> Parameters {
    Parameters {
        initial_window: 1_000_000,
        stream_window: 262_144,
        max_streams: 100,
        idle_timeout: Duration::from_secs(30),
        max_ack_delay: Duration::from_millis(5),
    }
}

fn join_examples() -> [Join; 2] {
    let key = BondSecret::new(std::array::from_fn(|at| 0x20 + at as u8));
    let create = Join {
        version: PROTOCOL_VERSION,
        bond: BondId(std::array::from_fn(|at| at as u8)),
        path: path(0),
        create: Some(key.clone()),
        proof: BondSecret::NONE,
        backup: false,
        name: "lte".to_owned(),
        parameters: parameters(),
    };
    let further = Join {
        path: path(1),
        create: None,
        proof: key,
        backup: true,
        name: "5g".to_owned(),
        ..create.clone()
    };
    [create, further]
}

fn reply_examples() -> [JoinReply; 2] {
    let (code, reason) = (JoinRefusal::UnknownBond, "no bond".to_owned());
    [JoinReply::Accepted { parameters: parameters() }, JoinReply::Refused { code, reason }]
}

fn encoded(encode: impl FnOnce(&mut BytesMut)) -> String {
    let mut buf = BytesMut::new();
    encode(&mut buf);
    hex(&buf)
}

fn header_examples() -> [FeedbackHeader; 3] {
    let nothing = FeedbackHeader::default();
    [
        FeedbackHeader { opens: true, data: true, ..nothing },
        FeedbackHeader { replies: true, code: Code::new(12_005), ..nothing },
        FeedbackHeader { replies: true, closes: true, ..nothing },
    ]
}

#[test]
fn the_examples_of_the_document_are_what_is_encoded() {
    let frames = frame_examples();
    let frames = frames.iter().map(|(frame, last)| encoded(|buf| frame.encode(buf, *last)));
    let joins = join_examples();
    let joins = joins.iter().map(|join| encoded(|buf| join.encode(buf)));
    let replies = reply_examples();
    let replies = replies.iter().map(|reply| encoded(|buf| reply.encode(buf)));
    let headers = header_examples();
    let headers = headers.iter().map(|header| {
        let mut buf = Vec::new();
        header.encode(&mut buf);
        assert_eq!(FeedbackHeader::decode(&buf), Some(*header));
        hex(&buf)
    });
    let all = frames.chain(joins).chain(replies).chain(headers);
    assert_eq!(all.collect::<BTreeSet<_>>(), documented());
}

#[test]
fn the_close_codes_of_the_document_are_those_of_the_code() {
    for code in CloseCode::ALL {
        let row = format!("| {:#04x} | `{code}` |", code.to_wire());
        assert!(PROTOCOL.contains(&row), "{row}");
        assert_eq!(CloseCode::from_wire(code.to_wire()), code);
    }
    assert_eq!(CloseCode::from_wire(0x99), CloseCode::InternalError);
}

#[test]
fn a_stream_frame_takes_a_dsn_for_its_end() {
    let Frame::Stream(end) = stream(true) else { unreachable!() };
    assert_eq!(end.dsn_range(), 10_000..10_003);
    assert_eq!(end.offset + end.data.len() as u64, 1202);
}

fn refused(hex: &str) -> DecodeError {
    let mut frames = Frames::new(bytes(hex).freeze());
    let error = frames.find_map(Result::err).expect(hex);
    assert_eq!(frames.next(), None, "frames behind an error");
    error
}

fn refused_field(hex: &str) -> &'static str {
    match refused(hex) {
        DecodeError::OutOfRange { field, .. }
        | DecodeError::Overflow { field }
        | DecodeError::Repeated { field }
        | DecodeError::Text { field }
        | DecodeError::Truncated { field } => field,
        other => panic!("{hex}: {other}"),
    }
}

#[test]
fn unknown_types_are_refused() {
    assert_eq!(refused("01 07 10"), DecodeError::UnknownFrame(0x10));
    // Types have one form, unlike other integers.
    assert_eq!(refused("4001 07"), DecodeError::UnknownFrame(0x40));
    assert_eq!(refused("05 00 0b"), DecodeError::UnknownControl(0x0b));
}

#[test]
fn values_outside_their_limits_are_refused() {
    for (field, hex) in [
        ("STREAM length", "08 00 00 00"),
        ("STREAM length", "09 00 00 00 00"),
        ("FRAGMENT total", "0e 00 07 800101d1 00 61"),
        ("FRAGMENT offset", "0e 00 07 05 06 61"),
        ("FRAGMENT length", "0e 00 07 05 04"),
        ("FRAGMENT length", "0e 00 07 05 04 6161"),
        ("FRAGMENT length", "0f 00 07 05 04 00"),
        ("SKIP length", "04 00 00"),
        ("ACK window", "03 05 04 00 00 00 00"),
        ("ACK ranges", "03 00 00 21"),
        ("ACK CONTROL ranges", "03 00 00 00 00 21"),
        ("ACK arrivals", "03 00 00 00 00 00 4041"),
        ("path", "05 00 06 4040"),
        ("limit on streams", "05 00 02 e000000000000001"),
        ("PATH_STATUS backup", "05 00 05 00 00 02"),
        ("FLOW_OPEN mode", "05 00 07 00 06 00 00"),
        ("FLOW_OPEN resequencing", "05 00 07 00 00 83938702"),
        ("FLOW_OPEN resending", "05 00 07 00 00 00 02"),
        ("FLOW_OPEN number of paths", "05 00 07 00 00 00 00 09"),
        ("FLOW_OPEN copies", "05 00 07 00 01 00 00 00 4041"),
        ("FLOW_OPEN RTT", "05 00 07 00 01 00 00 00 00 83938702"),
        ("FLOW_OPEN loss", "05 00 07 00 01 00 00 00 00 00 800f4241"),
        ("FLOW_OPEN share of copies", "05 00 07 00 03 00 00 00 800f4241"),
        ("FLOW_OPEN weight", "05 00 07 00 05 00 00 01 00 4065"),
        ("FLOW_OPEN weight", "05 00 07 00 05 00 00 02 00 01 05 00"),
        ("reason", "05 00 09 00 4101"),
        ("FIRST_WINDOW first index", "05 00 0a e000000000000001 00 00"),
        ("FIRST_WINDOW number of streams", "05 00 0a e000000000000000 01 00"),
        ("PATH_SUSPECT end", "06 00 05 04 00 00"),
        ("PATH_SUSPECT query", "06 80010000 00 00 00 00"),
        ("PATH_SUSPECT silence", "06 00 00 00 00 01 00 80010000"),
        ("PATH_QUERY ID", "07 00 00"),
    ] {
        assert!(matches!(refused(hex), DecodeError::OutOfRange { .. }), "{hex}");
        assert_eq!(refused_field(hex), field, "{hex}");
    }
}

#[test]
fn ranges_that_end_too_high_are_refused() {
    for (field, hex) in [
        ("STREAM DSN range", "08 ffffffffffffffff 00 00 61"),
        ("STREAM DSN range", "0a ffffffffffffffff 00 00"),
        ("STREAM offset range", "08 00 00 ffffffffffffffff 61"),
        ("SKIP DSN range", "04 01 ffffffffffffffff"),
        ("ACK ranges", "03 00 00 01 ffffffffffffffff 00"),
        ("ACK CONTROL ranges", "03 00 00 00 00 01 00 ffffffffffffffff"),
    ] {
        assert_eq!(refused(hex), DecodeError::Overflow { field }, "{hex}");
    }
}

#[test]
fn a_path_named_twice_is_refused() {
    for (field, hex) in [
        ("ACK arrivals", "03 00 00 00 00 00 02 01 00 01 00"),
        ("FLOW_OPEN paths", "05 00 07 00 00 00 00 02 01 01"),
        ("PATH_SUSPECT paths", "06 00 00 00 00 02 01 00 01 00"),
        ("PATH_QUERY paths", "07 01 02 01 01"),
    ] {
        assert_eq!(refused(hex), DecodeError::Repeated { field }, "{hex}");
    }
}

#[test]
fn data_longer_than_the_payload_are_refused() {
    assert_eq!(refused("09 00 00 00 02 61"), DecodeError::Truncated { field: "data" });
    assert_eq!(refused("0d 00 00 02 61"), DecodeError::Truncated { field: "data" });
    assert_eq!(refused("0f 00 00 05 00 02 61"), DecodeError::Truncated { field: "data" });
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    assert_eq!(refused("05 00 09 00 01 ff"), DecodeError::Text { field: "reason" });
}

#[test]
fn what_is_too_much_for_the_wire_is_cut() {
    let (frame, _) = control(0, Control::Close { code: 0, reason: "é".repeat(200) });
    let (got, _) = control(0, Control::Close { code: 0, reason: "é".repeat(128) });
    assert_eq!(Frames::new(bytes(&sent(&frame)).freeze()).next(), Some(Ok(got)));

    let ranges: Vec<_> = (1..=40).map(|n| n * 10..n * 10 + 1).collect();
    let lowest = ranges[..MAX_ACK_RANGES].to_vec();
    let frame = Frame::Ack(AckFrame { ranges, ..AckFrame::default() });
    let got = Frame::Ack(AckFrame { ranges: lowest, ..AckFrame::default() });
    assert_eq!(Frames::new(bytes(&sent(&frame)).freeze()).next(), Some(Ok(got)));
}

#[test]
fn times_and_names_that_are_too_long_are_cut() {
    let too_long = Duration::from_secs(8 * 24 * 3600);
    let suspect = Suspect { path: path(1), silent_for: too_long };
    let frame = Frame::PathSuspect(SuspicionReport { suspects: vec![suspect], ..report() });
    let Some(Ok(Frame::PathSuspect(got))) = Frames::new(bytes(&sent(&frame)).freeze()).next()
    else {
        panic!("{frame:?} is refused")
    };
    assert_eq!(got.suspects[0].silent_for, MAX_SILENCE);

    let open = |time| {
        let redundancy = Redundancy { rtt_above: Some(time), ..Redundancy::default() };
        let resequence = Some(time);
        let config = FlowConfig { redundancy, resequence, ..FlowConfig::of(FlowMode::Redundant) };
        control(0, Control::FlowOpen { flow: FlowId(0), config }).0
    };
    let (frame, got) = (open(too_long), open(MAX_FLOW_TIME));
    assert_eq!(Frames::new(bytes(&sent(&frame)).freeze()).next(), Some(Ok(got)));

    let [mut join, _] = join_examples();
    join.name = "n".repeat(MAX_NAME + 1);
    join.parameters.idle_timeout = too_long;
    join.parameters.max_ack_delay = too_long;
    let got = Join::decode(&mut bytes(&encoded(|buf| join.encode(buf)))).unwrap().unwrap();
    assert_eq!(got.name.len(), MAX_NAME);
    assert_eq!(got.parameters.idle_timeout, MAX_IDLE_TIMEOUT);
    assert_eq!(got.parameters.max_ack_delay, MAX_JOIN_ACK_DELAY);
}

/// The frame in hexadecimal; it takes the size that it tells.
fn sent(frame: &Frame) -> String {
    let hex = encoded(|buf| frame.encode(buf, false));
    assert_eq!(hex.len(), 2 * frame.encoded_size(false), "{frame:?}");
    hex
}

#[test]
#[should_panic(expected = "ACK ranges out of order")]
fn ranges_that_touch_are_a_defect_of_the_caller() {
    let ranges = vec![Range { start: 5, end: 7 }, Range { start: 7, end: 9 }];
    sent(&Frame::Ack(AckFrame { ranges, ..AckFrame::default() }));
}

fn changed_join(at: usize, value: u8) -> Result<Option<Join>, DecodeError> {
    let mut buf = BytesMut::new();
    join_examples()[0].encode(&mut buf);
    buf[at] = value;
    Join::decode(&mut buf)
}

#[test]
fn joins_that_no_edge_sends_are_refused() {
    // Two bytes of length stand before the fields.
    let allowed = "0 to 63";
    let path = DecodeError::OutOfRange { field: "path", value: 16_384, allowed };
    let mut long_path = bytes("4000 01 000102030405060708090a0b0c0d0e0f 80004000");
    long_path[1] = long_path.len() as u8 - 2;
    assert_eq!(Join::decode(&mut long_path), Err(path));
    let flags = DecodeError::OutOfRange { field: "join flags", value: 4, allowed: "0 to 3" };
    assert_eq!(changed_join(2 + 1 + 16 + 1, 4), Err(flags));
    let truncated = DecodeError::Truncated { field: "max ACK delay" };
    assert_eq!(changed_join(1, 0x46), Err(truncated));
}

/// What stands behind the version, and how much of it there is, is for others to know.
#[test]
fn a_join_of_another_version_is_told_by_its_version_whatever_follows() {
    for (version, join) in [
        (2, "01 02"),
        (2, "03 02 ffff"),
        (2, "4047 02 00"),
        (2, "7fff 02"),
        (0, "02 00 00 ffffff"),
        (16_384, "8000ffff 80004000"),
    ] {
        assert_eq!(Join::decode(&mut bytes(join)), Err(DecodeError::Version(version)), "{join}");
    }
    assert_eq!(changed_join(2, 2), Err(DecodeError::Version(2)));
    for part in ["", "40", "4047", "4047 40"] {
        assert_eq!(Join::decode(&mut bytes(part)), Ok(None), "{part}");
    }
    let truncated = DecodeError::Truncated { field: "protocol version" };
    for short in ["00", "00 02", "01 4002"] {
        assert_eq!(Join::decode(&mut bytes(short)), Err(truncated), "{short}");
    }
}

#[test]
fn a_join_message_may_not_be_longer_than_1024_bytes() {
    let refusal =
        DecodeError::OutOfRange { field: "message length", value: 1025, allowed: "0 to 1024" };
    assert_eq!(Join::decode(&mut bytes("4401")), Ok(None), "its version is not there yet");
    assert_eq!(Join::decode(&mut bytes("4401 01")), Err(refusal));
    assert_eq!(JoinReply::decode(&mut bytes("4400")), Ok(None));
}

#[test]
fn bytes_behind_the_last_field_of_a_reply_are_refused() {
    let reply = bytes("0b 01 01 07 6e6f20626f6e64 00");
    assert_eq!(JoinReply::decode(&mut reply.clone()), Err(DecodeError::Trailing(1)));
    let unknown = DecodeError::OutOfRange { field: "refusal code", value: 6, allowed: "0 to 5" };
    assert_eq!(JoinReply::decode(&mut bytes("03 01 06 00")), Err(unknown));
}

#[test]
fn a_join_is_taken_from_the_front_and_the_rest_stays() {
    let mut buf = BytesMut::new();
    for join in join_examples() {
        join.encode(&mut buf);
    }
    for join in join_examples() {
        assert_eq!(Join::decode(&mut buf), Ok(Some(join)));
    }
    assert!(buf.is_empty());
}

#[test]
fn the_secret_and_the_proof_are_not_printed() {
    for join in join_examples() {
        let shown = format!("{join:?}");
        assert!(!shown.contains("32") && !shown.contains("20, 21"), "{shown}");
        assert!(shown.contains("BondId(000102030405060708090a0b0c0d0e0f)"), "{shown}");
    }
}

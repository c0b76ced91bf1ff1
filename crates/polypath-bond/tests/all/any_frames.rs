//! A peer that sends any valid frames in any order: no panic, bounded memory, and either the bond
//! goes on or it breaks with the peer's error.
use bytes::{Bytes, BytesMut};
use polypath_bond::codec::{
    AckFrame, Arrival, Control, DatagramFrame, FirstWindow, FlowId, FlowMode, FragmentFrame, Frame,
    Parameters, StreamFrame, StreamId,
};
use polypath_bond::{Bond, BondConfig, BreakReason, Event, FlowConfig, PathSettings, Side};
use polypath_units::{PathId, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

const BUFFER: u64 = 64 << 10;

fn path(n: u8) -> PathId {
    PathId::new(n).unwrap()
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..40, 3 => 0u64..70_000, 1 => 0u64..(1 << 60)]
}

fn control() -> impl Strategy<Value = Control> {
    let id = || (0u64..50).prop_map(StreamId);
    let flow = || number().prop_map(FlowId);
    let reset = |(id, final_size)| Control::ResetStream { id, code: 1, final_size };
    let open = |flow| Control::FlowOpen { flow, config: FlowConfig::of(FlowMode::Aggregate) };
    prop_oneof![
        number().prop_map(|max| Control::MaxData { max }),
        (id(), number()).prop_map(|(id, max)| Control::MaxStreamData { id, max }),
        (0u64..(1 << 60)).prop_map(|max| Control::MaxStreams { max }),
        (id(), number()).prop_map(reset),
        id().prop_map(|id| Control::StopSending { id, code: 2 }),
        (0u8..4, number(), any::<bool>()).prop_map(|(n, sequence, backup)| {
            Control::PathStatus { path: path(n), sequence, backup }
        }),
        (0u8..4).prop_map(|n| Control::PathRemove { path: path(n) }),
        flow().prop_map(open),
        flow().prop_map(|flow| Control::FlowClose { flow }),
        Just(Control::Close { code: 0, reason: String::new() }),
        (0u64..40, 0u64..40, number()).prop_map(|(first, count, max)| {
            Control::FirstWindow(FirstWindow { streams: first..first + count, max })
        }),
    ]
}

fn stream_frame() -> impl Strategy<Value = Frame> {
    let fields = (number(), 0u64..50, number(), any::<bool>(), 1usize..1_200);
    fields.prop_map(|(dsn, id, offset, fin, len)| {
        let data = Bytes::from(vec![3; len]);
        Frame::Stream(StreamFrame { dsn, id: StreamId(id), offset, fin, data })
    })
}

fn ack_frame() -> impl Strategy<Value = Frame> {
    (number(), number(), 0u64..10).prop_map(|(rcv_nxt, more, control_nxt)| {
        let arrivals = vec![Arrival { path: path(0), bytes: more }];
        let (ranges, control_ranges) = (Vec::new(), Vec::new());
        let window = rcv_nxt + more;
        Frame::Ack(AckFrame { rcv_nxt, window, ranges, control_nxt, control_ranges, arrivals })
    })
}

fn fragment() -> impl Strategy<Value = Frame> {
    let fields = (0u64..20, 0u64..20, 0usize..60_000, 1usize..1_200, 0usize..6_000);
    fields.prop_map(|(flow, seq, offset, len, behind)| {
        let (total, data) = (offset + len + behind, Bytes::from(vec![5; len]));
        Frame::Fragment(FragmentFrame { flow: FlowId(flow), seq, total, offset, data })
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        6 => stream_frame(),
        2 => (number(), 1u64..2_000).prop_map(|(dsn, len)| Frame::Skip { dsn, len }),
        1 => ack_frame(),
        4 => (0u64..2_000, control()).prop_map(|(seq, message)| Frame::Control { seq, message }),
        2 => (number(), number(), 0usize..900).prop_map(|(flow, seq, len)| {
            let data = Bytes::from(vec![4; len]);
            Frame::Datagram(DatagramFrame { flow: FlowId(flow), seq, data })
        }),
        2 => fragment(),
        1 => number().prop_map(|id| Frame::Ping { id }),
        1 => number().prop_map(|id| Frame::Pong { id }),
    ]
}

fn bond() -> Bond {
    let config = BondConfig { receive_buffer: BUFFER, max_streams: 20, ..BondConfig::default() };
    let peer = Parameters {
        initial_window: 100_000,
        stream_window: 50_000,
        max_streams: 20,
        idle_timeout: Duration::from_secs(30),
        max_ack_delay: Duration::from_millis(5),
    };
    let mut bond = Bond::new(Side::Hub, config, &peer, Timestamp::ZERO);
    for n in 0..3 {
        let (name, backup, weight) = (n.to_string(), false, 0.0);
        let (max_datagram, packet_overhead) = (1_200, 40);
        let settings =
            PathSettings { name, backup, weight, max_datagram, packet_overhead, rtt: None };
        bond.add_path(path(n), settings, Timestamp::ZERO);
    }
    let stream = bond.open_stream().unwrap();
    bond.write(stream, &Bytes::from(vec![1; 20_000])).unwrap();
    bond.open_flow(FlowConfig::of(FlowMode::Redundant)).unwrap();
    bond
}

fn encode(frame: &Frame) -> Bytes {
    let mut buf = BytesMut::new();
    frame.encode(&mut buf, true);
    buf.freeze()
}

proptest! {
    #[test]
    fn any_frames_break_the_bond_at_most(
        frames in prop::collection::vec((frame(), 0u8..4, 0u64..40, any::<bool>()), 1..120)
    ) {
        let mut bond = bond();
        let mut now = Timestamp::ZERO;
        let mut packets = 0;
        for (frame, on, wait, reads) in frames {
            now += Duration::from_millis(wait);
            bond.on_datagram(path(on), encode(&frame), now);
            prop_assert!(bond.buffered() <= BUFFER);
            prop_assert!(bond.buffer_cost() <= 2 * BUFFER);
            prop_assert!(bond.datagram_cost() <= BUFFER);
            bond.handle_timeout(now);
            for _ in 0..1_000 {
                let Some(transmit) = bond.poll_transmit(now) else { break };
                let size = transmit.datagram.len() as u64 + 40;
                bond.on_packet_sent(transmit.path, packets, size, transmit.payload, now);
                packets += 1;
            }
            prop_assert!(bond.poll_transmit(now).is_none(), "answers without end");
            if reads {
                (0..40).for_each(|id| drop(bond.read(StreamId(id), 5_000, now)));
            }
        }
        for event in std::iter::from_fn(|| bond.poll_event()) {
            if let Event::Broken { reason } = event {
                prop_assert!(matches!(reason, BreakReason::Protocol(_)), "{reason:?}");
            }
        }
    }
}

/// Each of these costs the receiver a range or an entry; none may cost without bound.
#[test]
fn numbers_far_apart_are_refused() {
    let broken = |frame: Frame| {
        let mut bond = bond();
        bond.on_datagram(path(0), encode(&frame), Timestamp::ZERO);
        bond.is_closed()
    };
    let control = |seq| Frame::Control { seq, message: Control::MaxData { max: 0 } };
    assert!(!broken(control(1_023)) && broken(control(1_024)));
    let open = |index| {
        let flow = FlowId::new(Side::Edge, index);
        let message = Control::FlowOpen { flow, config: FlowConfig::of(FlowMode::Best) };
        Frame::Control { seq: 0, message }
    };
    assert!(!broken(open(1_023)) && broken(open(1_024)));
    let mut bond = bond();
    for dsn in 0..30_000 {
        let skip = Frame::Skip { dsn: 2 * dsn + 1, len: 1 };
        bond.on_datagram(path(0), encode(&skip), Timestamp::ZERO);
    }
    let status = bond.status();
    assert!(!bond.is_closed() && status.gaps <= 1_024, "{}", status.gaps);
    assert!(status.counters.fragments_refused > 0);
}

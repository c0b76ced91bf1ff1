//! The tunnel codecs hold on any input: round trip, no panic, every prefix is incomplete.

use std::time::Duration;

use polypath_net::tunnel::*;
use proptest::prelude::*;

fn host() -> impl Strategy<Value = Host> {
    prop_oneof![
        any::<std::net::IpAddr>().prop_map(Host::Ip),
        "[a-z][a-z0-9_-]{0,20}(\\.[a-z][a-z0-9-]{0,20}){0,4}"
            .prop_map(|name| Host::parse(&name).unwrap()),
    ]
}

fn target() -> impl Strategy<Value = Target> {
    (host(), any::<u16>()).prop_map(|(host, port)| Target { host, port })
}

fn request() -> impl Strategy<Value = Request> {
    let name =
        "[^/\\\\:\\p{C}]{3,60}".prop_filter_map("reserved", |name| FileName::new(&name).ok());
    let idle = prop::option::of((1..=u64::from(u16::MAX)).prop_map(Duration::from_secs));
    prop_oneof![
        target().prop_map(Request::Tcp),
        (name, any::<u64>()).prop_map(|(name, size)| Request::File(FileOffer { name, size })),
        (any::<u64>(), idle)
            .prop_map(|(flow, idle_timeout)| Request::Udp(UdpAssociation { flow, idle_timeout })),
    ]
}

fn status() -> impl Strategy<Value = Status> {
    let failure = prop_oneof![
        Just(ConnectFailure::Other),
        Just(ConnectFailure::Refused),
        Just(ConnectFailure::TimedOut),
        Just(ConnectFailure::NetworkUnreachable),
        Just(ConnectFailure::HostUnreachable),
        Just(ConnectFailure::Reset),
    ];
    let kind = prop_oneof![
        Just(RefusalKind::Policy),
        Just(RefusalKind::NameNotResolved),
        failure.prop_map(RefusalKind::ConnectFailed),
        Just(RefusalKind::LimitReached),
        Just(RefusalKind::BadRequest),
        Just(RefusalKind::Storage),
        Just(RefusalKind::NameTaken),
        Just(RefusalKind::Quota),
    ];
    let refusal = (kind, "[a-zäß ]{0,100}").prop_map(|(k, text)| Status::Refused(k.with(text)));
    prop_oneof![Just(Status::Ok), refusal]
}

/// Feeds `wire` byte by byte: each proper prefix must ask for more than it has and not more than
/// there is.
fn decodes_only_when_whole<T: PartialEq + std::fmt::Debug, E: std::fmt::Debug>(
    wire: &[u8],
    expected: &T,
    decode: impl Fn(&[u8]) -> Result<Progress<T>, E>,
) {
    for length in 0..wire.len() {
        match decode(&wire[..length]).unwrap() {
            Progress::NeedMore { total } => assert!(total > length && total <= wire.len()),
            done => panic!("{done:?} after {length} of {} bytes", wire.len()),
        }
    }
    let longer = [wire, b"data"].concat();
    let Ok(Progress::Done { value, used }) = decode(&longer) else { panic!("not decoded") };
    assert_eq!((&value, used), (expected, wire.len()));
}

proptest! {
    #[test]
    fn requests_round_trip(request in request()) {
        let wire = request.encode();
        prop_assert!(wire.len() <= MAX_REQUEST);
        decodes_only_when_whole(&wire, &request, Request::decode);
    }

    #[test]
    fn statuses_round_trip(status in status()) {
        let wire = status.encode();
        prop_assert!(wire.len() <= MAX_STATUS);
        decodes_only_when_whole(&wire, &status, Status::decode);
    }

    #[test]
    fn addresses_round_trip(target in target()) {
        let mut wire = Vec::new();
        target.encode(&mut wire);
        prop_assert!(wire.len() <= MAX_DATAGRAM_HEADER);
        decodes_only_when_whole(&wire, &target, Target::decode);
        prop_assert_eq!(target.to_string().parse::<Target>(), Ok(target));
    }

    #[test]
    fn datagrams_round_trip(target in target(), payload in prop::collection::vec(any::<u8>(), 0..64)) {
        let wire = encode_datagram(&target, &payload);
        for cut in 0..wire.len() - payload.len() {
            let cut = decode_datagram(&wire[..cut]);
            prop_assert!(matches!(cut, Err(DatagramError::Truncated { .. })), "{:?}", cut);
        }
        prop_assert_eq!(decode_datagram(&wire), Ok((target, &payload[..])));
    }

    /// Mostly well-formed beginnings, so that the bytes reach deep into the decoders.
    #[test]
    fn any_bytes_are_decoded_without_panic(
        kind in 0..8u8,
        length in 0..300u16,
        tail in prop::collection::vec(any::<u8>(), 0..400),
        framed in any::<bool>(),
    ) {
        let mut bytes = if framed { vec![VERSION, kind] } else { vec![] };
        if framed {
            bytes.extend(length.to_be_bytes());
        }
        bytes.extend(&tail);
        if let Ok(Progress::NeedMore { total }) = Request::decode(&bytes) {
            prop_assert!(total > bytes.len() && total <= MAX_REQUEST);
        }
        if let Ok(Progress::NeedMore { total }) = Status::decode(&bytes) {
            prop_assert!(total > bytes.len() && total <= MAX_STATUS);
        }
        if let Ok(Progress::NeedMore { total }) = Target::decode(&tail) {
            prop_assert!(total > tail.len() && total <= MAX_DATAGRAM_HEADER);
        }
        if let Ok((_, payload)) = decode_datagram(&tail) {
            prop_assert!(payload.len() < tail.len());
        }
    }

    /// Whatever decodes is a value that this side could have sent: no two readings of one message.
    #[test]
    fn what_decodes_encodes_to_something_that_decodes_alike(
        kind in 1..4u8,
        body in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut bytes = vec![VERSION, kind, 0, body.len() as u8];
        bytes.extend(&body);
        if let Ok(Progress::Done { value, .. }) = Request::decode(&bytes) {
            let again = Request::decode(&value.encode());
            let Ok(Progress::Done { value: again, .. }) = again else { panic!("{again:?}") };
            prop_assert_eq!(again, value);
        }
    }
}

//! What a hub spends on connections that have not joined, and who gets in while there are many.

use super::*;

const SHARE: usize = 8;

fn crowded() -> HubPolicy {
    HubPolicy { max_pending: 16, max_pending_per_address: SHARE, ..HubPolicy::default() }
}

impl Pair {
    /// Somebody at this address [arrives](Pair::arrive).
    fn visit(&mut self, of: u8) -> End {
        let visitor = End::new(address(of), None);
        let ours = std::mem::replace(&mut self.stranger, visitor);
        self.arrive();
        std::mem::replace(&mut self.stranger, ours)
    }

    fn strangers_from(&self, of: u8) -> usize {
        self.node.strangers.from(address(of).ip())
    }
}

#[test]
fn one_address_displaces_its_own_connections_alone() {
    let mut pair = Pair::new(Role::Hub(crowded()), None);
    let quiet = pair.visit(100);
    assert!(quiet.connected());
    for _ in 0..3 * SHARE {
        assert!(pair.visit(101).connected(), "there is room for the newest");
        assert!(pair.strangers_from(101) <= SHARE);
    }
    assert_eq!(pair.strangers_from(101), SHARE);
    assert_eq!(pair.strangers_from(100), 1);
    assert_eq!(pair.node.connections.len(), SHARE + 1);
}

#[test]
fn an_edge_joins_a_hub_that_is_full_of_strangers_from_many_addresses() {
    let mut pair = Pair::new(Role::Hub(crowded()), None);
    for of in 100..200 {
        assert!(pair.visit(of).connected());
        assert!(pair.node.connections.len() <= 16);
    }
    assert_eq!(pair.node.connections.len(), 16);
    pair.arrive();
    let key = pair.join();
    assert!(pair.is_joined(key));
    assert_eq!(pair.strangers_from(STRANGER), 0, "it belongs to a bond");
    for of in 100..200 {
        pair.visit(of);
    }
    assert!(pair.is_joined(key), "who has joined is not displaced");
}

#[test]
fn who_is_displaced_is_told_at_once() {
    let mut pair = Pair::new(Role::Hub(crowded()), None);
    pair.stranger.connect(pair.instant(), to_hub(RECOMMENDED), address(NODE));
    pair.run();
    let index = *pair.node.connections.first_key_value().unwrap().0;
    pair.node.evict(index, pair.now);
    assert!(pair.node.connections.is_empty());
    pair.run();
    assert_eq!(pair.closed_with(), Some(CloseCode::JoinTimeout));
}

#[test]
fn a_path_that_ended_counts_as_a_stranger_until_it_is_forgotten() {
    let mut pair = Pair::hub(RECOMMENDED);
    let key = pair.join();
    assert_eq!(pair.node.strangers.len(), 0);
    pair.node.remove_bond(key, pair.now);
    assert_eq!(pair.strangers_from(STRANGER), 1);
    pair.now += Duration::from_secs(10);
    pair.node.handle_timeout(pair.now);
    assert_eq!((pair.node.strangers.len(), pair.node.connections.len()), (0, 0));
}

/// What is sent behind a hole is kept until the hole is filled. A join message needs 1,026 bytes.
#[test]
fn a_stranger_may_send_few_bytes_of_its_stream() {
    let mut pair = Pair::hub(RECOMMENDED);
    assert!(Exchange::open(pair.quic()));
    let stream = noq_proto::StreamId::new(noq_proto::Side::Client, noq_proto::Dir::Bi, 0);
    let granted = pair.quic().send_stream(stream).write(&[0; 100_000]).unwrap();
    assert!((1_026..=4_096).contains(&granted), "{granted}");
}

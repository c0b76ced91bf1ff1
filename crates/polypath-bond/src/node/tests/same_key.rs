//! Several bonds of one key, from the same address and from others.

use super::*;

impl Pair {
    /// An endpoint at this address takes the place of the stranger, and opens a bond of its own
    /// with the same key. The former stranger, and the bond.
    fn another(&mut self, at: SocketAddr, number: u8) -> (End, BondKey) {
        let former = std::mem::replace(&mut self.stranger, End::new(at, None));
        self.arrive();
        let known: BTreeSet<_> = self.node.bonds().collect();
        assert!(Exchange::open(self.quic()));
        let join = Join { bond: BondId([number; 16]), ..join() };
        Exchange::default().send(self.quic(), message(&join));
        self.run();
        let opened = self.node.bonds().find(|key| !known.contains(key));
        (former, opened.expect("a further bond"))
    }

    /// What the node has told of keys since the last call.
    fn told(&mut self) -> Vec<(BondKey, Vec<SameKey>)> {
        let events = std::iter::from_fn(|| self.node.poll_event());
        let of_keys = events.filter_map(|event| match event {
            NodeEvent::SameKey { bond, others } => Some((bond, others)),
            _ => None,
        });
        of_keys.collect()
    }
}

#[test]
fn a_key_in_use_at_two_places_is_told_once_both_are_heard() {
    let mut pair = Pair::hub(RECOMMENDED);
    let first = pair.join();
    let (former, second) = pair.another(address(3), 3);
    assert_eq!(pair.told(), [], "the first may be what was left behind");
    assert_eq!(pair.node.bonds_of_same_key(first), []);
    assert_eq!(pair.node.bonds_of_same_key(second), []);

    pair.stranger = former;
    pair.say(control(0));
    pair.run();
    let elsewhere = |bond| SameKey { bond, is_elsewhere: true };
    assert_eq!(pair.told(), [(first, vec![elsewhere(second)])]);
    assert_eq!(pair.node.bonds_of_same_key(first), [elsewhere(second)]);
    assert_eq!(pair.node.bonds_of_same_key(second), [elsewhere(first)]);

    // A third makes it true again, but it was told less than a minute ago.
    let (former, _) = pair.another(address(4), 4);
    pair.stranger = former;
    assert_eq!(pair.node.bonds_of_same_key(first), [elsewhere(second)]);
    assert_eq!(pair.told(), []);
}

/// A transfer beside a running edge.
#[test]
fn two_bonds_of_a_key_from_one_address_are_told_apart_from_that() {
    let mut pair = Pair::hub(RECOMMENDED);
    let first = pair.join();
    let (former, second) = pair.another(SocketAddr::new(address(STRANGER).ip(), 5_000), 3);
    pair.stranger = former;
    pair.say(control(0));
    pair.run();
    let here = SameKey { bond: second, is_elsewhere: false };
    assert_eq!(pair.told(), [(first, vec![here])]);
}

#[test]
fn a_bond_that_is_over_does_not_count() {
    let mut pair = Pair::hub(RECOMMENDED);
    let first = pair.join();
    let (former, second) = pair.another(address(3), 3);
    pair.bond(second).break_off(crate::event::BreakReason::Aborted);
    pair.stranger = former;
    pair.say(control(0));
    pair.run();
    assert_eq!(pair.told(), []);
    assert_eq!(pair.node.bonds_of_same_key(first), []);
}

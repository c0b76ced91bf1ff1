//! What changed between two snapshots. Sans-I/O.

use super::{Interface, Snapshot};

/// A change of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Appeared(Interface),
    /// Its addresses, state, routes or name changed.
    Changed {
        /// As it was.
        before: Interface,
        /// As it is.
        after: Interface,
    },
    /// It is gone, or has been replaced by one of another index.
    Vanished(Interface),
}

/// The changes that lead from `before` to `after`: first what vanished, so that a name is free
/// before it appears again, then the others; each by index.
pub(super) fn diff(before: &Snapshot, after: &Snapshot) -> Vec<Change> {
    let vanished = before.values().filter(|i| !after.contains_key(&i.index));
    let vanished = vanished.cloned().map(Change::Vanished);
    let present = after.values().filter_map(|after| match before.get(&after.index) {
        None => Some(Change::Appeared(after.clone())),
        Some(before) if before == after => None,
        Some(before) => Some(Change::Changed { before: before.clone(), after: after.clone() }),
    });
    vanished.chain(present).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Kind;
    use super::*;

    fn interface(index: u32, mtu: u32) -> Interface {
        Interface {
            name: format!("eth{index}"),
            index,
            kind: Kind::Ethernet,
            addresses: vec![],
            mtu,
            up: true,
            running: true,
            default_route_v4: false,
            default_route_v6: false,
        }
    }

    fn snapshot(list: &[(u32, u32)]) -> Snapshot {
        list.iter().map(|&(index, mtu)| (index, interface(index, mtu))).collect()
    }

    #[test]
    fn each_kind_of_change_is_told_vanished_first() {
        let changes =
            diff(&snapshot(&[(2, 1), (3, 1), (4, 1)]), &snapshot(&[(1, 1), (2, 1), (3, 2)]));
        assert_eq!(
            changes,
            [
                Change::Vanished(interface(4, 1)),
                Change::Appeared(interface(1, 1)),
                Change::Changed { before: interface(3, 1), after: interface(3, 2) },
            ]
        );
    }

    proptest! {
        /// Applying the changes to the first snapshot gives the second.
        #[test]
        fn the_changes_are_complete(
            a in prop::collection::btree_map(0..8u32, 0..3u32, 0..8),
            b in prop::collection::btree_map(0..8u32, 0..3u32, 0..8),
        ) {
            let [before, after] = [a, b].map(|map| snapshot(&map.into_iter().collect::<Vec<_>>()));
            let mut state = before.clone();
            for change in diff(&before, &after) {
                match change {
                    Change::Appeared(i) => prop_assert_eq!(state.insert(i.index, i), None),
                    Change::Changed { before, after } => {
                        prop_assert_eq!(state.insert(after.index, after), Some(before));
                    }
                    Change::Vanished(i) => prop_assert_eq!(state.remove(&i.index), Some(i)),
                }
            }
            prop_assert_eq!(state, after);
        }
    }
}

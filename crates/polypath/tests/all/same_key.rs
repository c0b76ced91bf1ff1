//! One key at two places: the hub says so in its log and its status.

use super::world::{World, stderr, stdout};

#[test]
fn a_key_that_two_edges_share_is_told_and_a_transfer_beside_an_edge_is_no_reason_to_worry() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox")]);
    let first = world.edge_over(&hub, &["a=127.0.0.1"], &[]);
    let sent = world.send(&hub, &[&world.file("x.bin", b"x")]);
    assert!(sent.status.success(), "{}", stderr(&sent));
    assert!(!hub.log().contains(" WARN "), "{}", hub.log());

    let second = world.edge_over(&hub, &["a=127.0.0.2"], &[]);
    // An edge that has nothing to say is heard every 10 s.
    let line = hub.log_line("one key has two bonds at the same time from different addresses");
    assert!(line.contains(" WARN "), "{line}");
    for address in ["127.0.0.1:", "127.0.0.2:"] {
        assert!(line.contains(&format!("from=\"{address}")), "{line}");
    }
    let status = world.status(hub.control());
    let bonds = status["bonds"].as_array().unwrap();
    assert_eq!(bonds.len(), 2, "{status}");
    for (bond, other) in [(&bonds[0], &bonds[1]), (&bonds[1], &bonds[0])] {
        let expected = serde_json::json!([{ "bond": other["id"], "elsewhere": true }]);
        assert_eq!(bond["same_key"], expected, "{status}");
    }
    let table = world.run(&["status", "--control", hub.control()]);
    assert!(stdout(&table).contains("too, from other addresses"), "{}", stdout(&table));
    drop((first, second));
}

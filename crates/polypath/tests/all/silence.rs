//! How long silence may last.

use super::world::{World, stderr};

const LOST: &str = "lost path=";

/// A hub that is stopped by a signal says nothing. One edge gives its paths up after 5 s, the other
/// after 30 s.
#[test]
fn a_silent_path_is_given_up_when_its_time_out_says() {
    let world = World::new();
    let hub = world.hub(&["--idle-timeout", "60"]);
    let early = world.edge(&hub, &["--path-timeout", "5", "--idle-timeout", "60"]);
    let late = world.edge(&hub, &["--idle-timeout", "60"]);
    // A path that has not joined yet is given up after 5 s, whatever is said.
    for (edge, path) in [(&early, "a"), (&early, "b"), (&late, "a"), (&late, "b")] {
        edge.log_line(&format!("joined path=\"{path}\""));
    }
    hub.signal("STOP");
    early.log_line(LOST);
    assert!(!late.log().contains(LOST), "{}", late.log());
}

#[test]
fn times_that_do_not_fit_each_other_are_refused() {
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = ["--key", world.edge_key(), "--join", hub.join_string(), "--auto"];
    let config = world.file("times.toml", b"idle_timeout = 60\nkeep_alive = 15\n");
    for (command, more, expected) in [
        (
            &["edge"][..],
            &["--keep-alive", "11"][..],
            "--keep-alive: a path that is silent for 30 s",
        ),
        (&["send", &config], &["--path-timeout", "31"], "--path-timeout: the bond itself ends"),
        (&["edge"], &["--config", &config], "times.toml:2: keep_alive: a path that is silent"),
    ] {
        let refused = world.run(&[command, &edge, more].concat());
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        let error = stderr(&refused);
        assert!(error.contains(expected) && error.contains("; allowed: at most "), "{error}");
    }
    let hub = world.run(&["hub", "--path-timeout", "4"]);
    assert!(stderr(&hub).contains("whole seconds from 5 to 3600"));
}

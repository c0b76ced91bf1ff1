//! How long `polypath send` waits for a hub that has never answered it. The hub of these tests was
//! stopped by a signal: it says nothing, as one that cannot be reached.

use std::fs;

use super::world::{World, stderr};

#[test]
fn a_file_is_sent_to_a_hub_that_answers_late() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox")]);
    hub.signal("STOP");
    let sending = world.sending(&hub, &[&world.file("late.bin", b"late")]);
    let told = sending.log_line("trying again");
    assert!(told.starts_with("the hub cannot be reached: "), "{told}");
    hub.signal("CONT");
    assert_eq!(sending.wait().code(), Some(0), "{}", sending.log());
    assert_eq!(fs::read(world.path("inbox/late.bin")).unwrap(), b"late");
}

#[test]
fn a_hub_that_never_answers_is_given_up_when_it_is_said() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox")]);
    hub.signal("STOP");
    let given_up = world.send(&hub, &[&world.file("x.bin", b"x"), "--patience", "1"]);
    assert_eq!(given_up.status.code(), Some(1));
    let expected = "error: gave up after 1s: no path has joined the hub";
    assert!(stderr(&given_up).contains(expected), "{}", stderr(&given_up));
}

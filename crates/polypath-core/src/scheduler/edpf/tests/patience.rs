//! For how long a faster path is waited for.

use super::*;

#[test]
fn a_paced_fast_path_is_waited_for_until_pacing_lets_it_go() {
    let until = Timestamp::from_millis(3);
    let committed = paced(loaded(fast(), 50), until);
    assert_eq!(pick(&[committed, slow()], &queue(10, 1_000_000)), Pick::Wait(until));
    // So long that the slow path, 50 ms away, delivers first.
    let late = paced(loaded(fast(), 50), Timestamp::from_millis(60));
    assert_eq!(pick(&[late, slow()], &queue(10, 1_000_000)), SLOW);
    // With room and no segment committed it simply takes the next one.
    let open = PathView { available: true, ..committed };
    assert_eq!(pick(&[open, slow()], &queue(10, 1_000_000)), FAST);
}

/// The slow path would have delivered after 50.5 ms (and 5 % for losses there are none).
#[test]
fn patience_with_a_path_that_does_not_open_ends() {
    let mut edpf = Edpf::default();
    let paths = [full(fast()), slow()];
    let Pick::Wait(until) = edpf.pick(&paths, &queue(1, 1_000), Timestamp::ZERO) else {
        panic!("the tail waits")
    };
    let delivery = ms(50) + Duration::from_micros(500);
    assert!(until - Timestamp::ZERO <= delivery && until - Timestamp::ZERO > ms(50), "{until}");
    let later = Timestamp::from_millis(30);
    assert_eq!(edpf.pick(&paths, &queue(1, 1_000), later), Pick::Wait(until), "the same end");
    assert_eq!(edpf.pick(&paths, &queue(1, 1_000), until), SLOW);
}

/// The time for which a reinjection is held back is its own: new data that is sent meanwhile does
/// not renew it.
#[test]
fn what_is_sent_again_loses_patience_while_new_data_is_sent() {
    let mut edpf = Edpf::default();
    let views = [full(fast()), slow()];
    let mut again = |millis| {
        let now = Timestamp::from_millis(millis);
        let pick = edpf.pick(&views, &reinjection(&[]), now);
        assert!(!is_wait(edpf.pick(&[fast()], &bulk(), now)));
        pick
    };
    assert!(is_wait(again(0)) && is_wait(again(30)));
    assert_eq!(again(60), SLOW);
}

/// It begins anew with the next lost segment if the one before needs not be sent any more: the
/// world asked for new data without asking for it.
#[test]
fn patience_with_what_is_lost_is_not_that_with_what_was() {
    let mut edpf = Edpf::default();
    let views = [full(fast()), slow()];
    let at = Timestamp::from_millis;
    assert!(is_wait(edpf.pick(&views, &reinjection(&[]), at(0))));
    assert!(!is_wait(edpf.pick(&[fast()], &bulk(), at(10))));
    assert!(is_wait(edpf.pick(&views, &reinjection(&[]), at(60))));
}

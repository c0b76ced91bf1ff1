//! What is known about the arrival of what a path was given.

use super::*;

const PATH: PathId = PathId::new(0).unwrap();

/// Segments of 1, 2 and 4 bytes that arrive after these milliseconds.
fn given(millis: [u64; 3]) -> Arrivals {
    let mut arrivals = Arrivals::default();
    for (bytes, millis) in [1, 2, 4].into_iter().zip(millis) {
        arrivals.add(PATH, bytes, Timestamp::from_millis(millis));
    }
    arrivals
}

/// The bytes that cannot be acknowledged yet at this millisecond, if acknowledgements take 5 ms.
fn untold(arrivals: &Arrivals, millis: u64) -> u64 {
    arrivals.untold(PATH, ms(5), Timestamp::from_millis(millis))
}

#[test]
fn what_has_arrived_is_told_when_word_of_it_is_back() {
    let arrivals = given([10, 20, 30]);
    let at = [0, 14, 15, 24, 25, 34, 35].map(|millis| untold(&arrivals, millis));
    assert_eq!(at, [7, 7, 6, 6, 4, 4, 0]);
    assert_eq!(arrivals.untold(id(1), ms(5), Timestamp::ZERO), 0, "a path that was given nothing");
}

/// The last segment is predicted to arrive before the two that it follows, so that they must arrive
/// by then, too.
#[test]
fn nothing_overtakes_on_a_path() {
    let arrivals = given([20, 30, 10]);
    assert_eq!(arrivals.last(PATH), Some(Timestamp::from_millis(10)));
    assert_eq!([14, 15].map(|millis| untold(&arrivals, millis)), [7, 0]);
    let arrivals = given([10, 30, 30]);
    assert_eq!([14, 15, 34, 35].map(|millis| untold(&arrivals, millis)), [7, 6, 6, 0]);
}

#[test]
fn what_is_told_is_forgotten_and_a_path_with_all() {
    let mut arrivals = given([10, 20, 30]);
    arrivals.forget_told(PATH, ms(5), Timestamp::from_millis(25));
    assert_eq!([0, 34, 35].map(|millis| untold(&arrivals, millis)), [4, 4, 0]);
    arrivals.add(PATH, 8, Timestamp::from_millis(40));
    assert_eq!([0, 35, 45].map(|millis| untold(&arrivals, millis)), [12, 8, 0]);
    arrivals.forget_told(PATH, ms(5), Timestamp::from_millis(45));
    assert_eq!((untold(&arrivals, 0), arrivals.last(PATH)), (0, None));
    let mut arrivals = given([10, 20, 30]);
    arrivals.forget(PATH);
    assert_eq!((untold(&arrivals, 0), arrivals.last(PATH)), (0, None));
}

/// What cannot be acknowledged yet if acknowledgements take a minute: all that is kept.
fn kept(edpf: &Edpf) -> u64 {
    edpf.arrivals.untold(PATH, Duration::from_secs(60), Timestamp::ZERO)
}

#[test]
fn edpf_keeps_what_is_untold_of_paths_that_there_are() {
    let mut edpf = Edpf::default();
    // Each arrives after 5.1 ms and is acknowledged 5 ms later at the latest.
    for (millis, segments) in [(0, 1), (10, 2), (20, 2), (31, 1)] {
        assert_eq!(edpf.pick(&[fast()], &bulk(), Timestamp::from_millis(millis)), FAST);
        assert_eq!(kept(&edpf), segments * MSS, "after {millis} ms");
    }
    edpf.on_remove(PATH);
    assert_eq!(kept(&edpf), 0);
}

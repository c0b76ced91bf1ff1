//! Loads over paths whose rates vary.

use super::*;

/// A call with a segment every 10 ms, for this many seconds up to `until`, over these paths.
fn call(edpf: &mut Edpf, paths: &[PathView], secs: std::ops::Range<u64>) -> Pick {
    let times = (secs.start * 100..=secs.end * 100).map(|n| Timestamp::from_millis(10 * n));
    times.map(|now| edpf.pick(paths, &queue(1, 1_000_000), now)).last().unwrap()
}

/// The fast path had a queue of 120 ms. With half of its window in use that may cost 60 ms, while
/// it is 45 ms ahead of the other; with a fifth in use it may cost 24 ms.
#[test]
fn a_call_is_shared_out_over_paths_that_have_had_queues() {
    let mut edpf = Edpf::default();
    let half_full = loaded(fast(), 50);
    let queued = PathView { srtt: Some(ms(130)), ..half_full };
    assert_eq!(call(&mut edpf, &[half_full, slow()], 0..2), FAST, "nothing has happened");
    call(&mut edpf, &[queued, slow()], 2..3);
    assert_eq!(call(&mut edpf, &[half_full, slow()], 3..4), SLOW);
    assert_eq!(call(&mut edpf, &[loaded(fast(), 20), slow()], 4..5), FAST);
    assert_eq!(call(&mut edpf, &[half_full, slow()], 5..12), SLOW);
    assert_eq!(call(&mut edpf, &[half_full, slow()], 12..14), FAST, "forgotten after 10 s");
}

#[test]
fn queues_of_bulk_data_are_not_remembered_and_cost_it_nothing() {
    let mut edpf = Edpf::default();
    let half_full = loaded(fast(), 50);
    let queued = PathView { srtt: Some(ms(130)), ..half_full };
    for millis in 0..3_000 {
        edpf.pick(&[queued, slow()], &bulk(), Timestamp::from_millis(millis));
    }
    assert_eq!(call(&mut edpf, &[half_full, slow()], 3..6), FAST);
    call(&mut edpf, &[queued, slow()], 6..7);
    assert_eq!(call(&mut edpf, &[half_full, slow()], 7..8), SLOW);
    let now = Timestamp::from_millis(8_001);
    assert_eq!(edpf.pick(&[half_full, slow()], &bulk(), now), FAST);
}

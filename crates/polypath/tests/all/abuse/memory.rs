//! The memory of hub and edge over the time: below a bound, and flat.

/// What the most of a later time may be above that of an earlier one, beside a fifth. How many of
/// the strangers of a flood are there at once when the memory is looked at differs from one flood
/// to the next, and a half-open connection holds 63 kB (docs/decisions/0015-strangers.md): this is
/// a third of a flood. A leak of one of them, or of a stream's least window of 16 KiB in each
/// transfer, exceeds it within a few hundred rounds.
const MARGIN: u64 = 16_000_000;

/// Bytes in RAM of a node at the end of each round, by cycle: in each of these everything happens
/// once, so that their maxima can be compared.
#[derive(Debug, Default)]
pub(super) struct Samples(Vec<Vec<u64>>);

/// The most in the first third and in the last third of the cycles, without the first cycle: its
/// tables and pools have not yet grown to the size that the rest takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thirds {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Samples {
    pub(super) fn begin_cycle(&mut self) {
        self.0.push(Vec::new());
    }

    pub(super) fn add(&mut self, bytes: u64) {
        self.0.last_mut().expect("a cycle has begun").push(bytes);
    }

    pub(super) fn most(&self) -> u64 {
        self.0.iter().flatten().copied().max().unwrap_or_default()
    }

    /// `None` if there are too few cycles.
    pub(super) fn thirds(&self) -> Option<Thirds> {
        let most: Vec<_> = self.0.iter().skip(1).filter_map(|cycle| cycle.iter().max()).collect();
        let third = most.len() / 3;
        let most_of = |cycles: &[&u64]| cycles.iter().copied().copied().max();
        let (first, last) = (&most[..third], &most[most.len() - third..]);
        Some(Thirds { first: most_of(first)?, last: most_of(last)? })
    }

    /// The most of each cycle, in megabytes.
    pub(super) fn shown(&self) -> String {
        let most = self.0.iter().filter_map(|cycle| cycle.iter().max());
        most.map(|bytes| (bytes / 1_000_000).to_string()).collect::<Vec<_>>().join(" ")
    }
}

impl Thirds {
    pub(super) fn are_flat(self) -> bool {
        self.last <= self.first / 5 * 6 + MARGIN
    }
}

#[test]
fn memory_that_grows_is_not_flat_and_the_first_cycle_does_not_count() {
    let thirds = |most: &[u64]| {
        let mut samples = Samples::default();
        for &most in most {
            samples.begin_cycle();
            [most / 2, most].into_iter().for_each(|bytes| samples.add(bytes));
        }
        samples.thirds()
    };
    assert_eq!(thirds(&[9, 9, 9]), None);
    let megabytes = |most: [u64; 4]| thirds(&most.map(|most| most * 1_000_000)).unwrap();
    assert!(megabytes([10, 50, 200, 76]).are_flat());
    assert!(!megabytes([90, 50, 60, 77]).are_flat());
}

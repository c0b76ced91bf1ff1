//! Seeds that do not depend on each other.

/// The random numbers of one run: a seed that the user chose, and the number of the run.
///
/// Each source of randomness (a link, an endpoint) takes a stream of its own, so that adding one,
/// or drawing more from one, leaves all others unchanged. The three numbers are hashed into 64 bits
/// by chaining the output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, figure 16):
/// `mix(mix(mix(seed + g) ^ (run + g)) ^ (stream + g))` with the golden gamma g. For fixed other
/// numbers this is a bijection of each of the three: no two streams of a run, and no two runs of a
/// seed, ever share a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RunSeed {
    /// What the user chose.
    pub seed: u64,
    /// The repetition.
    pub run: u64,
}

/// The odd number nearest to 2^64 divided by the golden ratio.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl RunSeed {
    /// Run `run` of `seed`.
    pub const fn new(seed: u64, run: u64) -> Self {
        Self { seed, run }
    }

    /// The seed of stream `stream`.
    pub const fn stream(self, stream: u64) -> u64 {
        let seed = mix(self.seed.wrapping_add(GOLDEN_GAMMA));
        let run = mix(seed ^ self.run.wrapping_add(GOLDEN_GAMMA));
        mix(run ^ stream.wrapping_add(GOLDEN_GAMMA))
    }
}

/// The output function of SplitMix64, a bijection.
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The first outputs of SplitMix64 from state 0, as its reference implementation prints them.
    #[test]
    fn mix_is_the_output_function_of_splitmix64() {
        assert_eq!(mix(GOLDEN_GAMMA), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(GOLDEN_GAMMA.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn seed_run_and_stream_are_told_apart() {
        let all = |range: u64| (0..range).flat_map(move |a| (0..range).map(move |b| (a, b)));
        let mut seen = BTreeSet::new();
        for (seed, run) in all(16) {
            seen.extend((0..16).map(|stream| RunSeed::new(seed, run).stream(stream)));
        }
        assert_eq!(seen.len(), 16 * 16 * 16);
        assert_ne!(RunSeed::new(1, 2).stream(3), RunSeed::new(2, 1).stream(3));
        assert_ne!(RunSeed::new(1, 2).stream(3), RunSeed::new(1, 3).stream(2));
    }
}

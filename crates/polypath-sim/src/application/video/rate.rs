//! The rule by which the player chooses a bit rate.

use polypath_units::Bandwidth;
use std::collections::VecDeque;
use std::time::Duration;

/// Chunks whose throughput counts [A]: dash.js takes 4 for video on demand
/// (`throughput.sampleSettings.vod`).
const SAMPLES: usize = 4;
/// The part of the throughput that a bit rate may take [A]: dash.js `bandwidthSafetyFactor`, and
/// `throughputSafetyFactor` of its InsufficientBufferRule.
const SAFETY: f64 = 0.9;

/// The throughput rule of dash.js with its InsufficientBufferRule: the highest bit rate that is at
/// most `SAFETY` times the expected throughput, and whose next chunk is expected to come before
/// the buffer is empty; the lowest if there is none.
///
/// The expected throughput is the harmonic mean of the last chunks', which resists outliers
/// (Jiang, Sekar, Zhang: FESTIVE, CoNEXT 2012, section 4.4).
#[derive(Clone, Debug, Default)]
pub(super) struct RateRule {
    /// Of the last chunks, in bit/s.
    throughput: VecDeque<f64>,
}

impl RateRule {
    /// `bits` took `time`, from the request on.
    pub(super) fn add(&mut self, bits: f64, time: Duration) {
        if self.throughput.len() == SAMPLES {
            self.throughput.pop_front();
        }
        self.throughput.push_back(bits / time.as_secs_f64());
    }

    /// The bit rate of the next chunk, of these in ascending order, with so much in the buffer.
    pub(super) fn choose(
        &self,
        bit_rates: &[Bandwidth],
        chunk: Duration,
        level: Duration,
    ) -> Bandwidth {
        let in_time = level.as_secs_f64() / chunk.as_secs_f64();
        let allowed = SAFETY * self.expected() * in_time.min(1.0);
        let fitting = bit_rates.partition_point(|rate| rate.bits_per_sec() as f64 <= allowed);
        bit_rates.get(fitting.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// In bit/s; zero before the first chunk.
    fn expected(&self) -> f64 {
        let inverse: f64 = self.throughput.iter().map(|throughput| 1.0 / throughput).sum();
        if inverse > 0.0 { self.throughput.len() as f64 / inverse } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: Duration = Duration::from_secs(4);

    /// The bit rate in Mbit/s of 1, 2, 4 and 8 after chunks of these throughputs.
    fn choice(throughputs: &[f64], level: Duration) -> f64 {
        let rates = [1.0, 2.0, 4.0, 8.0].map(Bandwidth::from_mbit_per_sec);
        let mut rule = RateRule::default();
        for throughput in throughputs {
            rule.add(throughput * 1e6, Duration::from_secs(1));
        }
        rule.choose(&rates, CHUNK, level).mbit_per_sec()
    }

    #[test]
    fn the_highest_that_the_throughput_carries_with_a_margin() {
        let rich = 3 * CHUNK;
        assert_eq!(choice(&[], rich), 1.0, "nothing is known");
        assert_eq!(
            [0.1, 2.2, 2.3, 4.5, 99.0].map(|t| choice(&[t], rich)),
            [1.0, 1.0, 2.0, 4.0, 8.0]
        );
        // Harmonic mean 2 / (1 / 2 + 1 / 50) = 3.8.
        assert_eq!(choice(&[2.0, 50.0], rich), 2.0);
        assert_eq!(choice(&[1.0, 9.0, 9.0, 9.0, 9.0], rich), 8.0, "the last four count");
    }

    #[test]
    fn a_chunk_must_come_before_the_buffer_is_empty() {
        // 9 x 0.9 = 8.1 Mbit/s; in half of a chunk's time 4.05, in a tenth 0.8.
        let choices = [10, 5, 1].map(|tenths| choice(&[9.0], CHUNK * tenths / 10));
        assert_eq!(choices, [8.0, 4.0, 1.0]);
    }
}

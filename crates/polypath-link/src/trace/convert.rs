//! Rates over time to delivery opportunities, and back.

use super::mahimahi::{OPPORTUNITY_BYTES, Trace, TraceError};
use super::series::{Piece, RateSeries, SeriesError, check_bins};
use polypath_units::Bandwidth;
use std::time::Duration;

/// The most opportunities that a conversion makes: 150 GB, or 20 min at 1 Gbit/s.
pub const MAX_OPPORTUNITIES: u64 = 100_000_000;

const MICROS_PER_MILLI: u128 = 1_000;
/// What an opportunity carries, in 10^-6 bit.
const WORK_PER_OPPORTUNITY: u128 = OPPORTUNITY_BYTES as u128 * 8 * 1_000_000;

/// The error for a series of rates that no trace can represent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// It carries more than a trace may hold.
    #[error(
        "the rates make {opportunities} delivery opportunities; at most {MAX_OPPORTUNITIES} are allowed"
    )]
    TooMany {
        /// How many it would take.
        opportunities: u128,
    },
    /// It carries less than one packet.
    #[error("the rates carry less than one packet of {OPPORTUNITY_BYTES} bytes in all")]
    NoPacket(#[source] TraceError),
}

impl RateSeries {
    /// The delivery opportunities of these rates. The fraction of a packet that a millisecond
    /// leaves over is carried on (error diffusion): until the end of any millisecond the trace has
    /// delivered as many whole packets as the rates until then make. Thus in every interval of
    /// whole milliseconds the bytes are those of the rates to less than one packet.
    ///
    /// The service of a millisecond comes at its end. A trace ends at its last opportunity: if the
    /// series ends with a pause, a trace that repeats leaves that out.
    ///
    /// # Errors
    /// When the series carries less than one packet, or more than [`MAX_OPPORTUNITIES`].
    pub fn to_trace(&self) -> Result<Trace, ConvertError> {
        let opportunities = self.packets();
        if opportunities > u128::from(MAX_OPPORTUNITIES) {
            return Err(ConvertError::TooMany { opportunities });
        }
        let (mut millis, mut work) = (Vec::with_capacity(opportunities as usize), 0);
        for stretch in self.stretches() {
            let end = work + stretch.rate * (stretch.to - stretch.from);
            let mut next = (millis.len() as u128 + 1) * WORK_PER_OPPORTUNITY;
            while next <= end {
                // The rate is not zero: it has carried the work from below `next` past it.
                let at = stretch.from + (next - work).div_ceil(stretch.rate);
                millis.push(at.div_ceil(MICROS_PER_MILLI) as u32);
                next += WORK_PER_OPPORTUNITY;
            }
            work = end;
        }
        Trace::from_millis(millis).map_err(ConvertError::NoPacket)
    }

    /// How many whole packets the series carries: the opportunities of [`RateSeries::to_trace`].
    pub fn packets(&self) -> u128 {
        let work = self.stretches().map(|piece| piece.rate * (piece.to - piece.from)).sum::<u128>();
        work / WORK_PER_OPPORTUNITY
    }

    /// The rates of a trace in bins of this width; the last bin ends with the trace, at its last
    /// opportunity, and can be shorter. An opportunity belongs to the bin at whose end it is or in
    /// which it is, since it is the service of the millisecond before it; one at zero belongs to
    /// the first.
    ///
    /// # Errors
    /// When the bins are not whole milliseconds, too many or too long, or a rate is too high.
    pub fn from_trace(trace: &Trace, bin: Duration) -> Result<Self, SeriesError> {
        check_bins(bin, trace.period())?;
        let width = u64::try_from(bin.as_millis()).unwrap_or(u64::MAX);
        let (mut pieces, mut before, mut start) = (Vec::new(), 0, 0_u64);
        while start < trace.period_millis() {
            let end = start.saturating_add(width).min(trace.period_millis());
            let count = trace.count_until(end, false);
            let bits = u128::from(count - before) * u128::from(OPPORTUNITY_BYTES) * 8_000;
            let rate = u64::try_from(bits / u128::from(end - start)).unwrap_or(u64::MAX);
            let rate = Bandwidth::from_bits_per_sec(rate);
            pieces.push(Piece { until: Duration::from_millis(end), rate });
            (before, start) = (count, end);
        }
        Self::new(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn series(rates: &[f64]) -> RateSeries {
        let rates: Vec<_> = rates.iter().map(|&mbit| Bandwidth::from_mbit_per_sec(mbit)).collect();
        RateSeries::from_bins(SECOND, &rates).unwrap()
    }

    #[test]
    fn twelve_megabits_are_one_packet_a_millisecond() {
        let trace = series(&[12.0]).to_trace().unwrap();
        assert_eq!(trace, Trace::from_millis((1..=1_000).collect()).unwrap());
        // 5 Mbit/s: a packet each 2.4 ms, at the end of the millisecond that completes it.
        let trace = series(&[5.0]).to_trace().unwrap();
        assert!(trace.to_string().starts_with("3\n5\n8\n10\n12\n15\n"));
    }

    #[test]
    fn what_a_second_leaves_over_goes_to_the_next() {
        // 4.5 kbit/s: 0.375 packets each second.
        let trace = series(&[0.004_5; 8]).to_trace().unwrap();
        // 12 000, 24 000, 36 000 bit at 4500 bit/s.
        assert_eq!(trace, Trace::from_millis(vec![2_667, 5_334, 8_000]).unwrap());
    }

    #[test]
    fn pauses_stay_and_rates_come_back() {
        let rates = [12.0, 0.0, 24.0, 6.0].map(Bandwidth::from_mbit_per_sec);
        let trace = RateSeries::from_bins(SECOND, &rates).unwrap().to_trace().unwrap();
        assert_eq!(RateSeries::from_trace(&trace, SECOND).unwrap().bins(SECOND), rates);
    }

    #[test]
    fn the_last_bin_ends_with_the_trace() {
        let twelve = Bandwidth::from_mbit_per_sec(12.0);
        let trace = Trace::from_millis((1..=2_250).collect()).unwrap();
        let ends = |bin| {
            let series = RateSeries::from_trace(&trace, bin).unwrap();
            assert!(series.pieces().iter().all(|piece| piece.rate == twelve), "{series:?}");
            series.pieces().iter().map(|piece| piece.until.as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(ends(SECOND), [1_000, 2_000, 2_250]);
        assert_eq!(ends(Duration::from_secs(3_600)), [2_250]);
        // Longer than any series, but not than the trace.
        assert_eq!(ends(Duration::from_secs(1 << 40)), [2_250]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(matches!(series(&[0.011]).to_trace(), Err(ConvertError::NoPacket(_))));
        let expected = ConvertError::TooMany { opportunities: 166_666_666 };
        assert_eq!(series(&[1e6, 1e6]).to_trace(), Err(expected));
        let trace = Trace::from_millis(vec![1]).unwrap();
        for bin in [Duration::ZERO, Duration::from_micros(1_500)] {
            assert!(RateSeries::from_trace(&trace, bin).is_err());
        }
        assert!(RateSeries::from_trace(&trace, Duration::MAX).is_err());
        let late = Trace::from_millis(vec![u32::MAX]).unwrap();
        assert!(RateSeries::from_trace(&late, Duration::from_millis(1)).is_err());
    }
}

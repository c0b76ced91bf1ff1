//! A rate over time, piecewise constant.

use polypath_units::Bandwidth;
use std::time::Duration;

/// The longest series: what a Mahimahi trace can count in milliseconds, about 49 days.
pub const MAX_DURATION: Duration = Duration::from_millis(u32::MAX as u64);

/// The highest rate of a series, 1 Tbit/s.
pub const MAX_RATE: Bandwidth = Bandwidth::from_bits_per_sec(1_000_000_000_000);

/// The most bins that a series is cut into.
pub const MAX_BINS: u128 = 10_000_000;

/// How long a rate lasts where nothing says.
pub(super) const SAMPLE: Duration = Duration::from_secs(1);

/// A rate over time from zero on: it is constant in each [`Piece`]. Times are whole microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateSeries {
    pieces: Vec<Piece>,
}

/// A stretch of constant rate, from the end of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// When it ends, from the start of the series.
    pub until: Duration,
    /// The rate.
    pub rate: Bandwidth,
}

/// Pieces that make no series. They count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// No piece.
    #[error("a series of rates needs at least one rate")]
    Empty,
    /// An end that is not after the one before it.
    #[error("piece {piece} ends at {until:?}, which is not after its start at {start:?}")]
    NotAscending {
        /// The piece.
        piece: usize,
        /// Where it starts.
        start: Duration,
        /// Where it would end.
        until: Duration,
    },
    /// An end past the longest series.
    #[error("piece {piece} ends at {until:?}; a series is at most {MAX_DURATION:?} long")]
    TooLong {
        /// The piece.
        piece: usize,
        /// Where it would end.
        until: Duration,
    },
    /// An end between two microseconds.
    #[error("piece {piece} ends at {until:?}, which is not a whole number of microseconds")]
    TooFine {
        /// The piece.
        piece: usize,
        /// Where it would end.
        until: Duration,
    },
    /// Bins that do not fit.
    #[error(
        "bins of {width:?} over {duration:?}: at most {MAX_BINS} bins, of whole milliseconds, are allowed"
    )]
    Bins {
        /// How wide they would be.
        width: Duration,
        /// What would be cut into them.
        duration: Duration,
    },
    /// A rate above the highest.
    #[error("piece {piece} has a rate of {rate}; at most {MAX_RATE} is allowed")]
    TooFast {
        /// The piece.
        piece: usize,
        /// Its rate.
        rate: Bandwidth,
    },
}

impl RateSeries {
    /// A series of these pieces.
    ///
    /// # Errors
    /// See [`SeriesError`].
    pub fn new(pieces: Vec<Piece>) -> Result<Self, SeriesError> {
        let mut start = Duration::ZERO;
        for (index, &Piece { until, rate }) in pieces.iter().enumerate() {
            let piece = index + 1;
            if until <= start {
                return Err(SeriesError::NotAscending { piece, start, until });
            } else if until > MAX_DURATION {
                return Err(SeriesError::TooLong { piece, until });
            } else if until.subsec_nanos() % 1_000 != 0 {
                return Err(SeriesError::TooFine { piece, until });
            } else if rate > MAX_RATE {
                return Err(SeriesError::TooFast { piece, rate });
            }
            start = until;
        }
        if pieces.is_empty() {
            return Err(SeriesError::Empty);
        }
        Ok(Self { pieces })
    }

    /// A series with one rate for each `bin`.
    ///
    /// # Errors
    /// See [`SeriesError`].
    pub(crate) fn from_bins(bin: Duration, rates: &[Bandwidth]) -> Result<Self, SeriesError> {
        let mut until = Duration::ZERO;
        let pieces = rates.iter().map(|&rate| {
            until = until.saturating_add(bin);
            Piece { until, rate }
        });
        Self::new(pieces.collect())
    }

    /// The pieces, at least one.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Where the last piece ends.
    pub fn duration(&self) -> Duration {
        self.pieces.last().map_or(Duration::ZERO, |piece| piece.until)
    }

    /// The mean over the whole series, rounded to bit/s.
    pub fn mean_rate(&self) -> Bandwidth {
        let micros = self.duration().as_micros().max(1);
        let work = self.stretches().map(Stretch::work).sum::<u128>();
        Bandwidth::from_bits_per_sec(rounded(work, micros))
    }

    /// The mean rates, rounded to bit/s, of the bins of this width from zero on. What does not
    /// fill a bin at the end is left out, unless there is no other.
    pub fn bins(&self, width: Duration) -> Vec<Bandwidth> {
        let mut bins = self.averages(width.as_micros().max(1));
        let partial = !self.duration().as_micros().is_multiple_of(width.as_micros().max(1));
        if partial && bins.len() > 1 {
            bins.pop();
        }
        bins.into_iter().map(|bin| bin.rate).collect()
    }

    /// The series of the mean rates of such bins, of which the last can be shorter.
    ///
    /// # Errors
    /// When the bins are not whole milliseconds, or there are more than [`MAX_BINS`].
    pub fn rebinned(&self, width: Duration) -> Result<Self, SeriesError> {
        check_bins(width, self.duration())?;
        Self::new(self.averages(width.as_micros()))
    }

    /// The means of bins of this width in microseconds; the last one ends with the series.
    fn averages(&self, width: u128) -> Vec<Piece> {
        let (mut bins, mut start, mut sum) = (Vec::new(), 0, 0);
        let mut close = |start: u128, end: u128, sum: u128| {
            let rate = Bandwidth::from_bits_per_sec(rounded(sum, end - start));
            bins.push(Piece { until: Duration::from_micros(end as u64), rate });
        };
        for Stretch { mut from, to, rate } in self.stretches() {
            while to >= start + width {
                let end = start + width;
                close(start, end, sum + rate * (end - from));
                (from, start, sum) = (end, end, 0);
            }
            sum += rate * (to - from);
        }
        let end = self.duration().as_micros();
        if end > start {
            close(start, end, sum);
        }
        bins
    }

    /// The pieces with their starts, in integers.
    pub(super) fn stretches(&self) -> impl Iterator<Item = Stretch> {
        let starts = core::iter::once(0).chain(self.pieces.iter().map(|p| p.until.as_micros()));
        self.pieces.iter().zip(starts).map(|(piece, from)| Stretch {
            from,
            to: piece.until.as_micros(),
            rate: u128::from(piece.rate.bits_per_sec()),
        })
    }
}

/// A piece in microseconds and bit/s. Their product counts 10^-6 bit.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub(super) from: u128,
    pub(super) to: u128,
    pub(super) rate: u128,
}

impl Stretch {
    fn work(self) -> u128 {
        self.rate * (self.to - self.from)
    }
}

/// How long the last piece is.
pub(super) fn last_length(pieces: &[Piece]) -> Option<Duration> {
    let (last, before) = pieces.split_last()?;
    Some(last.until - before.last().map_or(Duration::ZERO, |piece| piece.until))
}

/// Whether `duration` can be cut into bins of this width.
pub(super) fn check_bins(width: Duration, duration: Duration) -> Result<(), SeriesError> {
    let whole = !width.is_zero() && width.subsec_nanos().is_multiple_of(1_000_000);
    if whole && duration.as_nanos().div_ceil(width.as_nanos()) <= MAX_BINS {
        return Ok(());
    }
    Err(SeriesError::Bins { width, duration })
}

/// A mean of rates, which is not above the highest rate and thus fits.
fn rounded(work: u128, micros: u128) -> u64 {
    u64::try_from((work + micros / 2) / micros).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(millis: u64, mbit: f64) -> Piece {
        Piece { until: Duration::from_millis(millis), rate: Bandwidth::from_mbit_per_sec(mbit) }
    }

    fn mbit(rates: &[Bandwidth]) -> Vec<f64> {
        rates.iter().map(|rate| rate.mbit_per_sec()).collect()
    }

    #[test]
    fn bins_average_over_pieces_and_split_them() {
        let pieces = [piece(500, 10.0), piece(2_500, 2.0), piece(3_200, 7.0)];
        let series = RateSeries::new(pieces.to_vec()).unwrap();
        // [0, 1) s: half 10, half 2; [2, 3) s: half 2, half 7; 0.2 s of 7 are left out.
        assert_eq!(mbit(&series.bins(Duration::from_secs(1))), [6.0, 2.0, 4.5]);
        // (5 + 4 + 4.9) / 3.2, also when no bin is filled.
        assert_eq!(series.mean_rate(), Bandwidth::from_bits_per_sec(4_343_750));
        assert_eq!(mbit(&series.bins(Duration::from_secs(9))), [4.34375]);
        assert_eq!(series.duration(), Duration::from_millis(3_200));
        let rebinned = series.rebinned(Duration::from_secs(1)).unwrap();
        let shown = [piece(1_000, 6.0), piece(2_000, 2.0), piece(3_000, 4.5), piece(3_200, 7.0)];
        assert_eq!(rebinned.pieces(), shown);
        assert_eq!(
            series.rebinned(Duration::from_secs(9)).unwrap().pieces(),
            [piece(3_200, 4.34375)]
        );
    }

    #[test]
    fn bins_of_its_own_width_are_the_rates() {
        let rates = [1.0, 0.0, 3.5].map(Bandwidth::from_mbit_per_sec);
        let width = Duration::from_millis(100);
        let series = RateSeries::from_bins(width, &rates).unwrap();
        assert_eq!(series.bins(width), rates);
    }

    #[test]
    fn wrong_pieces_are_named() {
        let error = |pieces: &[Piece]| RateSeries::new(pieces.to_vec()).unwrap_err();
        assert_eq!(error(&[]), SeriesError::Empty);
        assert!(matches!(error(&[piece(0, 1.0)]), SeriesError::NotAscending { piece: 1, .. }));
        let twice = [piece(1, 1.0), piece(1, 1.0)];
        assert!(matches!(error(&twice), SeriesError::NotAscending { piece: 2, .. }));
        let long = [piece(u64::from(u32::MAX) + 1, 1.0)];
        assert!(matches!(error(&long), SeriesError::TooLong { piece: 1, .. }));
        let fast = [piece(1, 1_000_001.0)];
        assert!(matches!(error(&fast), SeriesError::TooFast { piece: 1, .. }));
        let day = RateSeries::new(vec![piece(86_400_000, 1.0)]).unwrap();
        for width in [Duration::ZERO, Duration::from_micros(1_500), Duration::from_millis(1)] {
            let error = day.rebinned(width).unwrap_err();
            assert_eq!(error, SeriesError::Bins { width, duration: day.duration() });
        }
        let fine = Piece { until: Duration::from_nanos(1_500), rate: Bandwidth::ZERO };
        assert!(matches!(error(&[fine]), SeriesError::TooFine { piece: 1, .. }));
    }
}

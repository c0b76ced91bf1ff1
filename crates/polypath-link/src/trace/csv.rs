//! Rates over time as CSV.

use super::series::{Piece, RateSeries, SAMPLE, last_length};
use core::fmt;
use std::time::Duration;

impl RateSeries {
    /// The series as CSV with the header `time_s,rate_mbit_s`, from which
    /// [`Recording::read`](super::Recording::read) reads the same series.
    pub fn to_csv(&self) -> impl fmt::Display {
        Csv(self)
    }
}

/// The file of a series.
struct Csv<'a>(&'a RateSeries);

impl fmt::Display for Csv<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "time_s,rate_mbit_s")?;
        let (pieces, mut start) = (self.0.pieces(), Duration::ZERO);
        for Piece { until, rate } in pieces {
            write_time(f, start)?;
            let bits = rate.bits_per_sec();
            writeln!(f, "{}.{:06}", bits / 1_000_000, bits % 1_000_000)?;
            start = *until;
        }
        // The length of the last piece is that of the one before; any other must be told.
        if last_length(pieces) != Some(last_length(&pieces[..pieces.len() - 1]).unwrap_or(SAMPLE)) {
            write_time(f, start)?;
            writeln!(f)?;
        }
        Ok(())
    }
}

fn write_time(f: &mut fmt::Formatter<'_>, at: Duration) -> fmt::Result {
    write!(f, "{}.{:06},", at.as_secs(), at.subsec_micros())
}

#[cfg(test)]
mod tests {
    use crate::trace::{Columns, Recording};

    #[test]
    fn the_last_length_is_written_only_where_it_must_be() {
        let written = |text: &str| match Recording::read(text.as_bytes(), &Columns::default()) {
            Ok(Recording::Rates(rates)) => rates.to_csv().to_string(),
            other => panic!("{other:?}"),
        };
        let text = "time_s,rate_mbit_s\n0.000000,1.500000\n0.250000,0.000001\n";
        assert_eq!(written(text), text);
        let ended = text.to_owned() + "0.300000,\n";
        assert_eq!(written(&ended), ended);
    }
}

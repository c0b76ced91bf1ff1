//! Days and billing months, in UTC.

use chrono::{Datelike, Months, NaiveDate};

/// What a quota is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// A day.
    Day,
    /// A month.
    Month {
        /// The day of the calendar month on which it begins, 1 to 31; in a month that is shorter,
        /// on the last day of that.
        reset: u8,
    },
}

impl Period {
    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month { .. } => "month",
        }
    }

    /// The first day of the period that `day` is in.
    pub(crate) fn begin(self, day: NaiveDate) -> NaiveDate {
        match self {
            Self::Day => day,
            Self::Month { reset } => {
                let begins = reset_in(day, reset);
                if begins <= day { begins } else { before(day, reset) }
            }
        }
    }

    /// The first day of the period that follows the one `day` is in.
    pub(crate) fn next(self, day: NaiveDate) -> NaiveDate {
        match self {
            Self::Day => day.succ_opt().unwrap_or(NaiveDate::MAX),
            Self::Month { reset } => {
                let begins = reset_in(day, reset);
                if begins > day { begins } else { behind(day, reset) }
            }
        }
    }
}

/// The day on which a billing month begins in the calendar month of `day`.
fn reset_in(day: NaiveDate, reset: u8) -> NaiveDate {
    let last_first = (1..=u32::from(reset)).rev();
    last_first.into_iter().find_map(|reset| day.with_day(reset)).unwrap_or(day)
}

/// The same in the calendar month before.
fn before(day: NaiveDate, reset: u8) -> NaiveDate {
    day.checked_sub_months(Months::new(1)).map_or(NaiveDate::MIN, |day| reset_in(day, reset))
}

/// The same in the calendar month behind.
fn behind(day: NaiveDate, reset: u8) -> NaiveDate {
    day.checked_add_months(Months::new(1)).map_or(NaiveDate::MAX, |day| reset_in(day, reset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn days_and_months_begin_where_the_calendar_says() {
        for (reset, on, begin, next) in [
            (1, "2026-11-01", "2026-11-01", "2026-12-01"),
            (1, "2026-12-31", "2026-12-01", "2027-01-01"),
            (15, "2026-01-14", "2025-12-15", "2026-01-15"),
            (15, "2026-01-15", "2026-01-15", "2026-02-15"),
            // A year that a leap day ends February of, one without, and one of a century.
            (30, "2028-02-28", "2028-01-30", "2028-02-29"),
            (30, "2026-02-27", "2026-01-30", "2026-02-28"),
            (29, "2100-02-28", "2100-02-28", "2100-03-29"),
            // The day that short months have not.
            (31, "2026-04-29", "2026-03-31", "2026-04-30"),
            (31, "2026-04-30", "2026-04-30", "2026-05-31"),
            (31, "2026-03-01", "2026-02-28", "2026-03-31"),
            (31, "2028-02-29", "2028-02-29", "2028-03-31"),
        ] {
            let month = Period::Month { reset };
            assert_eq!(month.begin(day(on)), day(begin), "{on}, reset {reset}");
            assert_eq!(month.next(day(on)), day(next), "{on}, reset {reset}");
        }
        assert_eq!(Period::Day.begin(day("2028-02-29")), day("2028-02-29"));
        assert_eq!(Period::Day.next(day("2028-02-29")), day("2028-03-01"));
        assert_eq!(Period::Day.next(NaiveDate::MAX), NaiveDate::MAX);
        assert_eq!(Period::Month { reset: 31 }.begin(NaiveDate::MIN), NaiveDate::MIN);
    }

    proptest! {
        /// Periods follow each other without gap: each day is in one, and it ends where the next
        /// one begins, 28 to 31 days later.
        #[test]
        fn periods_are_without_gaps(days in 0..80_000_i32, reset in 1..=31_u8) {
            let day = NaiveDate::from_epoch_days(days).unwrap();
            let month = Period::Month { reset };
            let (begin, next) = (month.begin(day), month.next(day));
            prop_assert!(begin <= day && day < next);
            prop_assert_eq!(month.next(begin), next);
            prop_assert_eq!(month.begin(next), next);
            prop_assert_eq!(month.begin(next.pred_opt().unwrap()), begin);
            prop_assert!((28..=31).contains(&(next - begin).num_days()), "{begin} {next}");
        }
    }
}

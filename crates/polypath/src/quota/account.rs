//! What a path has carried of its quota.

use chrono::NaiveDate;

use super::Quota;

/// What a path has carried in the present period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    quota: Quota,
    /// The first day of the period.
    since: NaiveDate,
    /// Bytes.
    used: u64,
}

/// How much of a quota is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Less than four fifths.
    Low,
    /// More, but not all.
    High,
    /// All of it.
    UsedUp,
}

impl Account {
    /// One of which nothing is used on `day`.
    pub(super) fn new(quota: Quota, day: NaiveDate) -> Self {
        Self { quota, since: quota.period.begin(day), used: 0 }
    }

    /// One that was kept: since when, and how many bytes.
    pub(super) const fn kept(quota: Quota, (since, used): (NaiveDate, u64)) -> Self {
        Self { quota, since, used }
    }

    /// What is to be kept of it.
    pub(super) const fn to_keep(&self) -> (NaiveDate, u64) {
        (self.since, self.used)
    }

    /// The quota.
    pub(super) const fn quota(&self) -> Quota {
        self.quota
    }

    /// Counts bytes that have passed until now, which is on `day`. Returns the level if it is
    /// another one than before.
    ///
    /// A new period begins when the clock says so. One that goes back begins none: hosts without a
    /// battery begin in the past, and what was counted must outlive that.
    pub(super) fn count(&mut self, bytes: u64, day: NaiveDate) -> Option<Level> {
        let before = self.level();
        let begins = self.quota.period.begin(day);
        if begins > self.since {
            (self.since, self.used) = (begins, 0);
        }
        self.used = self.used.saturating_add(bytes);
        Some(self.level()).filter(|level| *level != before)
    }

    /// How much is used.
    pub(super) fn level(&self) -> Level {
        let (used, all) = (u128::from(self.used), u128::from(self.quota.bytes.get()));
        match used {
            used if used >= all => Level::UsedUp,
            used if used * 5 >= all * 4 => Level::High,
            _ => Level::Low,
        }
    }

    /// The first day of the next period.
    pub(super) fn until(&self) -> NaiveDate {
        self.quota.period.next(self.since)
    }

    /// Whether the period has not begun yet on `day`.
    pub(super) fn is_ahead_of(&self, day: NaiveDate) -> bool {
        self.since > day
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn account(quota: &str, on: &str) -> Account {
        Account::new(quota.parse().unwrap(), day(on))
    }

    /// Of 1,000 bytes four fifths are 800.
    #[test]
    fn levels_are_told_when_they_change() {
        let mut account = account("1kB/month", "2026-11-29");
        let mut count = |bytes| account.count(bytes, day("2026-11-29"));
        assert_eq!(count(799), None);
        assert_eq!(count(1), Some(Level::High));
        assert_eq!(count(199), None);
        assert_eq!(count(1), Some(Level::UsedUp));
        assert_eq!(count(5_000), None);
        assert_eq!(account.to_keep(), (day("2026-11-01"), 6_000));
    }

    #[test]
    fn a_quota_that_is_used_at_once_skips_a_level() {
        let mut account = account("1kB/day", "2026-11-29");
        assert_eq!(account.count(1_000, day("2026-11-29")), Some(Level::UsedUp));
        assert_eq!(account.until(), day("2026-11-30"));
    }

    #[test]
    fn a_new_period_begins_at_zero() {
        let mut account = account("1kB/month", "2026-12-31");
        account.count(1_000, day("2026-12-31"));
        assert_eq!(account.until(), day("2027-01-01"));
        // What has passed since the last look counts in the new month.
        assert_eq!(account.count(10, day("2027-01-01")), Some(Level::Low));
        assert_eq!(account.to_keep(), (day("2027-01-01"), 10));
        // An edge that was off for long.
        account.count(990, day("2027-01-02"));
        assert_eq!(account.count(0, day("2027-06-30")), Some(Level::Low));
        assert_eq!(account.to_keep(), (day("2027-06-01"), 0));
    }

    #[test]
    fn a_clock_that_goes_back_begins_no_period_and_neither_does_its_return() {
        let mut account = account("1kB/month", "2026-11-29");
        account.count(900, day("2026-11-29"));
        assert_eq!(account.count(50, day("1970-01-01")), None);
        assert!(account.is_ahead_of(day("1970-01-01")));
        assert_eq!(account.count(50, day("2026-11-30")), Some(Level::UsedUp));
        assert_eq!(account.to_keep(), (day("2026-11-01"), 1_000));
        assert_eq!(account.until(), day("2026-12-01"));
    }

    /// Nobody knows what of the month was on this day, and what of the day is all of the month.
    #[test]
    fn a_period_of_another_kind_begins_when_it_would() {
        let kept = |quota: &str, since| Account::kept(quota.parse().unwrap(), (day(since), 900));
        let mut account = kept("1kB/day", "2026-11-01");
        assert_eq!(account.count(0, day("2026-11-29")), Some(Level::Low));
        let mut account = kept("1kB/month", "2026-11-29");
        assert_eq!(account.count(0, day("2026-11-30")), None);
        assert_eq!(account.until(), day("2026-12-01"));
        assert_eq!(account.count(0, day("2026-12-01")), Some(Level::Low));
    }

    #[test]
    fn counts_have_no_end() {
        let mut account = account("1000000GB/day", "2026-11-29");
        assert_eq!(account.count(u64::MAX, day("2026-11-29")), Some(Level::UsedUp));
        assert_eq!(account.count(u64::MAX, day("2026-11-29")), None);
    }
}

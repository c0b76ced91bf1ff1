//! Counting while an edge runs.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate, Utc};
use polypath_net::edge::PathMeters;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::MissedTickBehavior;

use super::account::{Account, Level};
use super::file::{Counts, QuotaFile};
use super::{Quota, QuotaFileError};
use crate::control::QuotaReport;

/// How often it is looked what paths have carried.
const LOOK: Duration = Duration::from_secs(1);
/// After so many looks what has changed is kept.
const LOOKS_TO_KEEP: u32 = 5;

/// The quotas of an edge's paths. Clones are the same ones.
#[derive(Clone, Debug)]
pub(crate) struct Quotas(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    meters: PathMeters,
    accounts: Mutex<BTreeMap<String, Account>>,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    file: QuotaFile,
    /// What the file has; also of paths that have no quota now.
    counts: Counts,
    /// Whether the last write failed, which is told once.
    has_failed: bool,
}

impl Quotas {
    /// The quotas of these paths, as they were left in `file`. Without a quota there is no file.
    ///
    /// # Errors
    /// See [`QuotaFileError`].
    pub(crate) fn open(
        quotas: &BTreeMap<String, Quota>,
        file: &Path,
    ) -> Result<Self, QuotaFileError> {
        if quotas.is_empty() {
            return Ok(Self(None));
        }
        let (file, mut counts) = QuotaFile::open(file)?;
        let today = today();
        let account = |(path, quota): (&String, &Quota)| {
            let kept = counts.get(path).map(|kept| Account::kept(*quota, *kept));
            (path.clone(), kept.unwrap_or_else(|| Account::new(*quota, today)))
        };
        let accounts: BTreeMap<_, _> = quotas.iter().map(account).collect();
        // What cannot be kept is known before the first byte.
        counts.extend(to_keep(&accounts));
        file.write(&counts)?;
        let meters = PathMeters::of(quotas.keys().cloned());
        let kept = Mutex::new(Kept { file, counts, has_failed: false });
        let shared = Shared { meters, accounts: Mutex::new(accounts), kept };
        shared.begin(today);
        Ok(Self(Some(Arc::new(shared))))
    }

    /// What counts what the paths carry.
    pub(crate) fn meters(&self) -> PathMeters {
        self.0.as_ref().map(|shared| shared.meters.clone()).unwrap_or_default()
    }

    /// Counts until dropped.
    pub(crate) async fn keep_counting(&self) {
        let Some(shared) = &self.0 else { return pending().await };
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut writing: Option<JoinHandle<()>> = None;
        for look in 1_u32.. {
            ticks.tick().await;
            shared.count();
            // Counting does not wait for a disk that hangs.
            let is_free = writing.as_ref().is_none_or(JoinHandle::is_finished);
            if look % LOOKS_TO_KEEP == 0 && is_free {
                let shared = Arc::clone(shared);
                writing = Some(spawn_blocking(move || shared.keep()));
            }
        }
    }

    /// Counts and keeps what has passed until now.
    pub(crate) fn finish(&self) {
        if let Some(shared) = &self.0 {
            shared.count();
            shared.keep();
        }
    }

    /// What is used now.
    pub(crate) fn report(&self) -> Vec<QuotaReport> {
        let Some(shared) = &self.0 else { return Vec::new() };
        shared.count();
        let accounts = shared.accounts();
        accounts.iter().map(|(path, account)| report(path, account)).collect()
    }
}

impl Shared {
    fn accounts(&self) -> MutexGuard<'_, BTreeMap<String, Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up what was left.
    fn begin(&self, today: NaiveDate) {
        let mut accounts = self.accounts();
        for (path, account) in accounts.iter_mut() {
            account.count(0, today);
            if account.is_ahead_of(today) {
                let (since, _) = account.to_keep();
                tracing::warn!(path, %today, %since, "the clock is behind the period of the quota");
            }
            if account.level() > Level::Low {
                tell(path, account);
            }
        }
        self.spare(&accounts);
    }

    /// Counts what has passed, and makes backups of paths that have used all of their quotas up.
    fn count(&self) {
        let today = today();
        let mut accounts = self.accounts();
        let mut has_changed = false;
        for (path, account) in accounts.iter_mut() {
            if account.count(self.meters.take(path), today).is_some() {
                tell(path, account);
                has_changed = true;
            }
        }
        if has_changed {
            self.spare(&accounts);
        }
    }

    fn spare(&self, accounts: &BTreeMap<String, Account>) {
        let used_up = accounts.iter().filter(|(_, account)| account.level() == Level::UsedUp);
        self.meters.spare(used_up.map(|(path, _)| path.clone()).collect::<BTreeSet<_>>());
    }

    /// Keeps what has changed. A file that cannot be written is tried again.
    fn keep(&self) {
        if let Err(error) = self.try_keep() {
            tracing::error!("{error}; what is counted from now on is lost when this edge ends");
        }
    }

    /// Writes if something has changed. Of errors one after the other only the first is returned.
    fn try_keep(&self) -> Result<(), QuotaFileError> {
        // Held first: what is written last is what was counted last.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts = kept.counts.clone();
        counts.extend(to_keep(&self.accounts()));
        if counts == kept.counts {
            return Ok(());
        }
        let written = kept.file.write(&counts);
        let is_known = std::mem::replace(&mut kept.has_failed, written.is_err());
        match written {
            Ok(()) => kept.counts = counts,
            Err(_) if is_known => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn to_keep(accounts: &BTreeMap<String, Account>) -> Counts {
    accounts.iter().map(|(path, account)| (path.clone(), account.to_keep())).collect()
}

fn tell(path: &str, account: &Account) {
    let (quota, until, (_, used)) = (account.quota(), account.until(), account.to_keep());
    match account.level() {
        Level::Low => tracing::info!(path, %quota, "a new period of the quota has begun"),
        Level::High => tracing::warn!(path, %quota, used, %until, "most of the quota is used"),
        Level::UsedUp => tracing::warn!(
            path, %quota, used, %until,
            "the quota is used up: the path is a backup until then"
        ),
    }
}

fn report(path: &str, account: &Account) -> QuotaReport {
    let (quota, (_, used_bytes)) = (account.quota(), account.to_keep());
    QuotaReport {
        path: path.to_owned(),
        period: quota.period.name().to_owned(),
        quota_bytes: quota.bytes.get(),
        used_bytes,
        until: format!("{}T00:00:00Z", account.until()),
        used_up: account.level() == Level::UsedUp,
    }
}

/// The day in UTC.
#[expect(clippy::disallowed_methods, reason = "operators bill by the calendar")]
fn today() -> NaiveDate {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX);
    DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MAX_UTC).date_naive()
}

//! A number of places of which no client takes those that others may need.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Client, ClientId};

/// A client may have so many times what is left free: three quarters of all places while it is
/// alone, and where `n` clients take what they get, each has 3/(3n + 1) and one more finds as much
/// as a third of that (dynamic threshold, Choudhury and Hahne 1998).
const SHARE: usize = 3;

/// A bounded number of places, which clients share.
#[derive(Debug)]
pub struct FairLimit {
    /// What a place is for, in the plural.
    what: &'static str,
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    in_all: usize,
    /// Those who have a place.
    by: BTreeMap<ClientId, usize>,
}

/// Why there is no place for a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitReached {
    /// It has as many as one client may have.
    #[error("{client} has {most} {what}, as many as it may")]
    Own {
        /// Who it is.
        client: Client,
        /// What the places are for.
        what: &'static str,
        /// The limit for this client.
        most: usize,
    },
    /// What is left is for others.
    #[error("{client} has {has} {what}; {free} of {most} are left, for others too")]
    Share {
        /// Who it is.
        client: Client,
        /// What the places are for.
        what: &'static str,
        /// Places that it has.
        has: usize,
        /// Places that nobody has.
        free: usize,
        /// All places.
        most: usize,
    },
}

impl FairLimit {
    /// `most` places for what `what` names in the plural.
    pub fn new(what: &'static str, most: usize) -> Arc<Self> {
        Arc::new(Self { what, most, taken: Mutex::default() })
    }

    /// A place for `client`, which may have at most `own` of them.
    ///
    /// # Errors
    /// When the client has as many as it may, or as is fair.
    pub fn take(self: &Arc<Self>, client: &Client, own: usize) -> Result<Place, LimitReached> {
        let mut taken = self.taken();
        let has = taken.by.get(&client.id).copied().unwrap_or(0);
        let (client, what) = (client.clone(), self.what);
        if has >= own {
            return Err(LimitReached::Own { client, what, most: own });
        }
        let free = self.most - taken.in_all;
        if has >= free.saturating_mul(SHARE) {
            return Err(LimitReached::Share { client, what, has, free, most: self.most });
        }
        taken.in_all += 1;
        taken.by.insert(client.id, has + 1);
        Ok(Place { limit: Arc::clone(self), client: client.id })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place under a [`FairLimit`], free again when this is dropped.
#[derive(Debug)]
pub struct Place {
    limit: Arc<FairLimit>,
    client: ClientId,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.limit.taken();
        taken.in_all -= 1;
        if let Some(has) = taken.by.get_mut(&self.client) {
            *has -= 1;
            if *has == 0 {
                taken.by.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(n: u8) -> Client {
        Client::host([192, 0, 2, n].into())
    }

    fn fill(limit: &Arc<FairLimit>, n: u8) -> Vec<Place> {
        std::iter::from_fn(|| limit.take(&client(n), usize::MAX).ok()).collect()
    }

    /// Each takes while it has less than three times what is left: 75 of 100; then 19 of 25, for
    /// which 6 are left; then 5 of those.
    #[test]
    fn whoever_comes_later_finds_places() {
        let limit = FairLimit::new("things", 100);
        let first = fill(&limit, 1);
        let second = fill(&limit, 2);
        let third = fill(&limit, 3);
        assert_eq!([first.len(), second.len(), third.len()], [75, 19, 5]);
        let error = limit.take(&client(1), usize::MAX).unwrap_err();
        assert_eq!(error.to_string(), "192.0.2.1 has 75 things; 1 of 100 are left, for others too");
        drop(first);
        assert_eq!(fill(&limit, 2).len(), 53, "19 + 52 < 3 (76 - 52), and 19 + 53 > 3 (76 - 53)");
    }

    #[test]
    fn a_client_has_no_more_than_its_own_limit() {
        let limit = FairLimit::new("things", 100);
        let places = [limit.take(&client(1), 2).unwrap(), limit.take(&client(1), 2).unwrap()];
        let error = limit.take(&client(1), 2).unwrap_err();
        assert_eq!(error.to_string(), "192.0.2.1 has 2 things, as many as it may");
        assert!(limit.take(&client(2), 2).is_ok());
        drop(places);
        assert!(limit.taken().by.is_empty());
        assert_eq!(limit.taken().in_all, 0);
    }

    #[test]
    fn of_no_places_there_is_none() {
        assert!(FairLimit::new("things", 0).take(&client(1), 5).is_err());
    }
}

//! Whether the hub can be joined at all, at first or with a new bond after one broke.

use polypath_bond::codec::{JoinRefusal, PROTOCOL_VERSION};
use polypath_bond::identity::WrongHubKey;
use polypath_bond::{BondKey, LossReason, NodeEvent};
use polypath_units::PathId;
use std::collections::BTreeMap;

/// How far the first join of a bond has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Joining {
    /// Some path may still join.
    Pending,
    /// A path has joined.
    Joined,
    /// Every path has failed once. They are tried again.
    Failed(JoinError),
}

/// Why no path could join.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// Who answers at the hub's address is not the hub.
    #[error(transparent)]
    WrongHubKey(WrongHubKey),
    /// The hub said no.
    #[error("{}", refused(*code, reason))]
    Refused {
        /// Why.
        code: JoinRefusal,
        /// Why, in the hub's words.
        reason: String,
    },
    /// Nothing answered.
    #[error("the hub cannot be reached: {0}")]
    Unreachable(String),
}

/// What to say of a refusal: the hub's words, and what they mean for this edge.
fn refused(code: JoinRefusal, reason: &str) -> String {
    match code {
        JoinRefusal::Version => {
            format!(
                "{code} than this edge, which speaks {PROTOCOL_VERSION}; the hub says: {reason}"
            )
        }
        _ => reason.to_owned(),
    }
}

impl Joining {
    /// Why there is no hope.
    pub(super) fn final_error(&self) -> Option<&JoinError> {
        match self {
            Self::Failed(error) if error.is_final() => Some(error),
            _ => None,
        }
    }
}

impl JoinError {
    /// The edge, with what would have told how it goes.
    pub(super) fn stopped() -> Self {
        Self::Unreachable("the edge has stopped".to_owned())
    }

    /// Whether trying again is of no use until somebody changes something.
    pub fn is_final(&self) -> bool {
        match self {
            Self::WrongHubKey(_) => true,
            Self::Refused { code, .. } => match code {
                JoinRefusal::Version
                | JoinRefusal::BadProof
                | JoinRefusal::NotAllowed
                | JoinRefusal::Malformed => true,
                JoinRefusal::UnknownBond | JoinRefusal::LimitReached => false,
            },
            Self::Unreachable(_) => false,
        }
    }
}

/// Judges the first join of the newest bond by what happens to the paths.
#[derive(Debug)]
pub(super) struct FirstJoin {
    paths: usize,
    bond: BondKey,
    joined: bool,
    failed: BTreeMap<PathId, JoinError>,
}

impl FirstJoin {
    /// The edge begins with this bond and `paths` paths.
    pub(super) fn new(bond: BondKey, paths: usize) -> Self {
        Self { paths, bond, joined: false, failed: BTreeMap::new() }
    }

    /// `None` for what says nothing of it: paths of a bond that broke, or that were joined before.
    pub(super) fn judge(&mut self, event: &NodeEvent) -> Option<Joining> {
        let bond = event.bond();
        if bond > self.bond {
            *self = Self::new(bond, self.paths);
        }
        (bond == self.bond && !self.joined).then(|| self.judge_new(event))
    }

    fn judge_new(&mut self, event: &NodeEvent) -> Joining {
        let (path, error) = match event.clone() {
            NodeEvent::PathJoined { .. } => {
                self.joined = true;
                return Joining::Joined;
            }
            NodeEvent::BondOpened(_) | NodeEvent::SameKey { .. } => return Joining::Pending,
            NodeEvent::PathRefused { path, code, reason, .. } => {
                (path, JoinError::Refused { code, reason })
            }
            NodeEvent::PathLost { path, reason, .. } => (path, reason.into()),
        };
        self.failed.insert(path, error.clone());
        if self.failed.len() < self.paths {
            return Joining::Pending;
        }
        let worst = self.failed.values().find(|error| error.is_final());
        Joining::Failed(worst.cloned().unwrap_or(error))
    }
}

impl From<LossReason> for JoinError {
    fn from(reason: LossReason) -> Self {
        match reason {
            LossReason::WrongHubKey(wrong) => Self::WrongHubKey(wrong),
            LossReason::Connection(reason) => Self::Unreachable(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: BondKey = BondKey(0);
    const SECOND: BondKey = BondKey(1);

    fn path(n: u8) -> PathId {
        PathId::new(n).unwrap()
    }

    fn lost(bond: BondKey, n: u8) -> NodeEvent {
        let reason = LossReason::Connection("timed out".to_owned());
        NodeEvent::PathLost { bond, path: path(n), reason }
    }

    fn refused(bond: BondKey, n: u8, code: JoinRefusal) -> NodeEvent {
        NodeEvent::PathRefused { bond, path: path(n), code, reason: code.to_string() }
    }

    fn joined(bond: BondKey) -> NodeEvent {
        NodeEvent::PathJoined { bond, path: path(0), remote: ([192, 0, 2, 1], 1).into() }
    }

    fn is_final(joining: Option<Joining>) -> bool {
        let Some(Joining::Failed(error)) = joining else { panic!("not failed: {joining:?}") };
        error.is_final()
    }

    #[test]
    fn it_has_failed_once_every_path_has() {
        let mut join = FirstJoin::new(FIRST, 2);
        assert_eq!(join.judge(&lost(FIRST, 0)), Some(Joining::Pending));
        assert_eq!(join.judge(&lost(FIRST, 0)), Some(Joining::Pending), "the same path again");
        assert!(is_final(join.judge(&refused(FIRST, 1, JoinRefusal::NotAllowed))));
        // What is final stands even if another path fails later.
        assert!(is_final(join.judge(&lost(FIRST, 0))));
        assert_eq!(join.judge(&joined(FIRST)), Some(Joining::Joined));
    }

    #[test]
    fn what_may_pass_is_not_final() {
        let mut join = FirstJoin::new(FIRST, 1);
        assert!(!is_final(join.judge(&lost(FIRST, 0))));
        assert!(!is_final(join.judge(&refused(FIRST, 0, JoinRefusal::LimitReached))));
    }

    #[test]
    fn a_hub_of_another_version_is_final_and_said_to_be_one() {
        let (code, reason) =
            (JoinRefusal::Version, "this hub speaks protocol version 7".to_owned());
        let mut join = FirstJoin::new(FIRST, 1);
        let refused = NodeEvent::PathRefused { bond: FIRST, path: path(0), code, reason };
        let Some(Joining::Failed(error)) = join.judge(&refused) else { panic!("not failed") };
        assert!(error.is_final());
        assert_eq!(
            error.to_string(),
            "the hub speaks another protocol version than this edge, which speaks 1; \
             the hub says: this hub speaks protocol version 7"
        );
    }

    #[test]
    fn a_new_bond_is_joined_anew() {
        let mut join = FirstJoin::new(FIRST, 1);
        assert_eq!(join.judge(&joined(FIRST)), Some(Joining::Joined));
        assert_eq!(join.judge(&refused(FIRST, 0, JoinRefusal::NotAllowed)), None, "it was joined");
        assert!(is_final(join.judge(&refused(SECOND, 0, JoinRefusal::NotAllowed))));
        assert_eq!(join.judge(&joined(FIRST)), None, "that bond broke");
        assert_eq!(join.judge(&joined(SECOND)), Some(Joining::Joined));
    }
}

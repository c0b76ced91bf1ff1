//! Whether the hub can be joined at all.

use polypath_bond::codec::JoinRefusal;
use polypath_bond::identity::WrongHubKey;
use polypath_bond::{LossReason, NodeEvent};
use polypath_units::PathId;
use std::collections::BTreeMap;

/// How far the first join of an edge has come.
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
    #[error("{reason}")]
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

impl JoinError {
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

/// Judges the first join by what happens to the paths.
#[derive(Debug)]
pub(super) struct FirstJoin {
    paths: usize,
    failed: BTreeMap<PathId, JoinError>,
}

impl FirstJoin {
    /// The edge begins with `paths` paths.
    pub(super) fn new(paths: usize) -> Self {
        Self { paths, failed: BTreeMap::new() }
    }

    pub(super) fn judge(&mut self, event: &NodeEvent) -> Joining {
        let (path, error) = match event.clone() {
            NodeEvent::PathJoined { .. } => return Joining::Joined,
            NodeEvent::BondOpened(_) => return Joining::Pending,
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
    use polypath_bond::BondKey;

    fn path(n: u8) -> PathId {
        PathId::new(n).unwrap()
    }

    fn lost(n: u8) -> NodeEvent {
        let reason = LossReason::Connection("timed out".to_owned());
        NodeEvent::PathLost { bond: BondKey(0), path: path(n), reason }
    }

    fn refused(n: u8, code: JoinRefusal) -> NodeEvent {
        let reason = code.to_string();
        NodeEvent::PathRefused { bond: BondKey(0), path: path(n), code, reason }
    }

    #[test]
    fn it_has_failed_once_every_path_has() {
        let mut join = FirstJoin::new(2);
        assert_eq!(join.judge(&lost(0)), Joining::Pending);
        assert_eq!(join.judge(&lost(0)), Joining::Pending, "the same path again");
        let Joining::Failed(error) = join.judge(&refused(1, JoinRefusal::NotAllowed)) else {
            panic!("both have failed");
        };
        assert!(error.is_final());
        // What is final stands even if another path fails later.
        let Joining::Failed(error) = join.judge(&lost(0)) else { panic!("still failed") };
        assert!(error.is_final());
        let joined = NodeEvent::PathJoined { bond: BondKey(0), path: path(0) };
        assert_eq!(join.judge(&joined), Joining::Joined);
    }

    #[test]
    fn what_may_pass_is_not_final() {
        let mut join = FirstJoin::new(1);
        for event in [lost(0), refused(0, JoinRefusal::LimitReached)] {
            let Joining::Failed(error) = join.judge(&event) else { panic!("one path failed") };
            assert!(!error.is_final(), "{error}");
        }
    }
}

//! A connection that an agent manages.

use std::collections::BTreeMap;
use std::io;

use polypath_units::Timestamp;

use crate::kernel::{PathManager, Sockets};
use crate::state::{DataState, Ends, Subflow};
use crate::watch::Connection;

/// A connection with what is known of it.
pub(crate) struct Managed {
    pub(crate) watched: Connection,
    pub(crate) data: DataState,
    pub(crate) subflows: Vec<Subflow>,
    /// Subflows that are silent and of which another is wanted.
    pub(crate) silent: Vec<Ends>,
    /// What each subflow was last told to be.
    pub(crate) backup: BTreeMap<Ends, bool>,
    /// The kernel's path manager has it: it was there before.
    pub(crate) foreign: bool,
}

impl Managed {
    /// One that was found at `now`.
    pub(crate) fn new(data: DataState, subflows: Vec<Subflow>, now: Timestamp) -> Self {
        Self {
            watched: Connection::new(data, now),
            data,
            subflows,
            silent: Vec::new(),
            backup: BTreeMap::new(),
            foreign: false,
        }
    }

    /// Ends a subflow. Of one that was opened here the peer learns over another, and ends its side;
    /// one that the peer has opened is ended without leaving anything, so that the peer gets a
    /// reset when it asks.
    pub(crate) fn end(&mut self, ends: Ends, manager: &mut PathManager, sockets: &mut Sockets) {
        let found = self.subflows.iter().find(|subflow| subflow.ends == ends).copied();
        let Some(subflow) = found else { return };
        self.subflows.retain(|subflow| subflow.ends != ends);
        let ended = if subflow.opened_here {
            // Where another has been made with the same identifier, that would end, too.
            let is_last = !self.subflows.iter().any(|other| other.local_id == subflow.local_id);
            let withdrawn = is_last.then(|| manager.withdraw(subflow.token, subflow.local_id));
            if let Some(Err(error)) = withdrawn {
                tracing::debug!("the peer is not told that {} is gone: {error}", ends.local);
            }
            manager.destroy(subflow.token, ends)
        } else {
            sockets.destroy(&subflow)
        };
        match ended {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.foreign = true,
            Err(error) => {
                let Ends { local, remote } = ends;
                tracing::warn!("cannot end the subflow from {local} to {remote}: {error}");
            }
        }
    }
}

//! A path that exists, and its sockets.

use super::EdgeError;
use super::plan::{Planned, PlannedWay, Start};
use crate::driver::Driver;
use crate::socket::{BindTo, Binding, Meter, UplinkOptions, UplinkSocket};
use polypath_bond::{SocketId, Way};
use polypath_units::PathId;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// A path that exists, and what it was made from.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) id: PathId,
    pub(super) sockets: BTreeSet<SocketId>,
    pub(super) planned: Planned,
}

impl Live {
    /// Whether the path is as `planned`: one that has joined needs the way on which it has, and one
    /// that has not all of them and no others.
    pub(super) fn is(&self, planned: &Planned, has_joined: bool) -> bool {
        self.planned.covers(planned) && (has_joined || planned.covers(&self.planned))
    }
}

/// Where else connections to the hub may begin, of each path.
pub(crate) type Uplinks = BTreeMap<PathId, Vec<Uplink>>;

/// Where a socket may begin, and the hub's address that can be reached from there.
#[derive(Clone, Debug)]
pub(crate) struct Uplink {
    /// What it is tied to.
    pub(crate) from: BindTo,
    /// Where the bond finds the hub.
    pub(crate) hub: SocketAddr,
}

impl Live {
    /// Its ways, for others.
    pub(super) fn uplinks(&self) -> Vec<Uplink> {
        let ways = self.planned.ways.iter();
        ways.map(|way| Uplink { from: way.start.socket.bind_to.clone(), hub: way.remote }).collect()
    }
}

/// Opens the sockets of a path. Ways whose socket cannot be opened are left out, as long as there
/// are others.
pub(super) fn bind_ways(
    driver: &Driver,
    planned: &Planned,
    mark: Option<u32>,
    meter: Option<&Meter>,
) -> Result<Vec<Way>, EdgeError> {
    let mut bound: Vec<(&Start, Option<SocketId>)> = Vec::new();
    let (mut ways, mut problems) = (Vec::new(), Vec::new());
    for PlannedWay { start, remote } in &planned.ways {
        let known = bound.iter().find(|(other, _)| *other == start).map(|(_, socket)| *socket);
        let socket = known.unwrap_or_else(|| {
            let socket = bind(&planned.name, start, mark).map_err(|e| problems.push(e)).ok();
            let socket = socket.map(|socket| driver.add_socket(socket.metered(meter.cloned())));
            bound.push((start, socket));
            socket
        });
        ways.extend(socket.map(|socket| Way { socket, remote: *remote }));
    }
    if ways.is_empty()
        && let Some(error) = problems.pop()
    {
        return Err(error);
    }
    for error in problems {
        tracing::warn!(%error, "the path does without it");
    }
    Ok(ways)
}

fn bind(path: &str, start: &Start, mark: Option<u32>) -> Result<UplinkSocket, EdgeError> {
    let socket = UplinkSocket::bind(&UplinkOptions { mark, ..start.socket.clone() })
        .map_err(|error| EdgeError::Bind { path: path.to_owned(), error })?;
    tracing::info!(path, binding = ?socket.binding(), "bound");
    if let Binding::AddressInsteadOfDevice { device, address } = socket.binding() {
        tracing::warn!(
            path, device, %address,
            "no permission to tie the path to its interface: the routes decide where it leaves"
        );
    }
    Ok(socket)
}

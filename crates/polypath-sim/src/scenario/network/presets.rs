//! Networks that experiments share.

use crate::network::PathLinks;
use crate::scenario::ScenarioError;
use crate::scenario::declare::{Located, keys, tagged};
use crate::scenario::link_keys::PairKeys;
use crate::scenario::read::Reader;
use crate::topology::{self, Graph};

tagged! {
    /// A network that experiments share.
    pub(in crate::scenario) enum PresetKeys by "preset" {
        /// Two paths of one link each between `client` and `server`: `path1` and `path2`.
        TwoPath(TwoPathKeys) = "two_path",
        /// As many equal paths as `count` says, of one link each, between `client` and
        /// `server`: `path1`, `path2` and so on.
        NPath(NPathKeys) = "n_path",
        /// The host `multipath` has the links `access1`, `access2` and so on to `router`, the
        /// host `single` has the link `single`; all share the link `bottleneck` to `server`.
        SharedBottleneck(SharedKeys) = "shared_bottleneck",
        /// Pairs of hosts, `left1` and `right1` and so on, with the links `near1` and `far1`
        /// and so on to the routers `west` and `east`, which the link `bottleneck` joins.
        Dumbbell(DumbbellKeys) = "dumbbell",
        /// The links `bottleneck1`, `bottleneck2` and so on in a row: connections from `client`
        /// to `server` cross all, those from `from1` to `to1` only the first, and so on.
        ParkingLot(ParkingLotKeys) = "parking_lot",
        /// The links `hop1`, `hop2` and so on in a row between `client` and `server`, with the
        /// routers `r1`, `r2` and so on.
        Chain(ChainKeys) = "router_chain",
    }
}

keys! {
    /// Two paths.
    pub(in crate::scenario) struct TwoPathKeys {
        /// The link `path1`.
        path1: Located<PairKeys>;
        /// The link `path2`.
        path2: Located<PairKeys>;
    }
}

keys! {
    /// Equal paths.
    pub(in crate::scenario) struct NPathKeys {
        /// The number of paths.
        count: u32 where 1 to 64;
        /// The link of each path.
        path: Located<PairKeys>;
    }
}

keys! {
    /// Paths that meet in one link.
    pub(in crate::scenario) struct SharedKeys {
        /// The number of access links of the host `multipath`.
        count: u32 = 2 where 1 to 64;
        /// Each access link.
        access: Located<PairKeys>;
        /// The link that all share.
        bottleneck: Located<PairKeys>;
    }
}

keys! {
    /// Pairs of hosts that share one link.
    pub(in crate::scenario) struct DumbbellKeys {
        /// The number of pairs.
        count: u32 = 2 where 1 to 10000;
        /// The link of each host.
        access: Located<PairKeys>;
        /// The link of each host on the right, if it is not as those on the left.
        far_access: Option<Located<PairKeys>>;
        /// The link that all share.
        bottleneck: Located<PairKeys>;
    }
}

keys! {
    /// A row of bottlenecks.
    pub(in crate::scenario) struct ParkingLotKeys {
        /// The number of bottlenecks.
        count: u32 = 3 where 1 to 1000;
        /// The link of each host.
        access: Located<PairKeys>;
        /// Each bottleneck.
        bottleneck: Located<PairKeys>;
    }
}

keys! {
    /// A row of links.
    pub(in crate::scenario) struct ChainKeys {
        /// The number of links.
        count: u32 = 2 where 1 to 1000;
        /// Each link.
        link: Located<PairKeys>;
    }
}

/// A network that experiments share; the names of its nodes and links are those of
/// [`Preset::graph`].
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a scenario has one")]
pub enum Preset {
    /// Two paths of one link each.
    TwoPath {
        /// The first.
        path1: PathLinks,
        /// The second.
        path2: PathLinks,
    },
    /// Equal paths of one link each.
    NPath {
        /// The number of paths.
        count: u32,
        /// Each path.
        path: PathLinks,
    },
    /// A multihomed and a single-homed host that share one link to their server.
    SharedBottleneck {
        /// The number of access links of the multihomed host.
        count: u32,
        /// Each access link.
        access: PathLinks,
        /// The link that all share.
        bottleneck: PathLinks,
    },
    /// Pairs of hosts that share one link.
    Dumbbell {
        /// The number of pairs.
        count: u32,
        /// The link of each host on the left.
        access: PathLinks,
        /// The link of each host on the right.
        far_access: PathLinks,
        /// The link that all share.
        bottleneck: PathLinks,
    },
    /// A row of bottlenecks: one pair of hosts crosses all, and one pair crosses each.
    ParkingLot {
        /// The number of bottlenecks.
        count: u32,
        /// The link of each host.
        access: PathLinks,
        /// Each bottleneck.
        bottleneck: PathLinks,
    },
    /// A row of links between two hosts.
    Chain {
        /// The number of links.
        count: u32,
        /// Each link.
        link: PathLinks,
    },
}

impl PresetKeys {
    pub(super) fn preset(&self, reader: &mut Reader<'_>) -> Result<Preset, ScenarioError> {
        let mut links = |keys: &Located<PairKeys>| keys.value.links(keys.key(), keys, reader);
        Ok(match self {
            Self::TwoPath(keys) => {
                Preset::TwoPath { path1: links(&keys.path1)?, path2: links(&keys.path2)? }
            }
            Self::NPath(keys) => Preset::NPath { count: keys.count, path: links(&keys.path)? },
            Self::SharedBottleneck(keys) => Preset::SharedBottleneck {
                count: keys.count,
                access: links(&keys.access)?,
                bottleneck: links(&keys.bottleneck)?,
            },
            Self::Dumbbell(keys) => Preset::Dumbbell {
                count: keys.count,
                access: links(&keys.access)?,
                far_access: links(keys.far_access.as_ref().unwrap_or(&keys.access))?,
                bottleneck: links(&keys.bottleneck)?,
            },
            Self::ParkingLot(keys) => Preset::ParkingLot {
                count: keys.count,
                access: links(&keys.access)?,
                bottleneck: links(&keys.bottleneck)?,
            },
            Self::Chain(keys) => Preset::Chain { count: keys.count, link: links(&keys.link)? },
        })
    }
}

impl Preset {
    /// The network as nodes and links by name.
    pub fn graph(&self) -> Graph {
        match self {
            Self::TwoPath { path1, path2 } => {
                let (path1, path2) = (path1.clone(), path2.clone());
                Graph::between_two_hosts([("path1".into(), path1), ("path2".into(), path2)])
            }
            Self::NPath { count, path } => {
                let links = (1..=*count).map(|n| (format!("path{n}"), path.clone()));
                Graph::between_two_hosts(links)
            }
            Self::SharedBottleneck { count, access, bottleneck } => {
                topology::shared_bottleneck(*count, access, bottleneck)
            }
            Self::Dumbbell { count, access, far_access, bottleneck } => {
                topology::dumbbell(*count, access, far_access, bottleneck)
            }
            Self::ParkingLot { count, access, bottleneck } => {
                topology::parking_lot(*count, access, bottleneck)
            }
            Self::Chain { count, link } => topology::chain(*count, link),
        }
    }
}

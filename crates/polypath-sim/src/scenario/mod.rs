//! Scenario files: a network and what runs on it, in TOML.
//!
//! ```toml
//! [[path]]
//! name = "mmwave"                 # required, unique
//! rate = "500 Mbit/s"             # or: trace = "lte.mahimahi", relative to this file
//! rate_schedule = [{ at = "3 s", rate = "200 Mbit/s" }]
//! delay = "5 ms"                  # required; one way
//! jitter = "1 ms"                 # uniform, plus or minus
//! reorder = false                 # whether jitter may reorder
//! queue = "1 bdp"                 # or "1500 packets", "1 MB"
//! loss = 0.01                     # or { gilbert_elliott = { good_to_bad = 0.001,
//!                                 #      bad_to_good = 0.1, loss_good = 0.0, loss_bad = 1.0 } }
//! mtu = "1500 B"
//! blackout = [{ from = "10 s", to = "12 s" }]
//! [path.blockage]                 # a rate from one time on, or until another
//! at = "7 s"
//! rate = "15 Mbit/s"
//! [path.up]                       # edge to hub: any of the above again, except the name
//! rate = "50 Mbit/s"
//! [path.down]                     # hub to edge
//! mtu = "1400 B"
//!
//! [connection]                    # all optional
//! congestion = "balia"
//! slow_start = "bess"
//! scheduler = "blest"
//! failure = "fpf"
//! receive_buffer = "4 MB"
//!
//! [[flow]]
//! kind = "bulk"
//! bytes = "100 MB"
//! start = "0 s"
//! direction = "up"
//! ```
//!
//! Rates, sizes and times carry their units. A trace repeats unless `trace_loop = false`.
//! A BDP is the rate of the direction (see [`QueueLimit`](polypath_link::QueueLimit)) times the
//! sum of both directions' delays. A direction that has a rate or trace of its own does not
//! inherit the path's schedule and blockage. Unknown keys are errors.

mod error;
mod link_keys;
mod names;
mod read;
mod table;

pub use error::{Place, ScenarioError};
pub use names::{AlgorithmName, NameKind};

use crate::network::{Direction, PathLinks};
use polypath_units::{ByteCount, Timestamp};
use std::io;
use std::path::Path;

/// A network and what runs on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The paths, at least one.
    pub paths: Vec<ScenarioPath>,
    /// The connection over them.
    pub connection: ConnectionSpec,
    /// What it carries.
    pub flows: Vec<Flow>,
}

/// A path by name.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioPath {
    /// The name, unique in the scenario.
    pub name: String,
    /// Its links.
    pub links: PathLinks,
}

/// The algorithms of a connection; what is `None` is for the reader to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSpec {
    /// The congestion avoidance.
    pub congestion: Option<AlgorithmName>,
    /// The slow start.
    pub slow_start: Option<AlgorithmName>,
    /// The scheduler.
    pub scheduler: Option<AlgorithmName>,
    /// The path-failure detector.
    pub failure: Option<AlgorithmName>,
    /// The receive buffer that all paths share.
    pub receive_buffer: Option<ByteCount>,
}

/// Something that a connection carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// What it is.
    pub kind: FlowKind,
    /// When it begins.
    pub start: Timestamp,
    /// Where it goes.
    pub direction: Direction,
}

/// The kinds of flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowKind {
    /// A transfer as fast as the network allows.
    Bulk {
        /// Its size.
        bytes: ByteCount,
    },
}

impl Scenario {
    /// Reads a scenario file, and the traces it names relative to its folder.
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn load(file: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| ScenarioError::Read { file: file.to_owned(), source })?;
        Self::parse(&text, file, &mut |trace| std::fs::read_to_string(trace))
    }

    /// Reads a scenario from text. `file` is its name in errors and the base of trace names;
    /// `open` gives the text of a trace file.
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn parse(
        text: &str,
        file: &Path,
        open: &mut dyn FnMut(&Path) -> io::Result<String>,
    ) -> Result<Self, ScenarioError> {
        read::scenario(text, file, open)
    }

    /// The links of all paths, as [`Network::new`](crate::Network::new) takes them.
    pub fn links(&self) -> impl Iterator<Item = PathLinks> {
        self.paths.iter().map(|path| path.links.clone())
    }
}

//! Scenario files: a network and what runs on it, in TOML.
//!
//! ```toml
//! duration = "60 s"
//!
//! [[path]]
//! name = "mmwave"
//! rate = "500 Mbit/s"
//! delay = "5 ms"
//! queue = "1 bdp"
//!
//! [connection]
//! transport = "mptcp"
//! congestion = "lia"
//!
//! [[flow]]
//! kind = "bulk"
//! ```
//!
//! Every key is declared once, with its type, default, range and meaning, by the macros of
//! `declare`; the reader, the JSON schema ([`schema()`]) and the reference ([`reference()`], in
//! `docs/scenario.md`) come from there. What is wrong is told with file, line, key and what is
//! allowed.

mod algorithms;
mod connection;
pub mod declare;
mod error;
mod event;
mod feedback;
mod flow;
mod generate;
mod link_keys;
mod network;
mod overrides;
mod queue;
mod radio;
mod rate_source;
mod read;
mod record;
mod recovery;
mod reference;
mod schema;
mod seed;
mod trace_file;

pub use connection::{
    BondOptions, Carrier, CompositionOptions, ConnectionSpec, InnerTcp, Mptcp, PathChoice, Quic,
    ReceiveOptions, Tcp, TcpOptions, Through, Transport, Tunnel, Udp, WindowControl,
};
pub use declare::Located;
pub use error::{ScenarioError, TraceFileError};
pub use event::{Change, Event};
pub use feedback::FeedbackSpec;
pub use flow::{
    Bulk, Cdf, CdfPoint, ConstantRate, ExponentialSizes, Flow, FlowKind, LARGEST_SIZE, LogNormal,
    NextRequest, NoRate, OnOff, Pareto, RequestResponse, SizeDistribution, Sizes, Spread,
    UniformSizes, Video,
};
pub use network::{NetworkSpec, Preset, ScenarioPath};
pub use read::read_overridden;
pub use record::{Record, Series};
pub use reference::reference;
pub use schema::schema;

use crate::topology::Topology;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A network and what runs on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it is called in results.
    pub name: Option<String>,
    /// When a run ends at the latest.
    pub duration: Option<Duration>,
    /// When averages begin, after the start.
    pub warm_up: Duration,
    /// The network.
    pub network: NetworkSpec,
    /// The nodes of it that tell senders their rate, if any do. Only the simulator has such.
    pub feedback: Option<FeedbackSpec>,
    /// The connections; if the file has none, one of defaults between the network's hosts.
    pub connections: Vec<ConnectionSpec>,
    /// What they carry.
    pub flows: Vec<Flow>,
    /// What is recorded.
    pub record: Record,
    /// Scripted changes of links, as they stand in the file.
    pub events: Vec<Event>,
}

impl Scenario {
    /// The network, with the hosts of each connection among its pairs.
    pub fn topology(&self) -> Topology {
        let mut graph = self.network.graph();
        for ends in self.connections.iter().flat_map(|connection| &connection.ends) {
            if !graph.pairs.contains(ends) {
                graph.pairs.push(ends.clone());
            }
        }
        Topology::from(&graph)
    }

    /// Reads a scenario file, and the traces and policies it names relative to its folder.
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn load(file: &Path) -> Result<Self, ScenarioError> {
        Self::load_with(file, &[])
    }

    /// Reads a scenario file of which some values are overridden, each by a `KEY=VALUE` such as
    /// `path.lte.delay=50 ms`. Parts of the key are joined by dots; a table of a list is named
    /// by its `name` or its number from 0. Text needs no quotes.
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn load_with(file: &Path, overrides: &[String]) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| ScenarioError::Read { file: file.to_owned(), error })?;
        Self::parse_with(&text, overrides, file, &mut |trace| std::fs::read(trace))
    }

    /// Reads a scenario from text. `file` is its name in errors and the base of trace names;
    /// `open` gives the bytes of trace files and policies.
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn parse(
        text: &str,
        file: &Path,
        open: &mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<Self, ScenarioError> {
        Self::parse_with(text, &[], file, open)
    }

    /// Reads a scenario from text as [`Scenario::parse`], with overrides as
    /// [`Scenario::load_with`].
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn parse_with(
        text: &str,
        overrides: &[String],
        file: &Path,
        open: &mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<Self, ScenarioError> {
        read::scenario(text, None, overrides, file, open)
    }

    /// Reads the scenario that is the table `table` of a document of other things, otherwise as
    /// [`Scenario::parse_with`]. Overrides are about the scenario.
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn parse_table(
        text: &str,
        table: &str,
        overrides: &[String],
        file: &Path,
        open: &mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<Self, ScenarioError> {
        read::scenario(text, Some(table), overrides, file, open)
    }
}

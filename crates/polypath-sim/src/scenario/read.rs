//! From TOML to a [`Scenario`].

use super::connection::{ConnectionKeys, OneOrMany, read_connections};
use super::declare::{Keys, Located, keys, read_literal};
use super::event::{EventKeys, read_event};
use super::feedback::{ControllerKeys, read_feedback};
use super::flow::{FlowKeys, read_flows};
use super::network::{LinkItem, NodeKeys, PathKeys, PresetKeys, read_network};
use super::overrides::{self, Overrides};
use super::record::Record;
use super::trace_file::TraceFile;
use super::{Flow, Scenario, ScenarioError, TraceFileError};
use crate::topology::Graph;
use polypath_config::{Document, DocumentError, Table};
use polypath_link::Trace;
use polypath_link::trace::{Columns, Recording};
use polypath_policy::Policy;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

keys! {
    /// A network and what runs on it.
    pub(super) struct File {
        /// What the scenario is called in results.
        name: Option<String>;
        /// When the run ends at the latest. Required if a flow does not end by itself.
        duration: Option<Duration> where "1 us" to "1000 h";
        /// This long after the start averages begin.
        warm_up: Located<Duration> = "0 s" where "0 s" to "1000 h";
        /// The network as paths between two hosts, each a pair of links.
        path: Option<Located<Vec<Located<PathKeys>>>>;
        /// Hosts and routers of a network of `[[link]]`s.
        node: Option<Located<Vec<NodeKeys>>>;
        /// The network as links between nodes.
        link: Option<Located<Vec<Located<LinkItem>>>>;
        /// The network as one of those that experiments share.
        network: Option<Located<PresetKeys>>;
        /// The controller of the nodes with `brf`.
        brf: Option<Located<ControllerKeys>>;
        /// Connections; without any, there is one of defaults.
        connection: Option<OneOrMany<Located<ConnectionKeys>>>;
        /// What the connections carry.
        flow: Option<Located<Vec<Located<FlowKeys>>>>;
        /// What is recorded.
        record: Record = {};
        /// Scripted changes of links.
        event: Vec<Located<EventKeys>> = [];
    }
}

/// Reads traces, each file once for the same columns, and policies.
pub(super) struct Reader<'a> {
    folder: &'a Path,
    open: &'a mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
    /// Of the scenario.
    pub(super) duration: Option<Duration>,
    traces: BTreeMap<(PathBuf, Columns), Arc<Trace>>,
}

impl Reader<'_> {
    /// The policy that a value names.
    pub(super) fn policy(&mut self, given: &Located<String>) -> Result<Policy, ScenarioError> {
        let (file, place) = (self.folder.join(&given.value), given.place().clone());
        let bytes = (self.open)(&file).and_then(|bytes| {
            String::from_utf8(bytes)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        });
        let text = bytes.map_err(|error| ScenarioError::PolicyFile {
            place,
            policy: file.clone(),
            error,
        })?;
        Ok(Policy::parse(&file, &text)?)
    }

    /// The trace that a value names.
    pub(super) fn trace(
        &mut self,
        given: &Located<TraceFile>,
    ) -> Result<Arc<Trace>, ScenarioError> {
        let (path, place) = (self.folder.join(&given.value.file), given.place());
        let key = (path.clone(), given.value.columns.clone());
        if let Some(trace) = self.traces.get(&key) {
            return Ok(trace.clone());
        }
        let bytes = (self.open)(&path).map_err(|error| ScenarioError::TraceFile {
            place: place.clone(),
            trace: path.clone(),
            error,
        })?;
        let trace = read_trace(&bytes, &key.1).map_err(|error| ScenarioError::Trace {
            place: place.clone(),
            trace: path.clone(),
            error: Box::new(error),
        })?;
        Ok(self.traces.entry(key).or_insert(Arc::new(trace)).clone())
    }
}

/// Delivery opportunities, as they stand in a file or as its rates make them.
fn read_trace(bytes: &[u8], columns: &Columns) -> Result<Trace, TraceFileError> {
    Ok(Recording::read(bytes, columns)?.into_trace()?)
}

pub(super) fn scenario(
    text: &str,
    table: Option<&str>,
    settings: &[String],
    file: &Path,
    open: &mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
) -> Result<Scenario, ScenarioError> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let file: Located<File> = read(text, table, settings, file, "a scenario")?;
    let duration = file.value.duration;
    build(file, &mut Reader { folder, open, duration, traces: BTreeMap::new() })
}

/// Reads a document of declared keys with overrides, which is called `what` in errors.
///
/// # Errors
/// At the first thing that is wrong, with its place and what is allowed.
pub fn read_overridden<T: Keys>(
    text: &str,
    settings: &[String],
    file: &Path,
    what: &str,
) -> Result<Located<T>, ScenarioError> {
    read(text, None, settings, file, what)
}

/// Reads a document, or a table of it to which the overrides are then applied.
fn read<T: Keys>(
    text: &str,
    table: Option<&str>,
    settings: &[String],
    file: &Path,
    what: &str,
) -> Result<Located<T>, ScenarioError> {
    let settings = Overrides::check(settings)?;
    let all = settings.append_to(text);
    let document = Document::with_overrides(file, &all, text.len());
    let mut root = document.parse()?;
    if let Some(key) = table {
        root = inner(root, key);
    }
    overrides::apply(root.get_mut(), &all, text.len())?;
    let table = Table::root(document, what, &root);
    Ok(Located::new(T::read_all(&table)?, table.site()))
}

/// The table of this key; an empty one if there is none.
fn inner<'a>(mut root: Spanned<DeTable<'a>>, key: &str) -> Spanned<DeTable<'a>> {
    let value = root.get_mut().remove(key);
    let span = value.as_ref().map_or(0..0, Spanned::span);
    match value.map(Spanned::into_inner) {
        Some(DeValue::Table(table)) => Spanned::new(span, table),
        _ => Spanned::new(span, DeTable::new()),
    }
}

/// Checks what refers to each other.
fn build(file: Located<File>, reader: &mut Reader<'_>) -> Result<Scenario, ScenarioError> {
    let network = read_network(&file, reader)?;
    let graph = network.graph();
    let feedback = read_feedback(file.value.node.as_ref(), file.value.brf.as_ref())?;
    let File { name, duration, warm_up, connection, flow, record, event, .. } = file.value;
    if duration.is_some_and(|duration| warm_up.value >= duration) {
        return Err(warm_up.wrong("must be shorter than `duration`").into());
    }
    let connections = read_connections(&connection_tables(connection, &graph), &graph, reader)?;
    let flows = match flow {
        Some(tables) => {
            let flows = read_flows(&tables.value, &connections)?;
            check_end(&tables, &flows, duration)?;
            flows
        }
        None => Vec::new(),
    };
    let events = event.iter().map(|event| read_event(event, &graph));
    let (warm_up, events) = (warm_up.value, events.collect::<Result<_, _>>()?);
    Ok(Scenario { name, duration, warm_up, network, feedback, connections, flows, record, events })
}

/// Where hosts are known, a file without connections has one of defaults.
fn connection_tables(
    given: Option<OneOrMany<Located<ConnectionKeys>>>,
    graph: &Graph,
) -> Vec<Located<ConnectionKeys>> {
    match given {
        Some(OneOrMany(tables)) => tables,
        None if graph.pairs.is_empty() => Vec::new(),
        None => vec![read_literal("{}")],
    }
}

/// Refuses runs without end.
fn check_end(
    tables: &Located<Vec<Located<FlowKeys>>>,
    flows: &[Flow],
    duration: Option<Duration>,
) -> Result<(), DocumentError> {
    let endless = flows.iter().position(|flow| !flow.ends()).filter(|_| duration.is_none());
    let Some(table) = endless.and_then(|index| tables.value.get(index)) else { return Ok(()) };
    Err(table.wrong("has no end; give it a `stop`, or the scenario a `duration`"))
}

/// A name as errors show it.
pub(super) fn quoted(name: &Located<String>) -> String {
    format!("{:?}", name.value)
}

/// Names as errors list them.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 20;
    let names: Vec<_> = names.collect();
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        0 => "none".to_owned(),
        1..=SHOWN => shown,
        all => format!("{shown} and {} more", all - SHOWN),
    }
}

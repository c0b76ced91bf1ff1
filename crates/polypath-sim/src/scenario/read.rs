//! From TOML to a [`Scenario`].

use super::link_keys::{LinkKeys, timestamp};
use super::table::{Document, Table, Value};
use super::{AlgorithmName, ConnectionSpec, Flow, FlowKind, Scenario, ScenarioError, ScenarioPath};
use crate::network::{Direction, PathLinks};
use polypath_link::{LinkConfig, QueueLimit, Trace};
use polypath_units::{ByteCount, PathId, Timestamp};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::de::DeTable;

/// Reads traces, each file once.
pub(super) struct Reader<'a> {
    folder: &'a Path,
    open: &'a mut dyn FnMut(&Path) -> io::Result<String>,
    traces: BTreeMap<PathBuf, Arc<Trace>>,
}

impl Reader<'_> {
    /// The trace that a value names.
    pub(super) fn trace(&mut self, value: &Value<'_>) -> Result<Arc<Trace>, ScenarioError> {
        let path = self.folder.join(value.text()?);
        if let Some(trace) = self.traces.get(&path) {
            return Ok(trace.clone());
        }
        let text = (self.open)(&path).map_err(|source| ScenarioError::TraceFile {
            place: value.place(),
            trace: path.clone(),
            source,
        })?;
        let trace = Trace::parse(&text).map_err(|source| ScenarioError::Trace {
            place: value.place(),
            trace: path.clone(),
            source,
        })?;
        Ok(self.traces.entry(path).or_insert(Arc::new(trace)).clone())
    }
}

pub(super) fn scenario(
    text: &str,
    file: &Path,
    open: &mut dyn FnMut(&Path) -> io::Result<String>,
) -> Result<Scenario, ScenarioError> {
    let document = Document { file, text };
    let root = DeTable::parse(text).map_err(|error| ScenarioError::Syntax {
        place: document.place(&error.span().unwrap_or(0..0)),
        message: error.message().to_owned(),
    })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut reader = Reader { folder, open, traces: BTreeMap::new() };

    let mut table = Table::new(document, "a scenario", &root);
    let paths = table.get("path");
    let (connection, flows) = (table.get("connection"), table.get("flow"));
    table.finish()?;
    let paths = paths.ok_or_else(|| table.missing("at least one [[path]]"))?;
    Ok(Scenario {
        paths: read_paths(&paths, &mut reader)?,
        connection: connection.map_or(Ok(ConnectionSpec::default()), |v| read_connection(&v))?,
        flows: flows.map_or(Ok(Vec::new()), |value| value.tables("[[flow]]", read_flow))?,
    })
}

fn read_paths(
    value: &Value<'_>,
    reader: &mut Reader<'_>,
) -> Result<Vec<ScenarioPath>, ScenarioError> {
    let mut paths: Vec<ScenarioPath> = Vec::new();
    value.tables("[[path]]", |mut table| {
        let (name, links) = read_path(&mut table, reader)?;
        let text = name.text()?.to_owned();
        if text.is_empty() || paths.iter().any(|path| path.name == text) {
            let problem = format_args!("{text:?} is empty or taken; each path needs its own name");
            return Err(name.wrong(problem));
        }
        paths.push(ScenarioPath { name: text, links });
        Ok(())
    })?;
    match paths.len() {
        1..=PathId::COUNT => Ok(paths),
        n => Err(value.wrong(format_args!("{n} paths; 1 to {} are allowed", PathId::COUNT))),
    }
}

/// The name of a path, as it stands, and its links.
fn read_path<'a>(
    table: &mut Table<'a>,
    reader: &mut Reader<'_>,
) -> Result<(Value<'a>, PathLinks), ScenarioError> {
    let name = table.get("name");
    let both = LinkKeys::read(table, reader)?;
    let up = table.read("up", |value| read_direction(&value, "[path.up]", reader))?;
    let down = table.read("down", |value| read_direction(&value, "[path.down]", reader))?;
    table.finish()?;
    let name = name.ok_or_else(|| table.missing("`name`"))?;

    let config = |keys: Option<LinkKeys>| {
        let keys = keys.unwrap_or_default().over(&both);
        keys.into_config().map_err(|keys| table.missing(keys))
    };
    let (mut up, mut down) = (config(up)?, config(down)?);
    let rtt = up.delay.saturating_add(down.delay);
    for link in [&mut up, &mut down] {
        if let QueueLimit::Bdp { rtt: queue_rtt, .. } = &mut link.queue {
            *queue_rtt = Some(rtt);
        }
        check(link, &name)?;
    }
    Ok((name, PathLinks { up, down }))
}

fn check(link: &LinkConfig, name: &Value<'_>) -> Result<(), ScenarioError> {
    link.check().map_err(|problem| name.wrong(problem))
}

fn read_direction(
    value: &Value<'_>,
    name: &'static str,
    reader: &mut Reader<'_>,
) -> Result<LinkKeys, ScenarioError> {
    let mut table = value.table(name)?;
    let keys = LinkKeys::read(&mut table, reader)?;
    table.finish()?;
    Ok(keys)
}

fn read_connection(value: &Value<'_>) -> Result<ConnectionSpec, ScenarioError> {
    let mut table = value.table("[connection]")?;
    let connection = ConnectionSpec {
        congestion: table.read("congestion", |value| algorithm(&value))?,
        slow_start: table.read("slow_start", |value| algorithm(&value))?,
        scheduler: table.read("scheduler", |value| algorithm(&value))?,
        failure: table.read("failure", |value| algorithm(&value))?,
        receive_buffer: table.read("receive_buffer", |value| value.parse())?,
    };
    table.finish()?;
    Ok(connection)
}

fn algorithm(value: &Value<'_>) -> Result<AlgorithmName, ScenarioError> {
    Ok(AlgorithmName { name: value.text()?.to_owned(), place: value.place() })
}

fn read_flow(mut table: Table<'_>) -> Result<Flow, ScenarioError> {
    let kind = table.read("kind", |value| value.parse_with(check_kind))?;
    let bytes = table.read("bytes", |value| value.parse::<ByteCount>())?;
    let start = table.read("start", |value| timestamp(&value))?;
    let direction = table.read("direction", |value| value.parse_with(parse_direction))?;
    table.finish()?;
    kind.ok_or_else(|| table.missing("`kind`"))?;
    let bytes = bytes.ok_or_else(|| table.missing("`bytes`"))?;
    Ok(Flow {
        kind: FlowKind::Bulk { bytes },
        start: start.unwrap_or(Timestamp::ZERO),
        direction: direction.unwrap_or(Direction::Up),
    })
}

fn check_kind(text: &str) -> Result<(), String> {
    match text {
        "bulk" => Ok(()),
        _ => Err(format!("{text:?} is not a kind of flow; allowed is \"bulk\"")),
    }
}

fn parse_direction(text: &str) -> Result<Direction, String> {
    match text {
        "up" => Ok(Direction::Up),
        "down" => Ok(Direction::Down),
        _ => Err(format!("{text:?} is not a direction; allowed are \"up\" and \"down\"")),
    }
}

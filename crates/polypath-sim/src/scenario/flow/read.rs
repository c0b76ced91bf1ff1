//! Reads flows and checks what they refer to.

use super::delivery::DeliveryKeys;
use super::{Flow, FlowKind};
use crate::network::Direction;
use crate::scenario::connection::{ConnectionSpec, Transport, known};
use crate::scenario::declare::{Choice, Located, Readable, Shape, keys};
use crate::scenario::read::list;
use polypath_config::{DocumentError, Value};
use polypath_units::Timestamp;

keys! {
    /// Something that a connection carries; where the connection has a `count`, each of them.
    pub(in crate::scenario) struct FlowKeys {
        /// The name of the connection; if not given, the only one.
        connection: Option<Located<String>>;
        /// Where it goes.
        direction: Direction = "up";
        /// When it begins, after the start of its connection.
        start: Timestamp = "0 s";
        /// When it ends, if it did not before.
        stop: Option<Located<Timestamp>>;
        ..delivery: DeliveryKeys;
        ..kind: FlowKind;
    }
}

impl Readable for Direction {
    fn shape() -> Shape {
        let choice = |name, purpose: &str| Choice { name, purpose: purpose.to_owned() };
        Shape::Choice(vec![
            choice(Self::Up.name(), "From the host that opens the connection to the other."),
            choice(Self::Down.name(), "From the other host to the one that opens the connection."),
        ])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        let (text, both) = (value.text()?, [Self::Up, Self::Down]);
        let named = both.into_iter().find(|direction| direction.name() == text);
        named.ok_or_else(|| value.is_none_of(&both.map(Self::name)))
    }
}

/// The flows of a file.
pub(in crate::scenario) fn read_flows(
    tables: &[Located<FlowKeys>],
    connections: &[ConnectionSpec],
) -> Result<Vec<Flow>, DocumentError> {
    tables.iter().map(|table| read_flow(table, connections)).collect()
}

fn read_flow(
    table: &Located<FlowKeys>,
    connections: &[ConnectionSpec],
) -> Result<Flow, DocumentError> {
    let FlowKeys { direction, start, stop, delivery, kind, .. } = &table.value;
    let connection = find_connection(table, connections)?;
    if let Some(stop) = stop.as_ref().filter(|stop| stop.value <= *start) {
        return Err(stop.wrong("must be later than `start`"));
    }
    if let Transport::Udp(_) = connection.transport {
        kind.rate().map_err(|problem| table.wrong(problem))?;
    }
    let datagrams = delivery.datagrams(kind, &connection.transport, table)?;
    Ok(Flow {
        connection: connection.name.clone(),
        direction: *direction,
        start: *start,
        stop: stop.as_ref().map(|stop| stop.value),
        datagrams,
        kind: kind.clone(),
    })
}

fn find_connection<'a>(
    table: &Located<FlowKeys>,
    connections: &'a [ConnectionSpec],
) -> Result<&'a ConnectionSpec, DocumentError> {
    let names = connections.iter().map(|connection| connection.name.as_str());
    match (&table.value.connection, connections) {
        (None, [only]) => Ok(only),
        (None, []) => Err(table.missing("a [[connection]] that carries it")),
        (None, _) => {
            let keys = format!("`connection`, as there are several: {}", list(names));
            Err(table.missing(&keys))
        }
        (Some(name), _) => {
            known("connection", name, names)?;
            let found = connections.iter().find(|connection| connection.name == name.value);
            found.ok_or_else(|| name.wrong("there is no such connection"))
        }
    }
}

//! Reads connections and checks what they refer to.

use super::through::{read_inner, read_policy};
use super::{ConnectionSpec, PathChoice, Transport};
use crate::scenario::ScenarioError;
use crate::scenario::declare::{Located, Readable, Shape, keys};
use crate::scenario::network::unique;
use crate::scenario::read::{Reader, list, quoted};
use crate::topology::{Ends, Graph};
use polypath_config::{DocumentError, Value};
use polypath_units::PathId;
use std::collections::BTreeSet;
use std::time::Duration;

keys! {
    /// Connections of one kind.
    pub(in crate::scenario) struct ConnectionKeys {
        /// The name, unique; if not given, `connection1` and so on by position.
        name: Option<Located<String>>;
        /// The host that opens it. Without `from` and `to`, connections take the network's pairs
        /// of hosts in turn: `client` and `server`, or those of the preset.
        from: Option<Located<String>>;
        /// The host that it is opened to.
        to: Option<Located<String>>;
        /// How many there are.
        count: u32 = 1 where 1 to 100000;
        /// The time between the starts of two of them.
        stagger: Duration = "0 s" where "0 s" to "1 h";
        /// The class of service of its packets, in both directions, for queues that have classes.
        class: u8 = 0;
        /// The paths: names of links of the host that opens the connection, or lists of the
        /// nodes from end to end. If not given, all paths, one over each link of the host; for
        /// TCP, QUIC and UDP the one of least delay.
        paths: Option<Located<Vec<Located<PathChoice>>>>;
        /// The connection by `bond` that it goes through, as through a gateway, between the hosts
        /// of that. TCP, QUIC and UDP go through bonds.
        through: Option<Located<String>>;
        /// What a policy looks at of a connection that goes `through` a bond, as `polypath policy
        /// test` takes it: `"udp 192.0.2.1:5000 dscp ef"`. If not given, nothing is known but the
        /// protocol.
        traffic: Option<Located<String>>;
        ..transport: Transport;
    }
}

/// A table or a list of tables.
pub(in crate::scenario) struct OneOrMany<T>(pub(in crate::scenario) Vec<T>);

impl<T: Readable> Readable for OneOrMany<T> {
    fn shape() -> Shape {
        Shape::OneOf(vec![T::shape(), Vec::<T>::shape()])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        if value.is_table() {
            return Ok(Self(vec![T::read(value)?]));
        }
        Vec::read(value).map(Self)
    }
}

/// The connections of a file; a file without any has one of defaults.
pub(in crate::scenario) fn read_connections(
    tables: &[Located<ConnectionKeys>],
    graph: &Graph,
    reader: &mut Reader<'_>,
) -> Result<Vec<ConnectionSpec>, ScenarioError> {
    unique(tables.iter().filter_map(|table| table.value.name.as_ref()), "connection")?;
    let mut in_turn = InTurn { graph, next: 0 };
    let mut connections: Vec<ConnectionSpec> = Vec::with_capacity(tables.len());
    for (table, number) in tables.iter().zip(1..) {
        let name = table.value.name.as_ref().map(|name| name.value.clone());
        let name = name.unwrap_or_else(|| format!("connection{number}"));
        if connections.iter().any(|connection| connection.name == name) {
            let problem = format_args!("the default name {name:?} is taken; name it");
            return Err(table.wrong(problem).into());
        }
        let policy = read_policy(&table.value.transport, reader)?;
        let connection = match &table.value.through {
            Some(through) => read_inner(name, table, through, &connections)?,
            None => read_connection(name, table, &mut in_turn)?,
        };
        connections.push(ConnectionSpec { policy, ..connection });
    }
    Ok(connections)
}

/// Gives the pairs of hosts of a network to connections that do not name theirs.
struct InTurn<'a> {
    graph: &'a Graph,
    next: usize,
}

impl InTurn<'_> {
    fn take(&mut self, count: usize) -> Vec<Ends> {
        let pairs = self.graph.pairs.iter().cycle().skip(self.next % self.graph.pairs.len());
        self.next += count;
        pairs.take(count.min(self.graph.pairs.len())).cloned().collect()
    }
}

fn read_connection(
    name: String,
    table: &Located<ConnectionKeys>,
    in_turn: &mut InTurn<'_>,
) -> Result<ConnectionSpec, DocumentError> {
    let ConnectionKeys { count, stagger, class, paths, transport, .. } = &table.value;
    let ends = read_ends(table, in_turn)?;
    let chosen = match paths {
        Some(paths) => read_paths(paths, &ends, transport, in_turn.graph)?,
        None => Vec::new(),
    };
    if let Some(traffic) = &table.value.traffic {
        return Err(traffic.wrong("is of a connection that goes `through` a bond"));
    }
    check_backup(transport, &chosen, &ends, in_turn.graph)?;
    let (count, stagger, class, transport) = (*count, *stagger, *class, transport.clone());
    Ok(ConnectionSpec {
        name,
        count,
        stagger,
        class,
        ends,
        paths: chosen,
        transport,
        policy: None,
        through: None,
    })
}

fn read_ends(
    table: &Located<ConnectionKeys>,
    in_turn: &mut InTurn<'_>,
) -> Result<Vec<Ends>, DocumentError> {
    let graph = in_turn.graph;
    let (from, to) = match (&table.value.from, &table.value.to) {
        (None, None) if graph.pairs.is_empty() => {
            return Err(table.missing("`from` and `to`, as no hosts are named client and server"));
        }
        (None, None) => return Ok(in_turn.take(table.value.count as usize)),
        (Some(_), None) => return Err(table.missing("`to` beside `from`")),
        (None, Some(_)) => return Err(table.missing("`from` beside `to`")),
        (Some(from), Some(to)) => (from, to),
    };
    for end in [from, to] {
        known("node", end, graph.nodes.iter().map(String::as_str))?;
    }
    let ends = Ends::new(&from.value, &to.value);
    if from.value == to.value {
        return Err(to.wrong(format_args!("{} is where it comes `from`", quoted(to))));
    }
    if !graph.reaches(&ends) {
        return Err(to.wrong(format_args!("no links lead from {:?} to {:?}", ends.from, ends.to)));
    }
    Ok(vec![ends])
}

/// Refuses a name that is none of `names`.
pub(in crate::scenario) fn known<'a>(
    what: &str,
    name: &Located<String>,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), DocumentError> {
    match names.clone().any(|known| known == name.value) {
        true => Ok(()),
        false => Err(unknown(what, name, names)),
    }
}

/// The error of a name that is none of `names`.
pub(in crate::scenario) fn unknown<'a>(
    what: &str,
    name: &Located<String>,
    names: impl Iterator<Item = &'a str>,
) -> DocumentError {
    let (given, all) = (quoted(name), list(names));
    name.wrong(format_args!("there is no {what} {given}; there are {all}"))
}

fn read_paths(
    paths: &Located<Vec<Located<PathChoice>>>,
    ends: &[Ends],
    transport: &Transport,
    graph: &Graph,
) -> Result<Vec<PathChoice>, DocumentError> {
    let most = match transport {
        Transport::Tcp(_) | Transport::Quic(_) | Transport::Udp(_) => 1,
        Transport::Bond(_) | Transport::Mptcp(_) | Transport::Tunnel(_) => PathId::COUNT,
    };
    let count = paths.value.len();
    if !(1..=most).contains(&count) {
        let allowed = if most == 1 { "1".to_owned() } else { format!("1 to {most}") };
        let name = transport.name();
        let problem = format_args!("{count} paths; a connection by {name} has {allowed}");
        return Err(paths.wrong(problem));
    }
    let [ends] = ends else {
        return Err(paths.wrong("needs `from` and `to`, as the network has several pairs of hosts"));
    };
    let mut chosen = Vec::with_capacity(count);
    for path in &paths.value {
        check_path(&path.value, ends, graph).map_err(|problem| path.wrong(problem))?;
        if chosen.contains(&path.value) {
            return Err(path.wrong("a path is there twice"));
        }
        chosen.push(path.value.clone());
    }
    Ok(chosen)
}

fn check_path(path: &PathChoice, ends: &Ends, graph: &Graph) -> Result<(), String> {
    match path {
        PathChoice::Link(name) => check_first_link(name, ends, graph),
        PathChoice::Nodes(nodes) => check_nodes(nodes, ends, graph),
    }
}

fn check_first_link(name: &str, ends: &Ends, graph: &Graph) -> Result<(), String> {
    let links = graph.links.iter().filter(|link| [&link.from, &link.to].contains(&&ends.from));
    let mut names = links.map(|link| link.name.as_str());
    let all = list(names.clone());
    if names.any(|link| link == name) {
        return Ok(());
    }
    Err(format!("{name:?} is no link of {:?}; its links are {all}", ends.from))
}

fn check_nodes(nodes: &[String], ends: &Ends, graph: &Graph) -> Result<(), String> {
    if let Some(node) = nodes.iter().find(|node| !graph.nodes.contains(node)) {
        let all = list(graph.nodes.iter().map(String::as_str));
        return Err(format!("there is no node {node:?}; there are {all}"));
    }
    let (first, last) = (nodes.first(), nodes.last());
    if (first, last) != (Some(&ends.from), Some(&ends.to)) {
        return Err(format!("a path leads from {:?} to {:?}", ends.from, ends.to));
    }
    if nodes.iter().collect::<BTreeSet<_>>().len() < nodes.len() {
        return Err("a path crosses each node once".to_owned());
    }
    let gap = nodes.windows(2).find(|pair| !graph.joins(&pair[0], &pair[1]));
    gap.map_or(Ok(()), |pair| Err(format!("no link joins {:?} and {:?}", pair[0], pair[1])))
}

/// Backup paths must be paths of the connection.
fn check_backup(
    transport: &Transport,
    paths: &[PathChoice],
    ends: &[Ends],
    graph: &Graph,
) -> Result<(), DocumentError> {
    let Transport::Mptcp(mptcp) = transport else { return Ok(()) };
    for backup in &mptcp.backup {
        if paths.is_empty() {
            let checked = ends.iter().try_for_each(|ends| check_path(&backup.value, ends, graph));
            checked.map_err(|problem| backup.wrong(problem))?;
        } else if !paths.contains(&backup.value) {
            return Err(backup.wrong("a backup path must be one of `paths`"));
        }
    }
    Ok(())
}

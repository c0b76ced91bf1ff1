//! What a recorder leaves behind.

use super::column::{Column, Quantity};
use crate::network::Direction;
use crate::record::End;
use polypath_units::Timestamp;

/// The time series of a run: a table for each kind of subject, all sampled at the same times.
///
/// Rates and differences are those since the sample before; the first counts from time zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// When samples were taken, ascending.
    pub times: Vec<Timestamp>,
    /// Of each path of each end that sent something.
    pub paths: Table<PathKey>,
    /// Of each connection, for each end that sent something.
    pub connections: Table<ConnectionKey>,
    /// Of each link and direction.
    pub links: Table<LinkKey>,
}

/// The series of one kind of subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<K> {
    /// What was asked for; nothing if empty.
    pub quantities: Vec<&'static Quantity>,
    /// The subjects.
    pub lines: Vec<Line<K>>,
}

/// The series of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<K> {
    /// What it is about.
    pub key: K,
    /// The quantities of the table, in its order, with a value for each time.
    pub columns: Vec<Column>,
}

/// What an end sends on a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathKey {
    /// The connection.
    pub connection: String,
    /// The end that sends.
    pub end: End,
    /// The name of the path.
    pub path: String,
    /// The number of the path in its connection.
    pub path_id: u8,
}

/// What one end of a connection sends to the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionKey {
    /// The connection.
    pub connection: String,
    /// The end that sends.
    pub end: End,
}

/// A direction of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkKey {
    /// The link.
    pub link: String,
    /// Up leads from its first node to its second.
    pub direction: Direction,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { quantities: Vec::new(), lines: Vec::new() }
    }
}

impl<K> Line<K> {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.quantity.name == name)
    }
}

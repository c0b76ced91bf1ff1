//! What tells the series of one table apart.

use super::recording::{ConnectionKey, LinkKey, PathKey};

/// What tells the lines of a table apart.
pub trait Key {
    /// The name of the table.
    const TABLE: &'static str;

    /// The columns of the key.
    const COLUMNS: &'static [KeyColumn];

    /// Their values, in order.
    fn parts(&self) -> Vec<Part<'_>>;
}

/// A column that tells lines apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Whether it is a number and not a name.
    pub is_number: bool,
}

/// A value of a [`KeyColumn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A name, as dictionary of UTF-8.
    Name(&'a str),
    /// A number, as 8 bits without sign.
    Number(u8),
}

const CONNECTION: KeyColumn = KeyColumn::name("connection", "name of the connection");
const END: KeyColumn = KeyColumn::name("end", "end that sends: client or server");

impl KeyColumn {
    const fn name(name: &'static str, description: &'static str) -> Self {
        Self { name, description, is_number: false }
    }
}

impl Key for PathKey {
    const TABLE: &'static str = "paths";
    const COLUMNS: &'static [KeyColumn] = &[
        CONNECTION,
        END,
        KeyColumn::name("path", "name of the path"),
        KeyColumn {
            name: "path_id",
            description: "number of the path in its connection",
            is_number: true,
        },
    ];

    fn parts(&self) -> Vec<Part<'_>> {
        let Self { connection, end, path, path_id } = self;
        let names = [connection, end.name(), path].map(Part::Name);
        names.into_iter().chain([Part::Number(*path_id)]).collect()
    }
}

impl Key for ConnectionKey {
    const TABLE: &'static str = "connections";
    const COLUMNS: &'static [KeyColumn] = &[CONNECTION, END];

    fn parts(&self) -> Vec<Part<'_>> {
        vec![Part::Name(&self.connection), Part::Name(self.end.name())]
    }
}

impl Key for LinkKey {
    const TABLE: &'static str = "links";
    const COLUMNS: &'static [KeyColumn] = &[
        KeyColumn::name("link", "name of the link"),
        KeyColumn::name("direction", "up from its first node to its second, down back"),
    ];

    fn parts(&self) -> Vec<Part<'_>> {
        vec![Part::Name(&self.link), Part::Name(self.direction.name())]
    }
}

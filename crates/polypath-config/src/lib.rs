//! TOML documents that people write: scenarios, plans of experiments, options of hub and edge.
//!
//! A [`Document`] is a text whose [`Table`]s and [`Value`]s know where they stand, so that every
//! error, also one that is found long after reading, tells file, line, key and what is allowed
//! ([`DocumentError`]). A value is taken by what it is ([`Value::text`], [`Value::number`], ...),
//! as an algorithm with its parameters ([`Value::algorithm`]), or a whole table by the derived
//! implementation of its type ([`Table::deserialize`]).

mod algorithm;
mod document;
mod error;
mod table;
mod value;

pub use algorithm::{ParseAlgorithmError, Registered, parse_algorithm};
pub use document::Document;
pub use error::{DocumentError, Place};
pub use table::Table;
pub use value::{ALGORITHM_NAME, Site, Value};

//! One declaration of each key: its name, type, default, range and meaning.
//!
//! The macros [`keys!`], [`tagged!`] and [`choices!`] turn a declaration into a type, into the
//! code that reads it from a file, and into a [`Shape`], of which the JSON schema and the
//! reference are made. Nothing keeps a second list of keys.

mod keys;
mod literal;
mod located;
mod macros;
mod shape;
mod values;

pub(in crate::scenario) use keys::Refine;
pub use keys::{Allowed, Field, Keys, Readable, Row, Rule, row};
pub use literal::read_document;
pub(in crate::scenario) use literal::read_literal;
pub use located::Located;
pub use macros::{choices, keys, tagged};
pub use shape::{Choice, Declaration, Key, Shape, Tag, TextForm, Variant, sentences};
pub use values::Probability;

// What the macros name.
#[doc(hidden)]
pub use polypath_config::{DocumentError, Table, Value};

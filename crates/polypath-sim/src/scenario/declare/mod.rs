//! One declaration of each key: its name, type, default, range and meaning.
//!
//! The macros [`keys!`], [`tagged!`] and [`choices!`] turn a declaration into a type, into the
//! code that reads it from a file, and into a [`Shape`], of which the JSON schema and the
//! reference are made. Nothing keeps a second list of keys.

mod keys;
mod located;
mod macros;
mod shape;
mod values;

pub(super) use keys::{Allowed, Field, Keys, Readable, Refine, Row, Rule, row};
pub use located::Located;
pub(super) use macros::{choices, keys, tagged};
pub(super) use shape::{Choice, Declaration, Key, Shape, Tag, TextForm, Variant, sentences};
pub(super) use values::Probability;

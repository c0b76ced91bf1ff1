//! The discrete-event engine.

mod agenda;

pub use agenda::{Agenda, SourceId};

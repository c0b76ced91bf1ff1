//! The discrete-event engine.

mod agenda;
mod heap;

pub use agenda::{Agenda, SourceId};

//! The decisions about one connection, without I/O and without a clock: which of its subflows have
//! died, and on which paths it is to have new ones.

mod connection;
mod evidence;
mod subflow;
#[cfg(test)]
mod tests;

pub use connection::{Connection, Order};

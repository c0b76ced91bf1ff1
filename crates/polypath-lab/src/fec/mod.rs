//! Forward error correction over several paths: when it pays.
//!
//! Datagrams with a deadline are sent over drawn networks in every [`Method`]: once, in copies,
//! again when they are lost, and with repair symbols of a block code or of a sliding window. All
//! methods have the same networks, the same view of the paths and the same links of the simulator.

mod code;
mod method;
mod network;
mod path;
mod protection;
mod row;
mod rule;
mod share;
mod study;
#[cfg(test)]
mod tests;
mod traffic;
mod trial;
mod world;

pub use method::Method;
pub use row::{FecPoint, FecRow, Share};
pub use rule::{FecRule, FecStanding};
pub use study::{FecCell, FecGrid, FecStudy};
pub use traffic::TrafficKind;
pub use trial::{FecMeasured, FecRun};

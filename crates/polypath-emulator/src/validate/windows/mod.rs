//! Congestion windows: what the kernel's senders have, next to those of the simulator, over time.

mod difference;
mod row;
mod run;
mod track;

pub use difference::{BOUND, Difference, Sawtooth};
pub use row::{Compared, Row, Run};
pub use run::{INTERVAL, WindowsError, compare, shipped_cells};
pub use track::Track;

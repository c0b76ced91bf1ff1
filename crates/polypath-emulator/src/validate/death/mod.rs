//! The silent death of a path: how long deliveries stall, and how soon the path is used again, with
//! the kernel's Multipath TCP, with that of the simulator, and with the bond.

mod bond;
mod contestant;
mod outage;
mod row;
mod run;

pub use bond::BondError;
pub use contestant::{CONTESTANTS, Contestant, World};
pub use outage::{NoOutage, Outage, Outcome};
pub use row::{Row, Spread};
pub use run::DeathError;

//! Radio links of LTE and 5G: from distance and line of sight to a rate over time.
//!
//! Nothing here runs inside a [`Link`](crate::Link): each model computes a
//! [`Rate::Schedule`](crate::Rate) and, where packets are lost, [`Blackout`](crate::Blackout)s
//! before the run, from its settings and a seed alone. What the radio layer does to single
//! packets is [`Recovery`](crate::Recovery), a setting of the link.
//!
//! Values marked \[A\] are assumptions: no standard fixes them. `docs/links/radio.md` tells what
//! each model leaves out and what it was compared with.

mod air;
mod blockage;
mod error;
mod fading;
mod handover;
mod load;
mod path_loss;
mod rate_map;
mod schedule;
mod walk;

pub use air::{Air, LinkBudget, THERMAL_NOISE_DBM_PER_HZ};
pub use blockage::{Blockage, Obstacle, View, ViewChange, ViewProcess};
pub use error::RadioError;
pub use handover::{Handover, HandoverRule, PacketsInHandover};
pub use load::CellLoad;
pub use path_loss::{Environment, PathLoss, Sight};
pub use rate_map::{EFFICIENCY_64_QAM, EFFICIENCY_256_QAM, RateMap};
pub use walk::{BaseStation, StreetSight, Walk, WalkRun, WalkSample};

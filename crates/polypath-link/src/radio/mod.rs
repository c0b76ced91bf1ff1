//! Radio links of LTE and 5G: from distance and line of sight to a rate over time.
//!
//! Nothing here runs inside a [`Link`](crate::Link): each model computes a
//! [`Rate::Schedule`](crate::Rate) and, where packets are lost, [`Blackout`](crate::Blackout)s
//! before the run, from its settings and a seed alone. What the radio layer does to single
//! packets is [`Recovery`](crate::Recovery), a setting of the link.
//!
//! ```
//! use polypath_link::radio::{Air, BaseStation, Walk};
//! use polypath_link::{Link, LinkConfig, Recovery};
//! use polypath_units::Bandwidth;
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let stations = [0.0, 200.0, 400.0].map(|along_m| BaseStation { along_m, aside_m: 10.0 });
//! let drive = Walk { speed_m_per_s: 14.0, ..Walk::new(Air::nr_mid_band(), stations.to_vec()) };
//! let run = drive.run(Duration::from_secs(30), 1)?;
//! assert_eq!(run.samples.len(), 300);
//!
//! let delay = Duration::from_millis(10);
//! let link = LinkConfig {
//!     recovery: Some(Recovery::nr()),
//!     ..run.on(LinkConfig::new(Bandwidth::ZERO, delay))
//! };
//! let link: Link<u32> = Link::new(link, 2)?;
//! # Ok(())
//! # }
//! ```
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

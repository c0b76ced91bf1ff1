//! What theory predicts, without a simulation: closed forms and iterations over expected values.
//!
//! Formulas and sources: `docs/algorithms/models.md`.
//!
//! - [`striped_throughput`] is S1's model of one TCP connection whose segments are dealt to several
//!   links in turn, and [`tunnel_throughput`] is Polypath's own.
//! - [`mathis`], [`Pftk`], [`cubic_window`], [`bbr_rate`] and [`polypath_rate`] say what a
//!   connection of one path sends.
//! - [`equilibrium`] says where the coupled controls of Multipath TCP settle.
//! - [`best_prefix`] says what a receive buffer lets paths carry, and [`multipath_rate`] what a
//!   bond or Multipath TCP carries.
//! - [`advise`] says which links and algorithms to use.
//! - [`metrics`] sums results up.
#![forbid(unsafe_code)]

mod advice;
mod bbr;
mod equilibrium;
mod error;
pub mod metrics;
mod multipath;
mod receive_buffer;
mod response;
mod striping;
mod tunnel;

pub use advice::{
    Added, Advice, AdviceError, AdviceLink, AdviceQuestion, Choice, Goal, added, advise,
};
pub use bbr::{bbr_rate, polypath_rate};
pub use equilibrium::{LossyPath, equilibrium};
pub use error::ModelError;
pub use multipath::{
    ModelPath, MultipathOptions, MultipathPrediction, PathControl, SchedulerFamily, multipath_rate,
    path_rate,
};
pub use receive_buffer::{Carried, CarryingPath, all_paths, best_prefix};
pub use response::{Pftk, cubic_window, mathis, reno_window};
pub use striping::{
    Phase, Reading, Rounding, SingleLink, StripedLink, StripedPrediction, StripedTransfer,
    StripingOptions, mean_difference, striped_throughput,
};
pub use tunnel::{
    Limit, TunnelControl, TunnelLink, TunnelPrediction, TunnelTransfer, tunnel_throughput,
};

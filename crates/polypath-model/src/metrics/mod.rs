//! Metrics that sum up results (`docs/algorithms/metrics.md`).
//!
//! Pure functions over samples; the worlds decide what to sample and when.

mod benefit;
mod convergence;
mod delivery;
mod fairness;
mod reordering;
mod spread;

pub use benefit::aggregation_benefit;
pub use convergence::{Convergence, ConvergenceRule, Fairness, convergence};
pub use delivery::interruption;
pub use fairness::jain_index;
pub use reordering::ReorderDensity;
pub use spread::{coefficient_of_variation, estimate_error, mean, quantile};

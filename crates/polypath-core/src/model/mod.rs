//! What theory predicts, without a simulation: closed forms and iterations over expected values.
//!
//! [`striped_throughput`] is the model of S1 for one TCP connection whose segments are dealt to
//! several links in turn; [`mathis`], [`Pftk`] and [`cubic_window`] say what a TCP connection of
//! one path sends; [`equilibrium`] where the coupled controls of Multipath TCP settle.

mod equilibrium;
mod error;
mod response;
mod striping;

pub use equilibrium::{LossyPath, equilibrium};
pub use error::ModelError;
pub use response::{Pftk, cubic_window, mathis, reno_window};
pub use striping::{
    Phase, Reading, Rounding, SingleLink, StripedLink, StripedPrediction, StripedTransfer,
    StripingOptions, mean_difference, striped_throughput,
};

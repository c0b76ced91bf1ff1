//! Why there is no advice.

use crate::ModelError;

/// A question that is impossible, or contradicts itself.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AdviceError {
    /// Of the number of links.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Of a link.
    #[error("{link}: {error}")]
    Link {
        /// The link.
        link: String,
        /// What is wrong with it.
        error: ModelError,
    },
    /// A receive buffer that no bond has.
    #[error(
        "the receive buffer is {given} bytes; allowed: from {least}, the least that bonds have"
    )]
    ReceiveBuffer {
        /// The buffer.
        given: u64,
        /// The least one.
        least: u64,
    },
    /// A cost that is none.
    #[error("the cost per GB of {link} is {given}; allowed: from 0")]
    Cost {
        /// The link.
        link: String,
        /// Its cost.
        given: f64,
    },
    /// A cap that is none.
    #[error("the cap on the cost per GB is {given}; allowed: from 0")]
    Cap {
        /// The cap.
        given: f64,
    },
    /// Costs are to be compared, and a link has none.
    #[error("{wanted} needs the cost per GB of each link; {link} has none")]
    NoCost {
        /// What asks for costs.
        wanted: &'static str,
        /// The link.
        link: String,
    },
    /// Nothing is as cheap as that.
    #[error("no choice costs at most {cap} per GB; the cheapest costs {cheapest}")]
    TooDear {
        /// The cap.
        cap: f64,
        /// What the cheapest choice costs per GB.
        cheapest: f64,
    },
}

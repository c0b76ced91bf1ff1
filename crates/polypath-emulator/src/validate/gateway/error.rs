//! Why a gateway was not measured.

use crate::live::NetworkError;
use crate::netns::{CleanError, NetnsError};
use std::io;

/// Why a gateway was not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// There is no network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A namespace could not be furnished, or a program not be started in it.
    #[error(transparent)]
    Netns(#[from] NetnsError),
    /// The network could not be removed.
    #[error(transparent)]
    Clean(#[from] CleanError),
    /// Hub or edge did not do what it has to.
    #[error("{program}: {problem}{log}")]
    Program {
        /// Which of them.
        program: &'static str,
        /// What is wrong.
        problem: String,
        /// The end of what it has said, with a line break in front; empty if there is nothing.
        log: String,
    },
    /// The traffic failed.
    #[error("{what}: {error}")]
    Traffic {
        /// What failed.
        what: &'static str,
        /// What the operating system said.
        error: io::Error,
    },
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
}

impl GatewayError {
    /// What makes an error of the operating system one of this traffic.
    pub(super) fn of(what: &'static str) -> impl Fn(io::Error) -> Self + Copy {
        move |error| Self::Traffic { what, error }
    }
}

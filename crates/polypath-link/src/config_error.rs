//! What can be wrong with the settings of a link.

use polypath_units::Timestamp;

/// A setting of a link that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A probability outside 0 to 1.
    #[error("{name} is {given}; a probability from 0 to 1 is allowed")]
    Probability {
        /// Which one.
        name: &'static str,
        /// What was given.
        given: f64,
    },
    /// Retransmissions that fail too often ever to end.
    #[error("retransmission_error is {given}; a probability from 0 to 0.99 is allowed")]
    RetransmissionError {
        /// What was given.
        given: f64,
    },
    /// A negative or infinite number of BDPs.
    #[error("a queue of {given} bdp; a finite number from 0 is allowed")]
    QueueMultiple {
        /// What was given.
        given: f64,
    },
    /// A parameter of a queue discipline.
    #[error("{queue} queue: {parameter} is {given}; {allowed}")]
    Queue {
        /// The discipline.
        queue: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        given: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// An outage that ends before it begins.
    #[error("a blackout from {from} to {to}; it must end after it begins")]
    Blackout {
        /// Its start.
        from: Timestamp,
        /// Its end.
        to: Timestamp,
    },
    /// Rate steps that are not in order.
    #[error("the rate step at {at} is not later than the one before it; times must ascend")]
    Schedule {
        /// The step.
        at: Timestamp,
    },
}

//! Why a model has no answer.

use polypath_core::congestion::CongestionKind;
use polypath_core::registry::Algorithm;

/// An input of a model that is impossible, or that it does not cover.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Nothing to send over.
    #[error("no link; allowed: 1 to {most}")]
    NoLink {
        /// The most links that the model takes.
        most: usize,
    },
    /// More links than the model takes.
    #[error("{given} links; allowed: 1 to {most}")]
    TooManyLinks {
        /// How many were given.
        given: usize,
        /// The most links that the model takes.
        most: usize,
    },
    /// A number that is none, or outside its range.
    #[error("{what} is {given}; allowed: {allowed}")]
    Number {
        /// Which number.
        what: &'static str,
        /// Its value.
        given: f64,
        /// Its range.
        allowed: &'static str,
    },
    /// A congestion control without a known equilibrium.
    #[error("no equilibrium is known for {given}; allowed: lia, olia, balia, reno")]
    Congestion {
        /// The name of the control.
        given: &'static str,
    },
}

impl ModelError {
    /// Of a control without a known equilibrium.
    pub(super) fn of_congestion(kind: CongestionKind) -> Self {
        Self::Congestion { given: Algorithm::description(kind).name }
    }
}

/// The number, if it is above zero and finite.
pub(super) fn positive(what: &'static str, given: f64) -> Result<f64, ModelError> {
    match given > 0.0 && given.is_finite() {
        true => Ok(given),
        false => Err(ModelError::Number { what, given, allowed: "above 0" }),
    }
}

/// The number, if it is a share of packets that may be lost.
pub(super) fn loss(given: f64) -> Result<f64, ModelError> {
    match (0.0..1.0).contains(&given) {
        true => Ok(given),
        false => Err(ModelError::Number { what: "the loss", given, allowed: "from 0 to below 1" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_value() {
        let message = |result: Result<f64, ModelError>| result.unwrap_err().to_string();
        assert_eq!(message(loss(2.0)), "the loss is 2; allowed: from 0 to below 1");
        assert_eq!(message(positive("the rate", 0.0)), "the rate is 0; allowed: above 0");
        assert!(message(positive("the RTT", f64::NAN)).contains("NaN"));
        assert_eq!(
            ModelError::of_congestion(CongestionKind::Wvegas).to_string(),
            "no equilibrium is known for wvegas; allowed: lia, olia, balia, reno"
        );
    }
}

//! Allowed values of queue parameters.

use crate::config_error::ConfigError;
use core::fmt;

/// Accepts `given` if it is `right`; `allowed` completes the sentence that says what is allowed.
pub(super) fn require(
    right: bool,
    (queue, parameter): (&'static str, &'static str),
    given: impl fmt::Display,
    allowed: &'static str,
) -> Result<(), ConfigError> {
    match right {
        true => Ok(()),
        false => {
            let given = given.to_string();
            Err(ConfigError::Queue { queue, parameter, given, allowed })
        }
    }
}

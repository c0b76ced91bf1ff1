//! Which interfaces are to be used, as people say it.

use std::str::FromStr;

use polypath_gateway::{InterfaceName, InterfaceNameError};

/// An interface that is to be used, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub interface: InterfaceName,
    /// Whether it is used only while no other works.
    pub backup: bool,
    /// Of several only those with the lowest number are used.
    pub priority: u8,
}

/// Text that is no [`Choice`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The name.
    #[error(transparent)]
    Name(#[from] InterfaceNameError),
    /// What follows.
    #[error(
        "{0:?} says nothing of an interface; allowed: NAME[,backup][,priority=N], N from 0 to 255"
    )]
    Option(String),
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let mut parts = text.split(',');
        let interface = parts.next().unwrap_or_default().parse()?;
        let mut choice = Self { interface, backup: false, priority: 0 };
        for part in parts {
            let wrong = || ChoiceError::Option(part.to_owned());
            match part.split_once('=') {
                None if part == "backup" => choice.backup = true,
                Some(("priority", number)) => {
                    choice.priority = number.parse().map_err(|_| wrong())?;
                }
                _ => return Err(wrong()),
            }
        }
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_documented() {
        let choice = |text: &str| text.parse::<Choice>();
        let plain = choice("eth0").unwrap();
        assert_eq!((plain.backup, plain.priority), (false, 0));
        let both = choice("wwan0,priority=2,backup").unwrap();
        assert_eq!((both.interface.as_str(), both.backup, both.priority), ("wwan0", true, 2));
        for wrong in ["", "eth0,", "eth0,standby", "eth0,priority=256", "eth0,priority"] {
            let error = choice(wrong).unwrap_err().to_string();
            assert!(error.contains("allowed: "), "{wrong}: {error}");
        }
    }
}

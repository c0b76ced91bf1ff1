//! What carries the connections that an edge splits.

use std::fmt;
use std::str::FromStr;

/// What carries the connections that an edge splits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Each is a stream of the bond, which is encrypted.
    #[default]
    Bond,
    /// Each is a connection of the kernel's Multipath TCP to the hub, which is not.
    Mptcp,
}

impl Transport {
    const ALL: [Self; 2] = [Self::Bond, Self::Mptcp];

    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bond => "bond",
            Self::Mptcp => "mptcp",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that does not say what carries connections.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no transport of connections; allowed: bond, mptcp")]
pub struct ParseTransportError(String);

impl FromStr for Transport {
    type Err = ParseTransportError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|transport| transport.name() == text);
        named.ok_or_else(|| ParseTransportError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_have_names() {
        for transport in Transport::ALL {
            assert_eq!(transport.to_string().parse(), Ok(transport));
        }
        let error = "quic".parse::<Transport>().unwrap_err().to_string();
        assert!(error.ends_with("allowed: bond, mptcp"), "{error}");
    }
}

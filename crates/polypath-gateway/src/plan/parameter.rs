//! Parameters of the kernel.

use std::fmt;

use crate::InterfaceName;

/// Parameters that must be set while a gateway is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Each by itself.
    pub plain: Vec<Parameter>,
    /// Whether packets of IPv6 are forwarded.
    pub ipv6_forwarding: Ipv6Forwarding,
}

/// A parameter, as sysctl(8) knows it with slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its path below `/proc/sys`.
    pub path: String,
    /// What is written there.
    pub value: &'static str,
}

/// Which packets of IPv6 are forwarded.
///
/// Linux before 6.17 knows this of all interfaces only, and then takes router advertisements only
/// where accept_ra is 2: it is set to 2 where it is 1, so that uplinks keep their addresses and
/// routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ipv6Forwarding {
    /// None need be.
    None,
    /// Those that arrive at these interfaces; at all where the kernel does not tell them apart.
    From(Vec<InterfaceName>),
    /// All.
    All,
}

impl Parameter {
    pub(crate) fn on(path: impl Into<String>) -> Self {
        Self { path: path.into(), value: "1" }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, self.value)
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plain.iter().try_for_each(|parameter| writeln!(f, "{parameter}"))?;
        match &self.ipv6_forwarding {
            Ipv6Forwarding::None => Ok(()),
            Ipv6Forwarding::From(interfaces) => interfaces.iter().try_for_each(|interface| {
                writeln!(f, "net/ipv6/conf/{interface}/force_forwarding=1")
            }),
            Ipv6Forwarding::All => writeln!(f, "net/ipv6/conf/all/forwarding=1"),
        }
    }
}

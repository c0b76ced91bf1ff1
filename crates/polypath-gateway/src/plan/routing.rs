//! Rules of policy routing, and routes.

use std::fmt;

use ipnet::IpNet;

use super::Family;
use super::marks::Mark;
use crate::InterfaceName;

/// The table with the routes to the device.
pub(crate) const DEVICE_TABLE: u32 = 7700;
/// The table by which intercepted connections come to this host.
pub(crate) const INTERCEPT_TABLE: u32 = 7701;
/// Priorities of rules: after the table `local` and before the table `main`, which have 0 and
/// 32766.
pub(crate) const FIRST_PRIORITY: u32 = 7700;
/// As which rules and routes are known as ours. No other program that rt_protos of iproute2 lists
/// has this number.
pub(crate) const PROTOCOL: u8 = 112;

/// Rules and routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routing {
    /// The rules, by priority.
    pub rules: Vec<Rule>,
    /// The routes, all of them in tables of their own.
    pub routes: Vec<Route>,
}

/// A rule of policy routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// For which packets it is.
    pub family: Family,
    /// Lower ones come first.
    pub priority: u32,
    /// The interface that a packet arrived at; `lo` for those of the host itself.
    pub interface: Option<InterfaceName>,
    /// The mark of a packet, and the bits that are looked at.
    pub mark: Option<(u32, u32)>,
    /// What becomes of them.
    pub action: Action,
}

/// What becomes of packets that a rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// They go on with the rule of this priority.
    Goto(u32),
    /// They are routed by this table, if it has a route.
    Lookup(u32),
    /// They are routed by the table `main`, if it has a route other than a default route.
    LookupMainButDefault,
    /// They go on: the aim of a [`Action::Goto`].
    Nothing,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where packets go.
    pub destination: IpNet,
    /// The table that it stands in.
    pub table: u32,
    /// What becomes of them.
    pub kind: RouteKind,
}

/// What becomes of packets that a route is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// They leave by this interface.
    Device(InterfaceName),
    /// They are for this host, whatever their destination.
    Local,
    /// The search goes on with the next rule.
    Throw,
    /// They are refused.
    Unreachable,
}

impl Rule {
    pub(super) fn new(family: Family, priority: u32, action: Action) -> Self {
        Self { family, priority, interface: None, mark: None, action }
    }

    pub(super) fn from(self, interface: &InterfaceName) -> Self {
        Self { interface: Some(interface.clone()), ..self }
    }

    pub(super) fn marked(self, mark: Mark) -> Self {
        Self { mark: Some((mark.value, mark.mask)), ..self }
    }
}

impl Family {
    fn ip(self) -> &'static str {
        match self {
            Self::V4 => "ip -4",
            Self::V6 => "ip -6",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rule add priority {}", self.family.ip(), self.priority)?;
        if let Some((value, mask)) = self.mark {
            write!(f, " fwmark {}", Mark { value, mask })?;
        }
        if let Some(interface) = &self.interface {
            write!(f, " iif {interface}")?;
        }
        match self.action {
            Action::Goto(priority) => write!(f, " goto {priority}")?,
            Action::Lookup(table) => write!(f, " lookup {table}")?,
            Action::LookupMainButDefault => write!(f, " lookup main suppress_prefixlength 0")?,
            Action::Nothing => write!(f, " nop")?,
        }
        write!(f, " protocol {PROTOCOL}")
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { destination, table, kind } = self;
        write!(f, "{} route add ", Family::of(*destination).ip())?;
        match kind {
            RouteKind::Device(device) => write!(f, "{destination} dev {device}")?,
            RouteKind::Local => write!(f, "local {destination} dev lo")?,
            RouteKind::Throw => write!(f, "throw {destination}")?,
            RouteKind::Unreachable => write!(f, "unreachable {destination}")?,
        }
        write!(f, " table {table} protocol {PROTOCOL}")
    }
}

impl fmt::Display for Routing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.routes.iter().try_for_each(|route| writeln!(f, "{route}"))?;
        self.rules.iter().try_for_each(|rule| writeln!(f, "{rule}"))
    }
}

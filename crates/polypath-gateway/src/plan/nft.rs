//! A table of nftables as text.

use std::fmt;

use ipnet::IpNet;

use super::Family;
use crate::{InterfaceName, Mtu};

/// A table of the family inet. It prints as one transaction for `nft -f -` that replaces an older
/// table of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    name: &'static str,
    chains: Vec<Chain>,
}

/// Rules, at a hook or for other chains to jump to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    name: &'static str,
    hook: Option<Hook>,
    rules: Vec<String>,
}

/// Where packets come to a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hook {
    /// `filter`, `nat` or `route`.
    pub(super) kind: &'static str,
    pub(super) hook: &'static str,
    /// Lower ones come first. Names of priorities are not allowed at every hook.
    pub(super) priority: i32,
}

/// Where marks are given: `mangle`.
pub(super) const MANGLE: i32 = -150;
/// Where destinations are translated: `dstnat`.
pub(super) const DESTINATIONS: i32 = -100;
/// Where packets are dropped: `filter`.
pub(super) const FILTER: i32 = 0;
/// Where sources are translated: `srcnat`.
pub(super) const SOURCES: i32 = 100;

impl Table {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, chains: Vec::new() }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Adds a chain, unless it has no rules.
    pub(super) fn add(&mut self, chain: Chain) {
        if !chain.rules.is_empty() {
            self.chains.push(chain);
        }
    }
}

impl Chain {
    /// A chain that others jump to.
    pub(super) fn inner(name: &'static str) -> Self {
        Self { name, hook: None, rules: Vec::new() }
    }

    pub(super) fn at(name: &'static str, hook: Hook) -> Self {
        Self { name, hook: Some(hook), rules: Vec::new() }
    }

    pub(super) fn rule(&mut self, rule: impl Into<String>) {
        self.rules.push(rule.into());
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, hook, priority } = self;
        write!(f, "type {kind} hook {hook} priority {priority}; policy accept;")
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\tchain {} {{", self.name)?;
        if let Some(hook) = &self.hook {
            writeln!(f, "\t\t{hook}")?;
        }
        for rule in &self.rules {
            writeln!(f, "\t\t{rule}")?;
        }
        writeln!(f, "\t}}")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", removal(self.name))?;
        writeln!(f, "table inet {} {{", self.name)?;
        self.chains.iter().try_for_each(|chain| chain.fmt(f))?;
        writeln!(f, "}}")
    }
}

/// The commands that remove a table, also if there is none.
pub(crate) fn removal(name: &str) -> String {
    format!("table inet {name}\ndelete table inet {name}\n")
}

/// A set of interfaces.
pub(super) fn interfaces<'a>(names: impl IntoIterator<Item = &'a InterfaceName>) -> String {
    let names = names.into_iter().map(|name| format!("\"{name}\""));
    format!("{{ {} }}", names.collect::<Vec<_>>().join(", "))
}

/// A set of networks.
pub(super) fn networks(networks: &[IpNet]) -> String {
    let texts: Vec<_> = networks.iter().map(IpNet::to_string).collect();
    format!("{{ {} }}", texts.join(", "))
}

/// Has TCP connections between the device and others agree on segments that it can carry (RFC 9293,
/// section 3.7.1): their ends need not rely on messages that a packet is too big.
pub(super) fn clamp(device: &InterfaceName, mtu: Mtu) -> Chain {
    let hook = Hook { kind: "filter", hook: "forward", priority: MANGLE };
    let mut chain = Chain::at("segments", hook);
    for family in Family::BOTH {
        let size = mtu.bytes() - family.tcp_headers();
        for direction in ["iifname", "oifname"] {
            chain.rule(format!(
                "{direction} \"{device}\" meta nfproto {} tcp flags & (syn | rst) == syn \
                 tcp option maxseg size set {size}",
                family.nfproto()
            ));
        }
    }
    chain
}

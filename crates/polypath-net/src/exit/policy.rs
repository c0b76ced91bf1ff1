//! Which targets a hub lets its edges reach.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::tunnel::Host;

/// Allow-list of targets, judged after name resolution.
///
/// Without rules every target is allowed but those in reserved space. With rules, what no rule
/// names is refused. Reserved addresses are refused in both cases, also when a name resolves to one
/// (DNS rebinding), unless a rule names a network inside that reserved block itself, such as
/// `127.0.0.1:8080`; so are the hub's own addresses, unless a rule names that very address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetPolicy {
    rules: Vec<TargetRule>,
}

/// One rule of a [`TargetPolicy`]: `HOST:PORTS`.
///
/// HOST is `*`, a name, `*.` and a name (its subdomains, not itself), an address or a network
/// (`10.0.0.0/8`, `[2001:db8::/32]`). PORTS is `*`, a port, or a range (`80-90`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRule {
    host: HostRule,
    ports: RangeInclusive<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostRule {
    Any,
    Name(String),
    /// With the leading dot.
    Subdomains(String),
    Network(IpNet),
}

/// Text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "target rule {rule:?}: {problem}; write HOST:PORTS with HOST *, a name, *.name, an address or network ([...] for IPv6), and PORTS *, a port or first-last"
)]
pub struct RuleError {
    /// The rule.
    pub rule: String,
    /// What is wrong with it.
    pub problem: RuleProblem,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// There is no `:PORTS`.
    #[error("no ports")]
    NoPorts,
    /// PORTS is not in one of its forms, or its range is empty.
    #[error("bad ports {0:?}")]
    Ports(String),
    /// HOST is not in one of its forms.
    #[error("bad host {0:?}")]
    Host(String),
}

/// Address blocks that a hub never reaches on behalf of an edge unless a rule names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reserved {
    /// The hub itself.
    Loopback,
    /// The hub's own links; the metadata services of cloud providers live here.
    LinkLocal,
    /// No address; systems take it for the host itself.
    Unspecified,
    /// Many hosts, or all.
    Multicast,
    /// IPv4 addresses in deprecated IPv6 clothing (RFC 4291, section 2.5.5.1).
    Ipv4Compatible,
}

impl fmt::Display for Reserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "a loopback address",
            Self::LinkLocal => "a link-local address",
            Self::Unspecified => "an unspecified address",
            Self::Multicast => "a multicast or broadcast address",
            Self::Ipv4Compatible => "an IPv4-compatible IPv6 address",
        })
    }
}

impl Reserved {
    /// The block of `ip`, after taking an IPv4-mapped IPv6 address for the IPv4 address that it is.
    pub(super) fn of(ip: IpAddr) -> Option<Self> {
        blocks().into_iter().find(|(net, _)| net.contains(&ip.to_canonical())).map(|(_, kind)| kind)
    }

    /// The block that holds all of `net`.
    fn around(net: IpNet) -> Option<IpNet> {
        blocks().into_iter().map(|(block, _)| block).find(|block| block.contains(&net))
    }
}

/// RFC 6890 and the IANA special-purpose registries, as far as the blocks concern the hub itself.
/// The more special stand first.
fn blocks() -> [(IpNet, Reserved); 10] {
    let v4 = |ip: [u8; 4], length| IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::from(ip), length));
    let v6 = |ip: Ipv6Addr, length| IpNet::V6(Ipv6Net::new_assert(ip, length));
    [
        (v4([127, 0, 0, 0], 8), Reserved::Loopback),
        (v4([169, 254, 0, 0], 16), Reserved::LinkLocal),
        (v4([0, 0, 0, 0], 8), Reserved::Unspecified),
        (v4([224, 0, 0, 0], 4), Reserved::Multicast),
        (v4([255, 255, 255, 255], 32), Reserved::Multicast),
        (v6(Ipv6Addr::LOCALHOST, 128), Reserved::Loopback),
        (v6(Ipv6Addr::UNSPECIFIED, 128), Reserved::Unspecified),
        (v6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10), Reserved::LinkLocal),
        (v6(Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8), Reserved::Multicast),
        (v6(Ipv6Addr::UNSPECIFIED, 96), Reserved::Ipv4Compatible),
    ]
}

/// A target that the policy forbids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Forbidden {
    /// The address is reserved.
    #[error("{ip} is {block}")]
    Reserved {
        /// The address.
        ip: IpAddr,
        /// Its block.
        block: Reserved,
    },
    /// The address is the hub's own.
    #[error("{ip} is an address of the hub itself")]
    Own {
        /// The address.
        ip: IpAddr,
    },
    /// No rule names the target.
    #[error("no rule allows {host} port {port}")]
    NoRule {
        /// Its host.
        host: Host,
        /// Its port.
        port: u16,
    },
}

impl TargetPolicy {
    /// A policy of these rules; without any, every target but the reserved ones is allowed.
    pub fn new(rules: Vec<TargetRule>) -> Self {
        Self { rules }
    }

    /// Whether resolving the name of a target could lead to an allowed address. A name that cannot
    /// is not resolved: a query too tells something to the outside.
    pub(super) fn check_name(&self, host: &Host, port: u16) -> Result<(), Forbidden> {
        let possible = |rule: &TargetRule| {
            rule.ports.contains(&port) && (rule.names(host) || rule.network().is_some())
        };
        if self.rules.is_empty() || self.rules.iter().any(possible) {
            return Ok(());
        }
        Err(Forbidden::NoRule { host: host.clone(), port })
    }

    /// Whether the hub may send to `ip`, to which `host` resolved (or which it is).
    pub(super) fn check_address(
        &self,
        host: &Host,
        ip: IpAddr,
        port: u16,
    ) -> Result<(), Forbidden> {
        let ip = ip.to_canonical();
        let applies = |rule: &&TargetRule| {
            rule.ports.contains(&port) && (rule.names(host) || rule.covers(ip))
        };
        if let Some(block) = Reserved::of(ip) {
            let named = self.rules.iter().filter(applies).any(|rule| rule.names_reserved(ip));
            return if named { Ok(()) } else { Err(Forbidden::Reserved { ip, block }) };
        }
        if self.rules.is_empty() || self.rules.iter().any(|rule| applies(&rule)) {
            return Ok(());
        }
        Err(Forbidden::NoRule { host: host.clone(), port })
    }

    /// Whether the hub may send to `ip` although it is one of its own addresses. A rule for the
    /// network around it means the other hosts: what listens on the hub is often guarded by the
    /// interface that packets come by, which here is loopback.
    pub(super) fn check_own(&self, ip: IpAddr, port: u16) -> Result<(), Forbidden> {
        let ip = ip.to_canonical();
        let names = |rule: &TargetRule| {
            rule.ports.contains(&port) && rule.network() == Some(IpNet::from(ip))
        };
        // Those in reserved blocks have been judged as such.
        if Reserved::of(ip).is_some() || self.rules.iter().any(names) {
            return Ok(());
        }
        Err(Forbidden::Own { ip })
    }
}

impl TargetRule {
    fn network(&self) -> Option<IpNet> {
        match self.host {
            HostRule::Network(net) => Some(net),
            _ => None,
        }
    }

    fn names(&self, host: &Host) -> bool {
        match (&self.host, host) {
            (HostRule::Any, _) => true,
            (HostRule::Name(name), Host::Domain(domain)) => name == domain.as_str(),
            (HostRule::Subdomains(suffix), Host::Domain(domain)) => {
                domain.as_str().len() > suffix.len() && domain.as_str().ends_with(suffix)
            }
            _ => false,
        }
    }

    fn covers(&self, ip: IpAddr) -> bool {
        self.network().is_some_and(|net| net.contains(&ip))
    }

    /// `0.0.0.0/0` covers loopback too but does not mean it: the network must lie inside the block.
    fn names_reserved(&self, ip: IpAddr) -> bool {
        let net = self.network().filter(|net| net.contains(&ip));
        net.and_then(Reserved::around).is_some()
    }
}

impl FromStr for TargetRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |problem| RuleError { rule: text.to_owned(), problem };
        let (host, ports) = text.rsplit_once(':').ok_or_else(|| error(RuleProblem::NoPorts))?;
        let bad_host = || error(RuleProblem::Host(host.to_owned()));
        let host = parse_host(host).ok_or_else(bad_host)?;
        let ports =
            parse_ports(ports).ok_or_else(|| error(RuleProblem::Ports(ports.to_owned())))?;
        Ok(Self { host, ports })
    }
}

fn parse_ports(text: &str) -> Option<RangeInclusive<u16>> {
    let number = |t: &str| t.parse::<u16>().ok().filter(|_| !t.starts_with('+'));
    match text.split_once('-') {
        None if text == "*" => Some(0..=u16::MAX),
        None => number(text).map(|port| port..=port),
        Some((first, last)) => {
            Some(number(first)?..=number(last)?).filter(|range| !range.is_empty())
        }
    }
}

fn parse_host(text: &str) -> Option<HostRule> {
    if text == "*" {
        return Some(HostRule::Any);
    }
    if let Some(parent) = text.strip_prefix("*.") {
        return domain(parent).map(|name| HostRule::Subdomains(format!(".{name}")));
    }
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let network = bare.parse().ok().or_else(|| bare.parse::<IpAddr>().ok().map(IpNet::from));
    match network {
        Some(IpNet::V6(_)) if bare == text => None,
        Some(net) => Some(HostRule::Network(canonical(net.trunc()))),
        None => domain(text).map(HostRule::Name),
    }
}

/// A rule for `[::ffff:10.0.0.0/104]` means `10.0.0.0/8`: addresses are judged in that form.
fn canonical(net: IpNet) -> IpNet {
    let IpAddr::V4(ip) = net.network().to_canonical() else { return net };
    let length = match net {
        IpNet::V4(_) => return net,
        IpNet::V6(v6) => v6.prefix_len().checked_sub(96),
    };
    length.and_then(|length| Ipv4Net::new(ip, length).ok()).map_or(net, IpNet::V4)
}

fn domain(text: &str) -> Option<String> {
    match Host::parse(text) {
        Ok(Host::Domain(name)) => Some(name.as_str().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn policy(rules: &[&str]) -> TargetPolicy {
        TargetPolicy::new(rules.iter().map(|rule| rule.parse().unwrap()).collect())
    }

    fn allows(policy: &TargetPolicy, host: &str, ip: &str, port: u16) -> bool {
        let host = Host::parse(host).unwrap();
        policy.check_address(&host, ip.parse().unwrap(), port).is_ok()
    }

    #[test]
    fn the_default_is_everything_but_reserved_addresses() {
        let open = policy(&[]);
        for ip in ["8.8.8.8", "10.1.2.3", "192.168.0.1", "2001:db8::1", "fd00::1"] {
            assert!(allows(&open, ip, ip, 1), "{ip}");
        }
        for ip in [
            "127.0.0.1",
            "127.255.0.1",
            "::1",
            "169.254.169.254",
            "fe80::1",
            "0.0.0.0",
            "0.1.2.3",
            "::",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
            "::ffff:127.0.0.1",
            "::ffff:169.254.1.1",
            "::127.0.0.1",
        ] {
            assert!(!allows(&open, ip, ip, 1), "{ip}");
            assert!(!allows(&policy(&["*:*"]), ip, ip, 1), "{ip}");
            assert!(!allows(&policy(&["0.0.0.0/0:*", "[::/0]:*"]), ip, ip, 1), "{ip}");
        }
    }

    #[test]
    fn a_name_that_resolves_to_a_reserved_address_is_refused() {
        assert!(!allows(&policy(&[]), "rebind.example", "127.0.0.1", 80));
        assert!(!allows(&policy(&["rebind.example:*"]), "rebind.example", "::1", 80));
        let explicit = policy(&["127.0.0.1:8080"]);
        assert!(allows(&explicit, "localhost", "127.0.0.1", 8080));
        assert!(!allows(&explicit, "localhost", "127.0.0.1", 8081));
        assert!(!allows(&explicit, "localhost", "127.0.0.2", 8080));
    }

    #[test]
    fn rules_are_an_allow_list() {
        let rules = policy(&["10.0.0.0/8:443", "*.example.com:*", "*:80-90", "[2001:db8::/32]:53"]);
        for (host, ip, port, allowed) in [
            ("10.2.3.4", "10.2.3.4", 443, true),
            ("::ffff:10.2.3.4", "::ffff:10.2.3.4", 443, true),
            ("10.2.3.4", "10.2.3.4", 444, false),
            ("internal.test", "10.2.3.4", 443, true),
            ("a.b.example.com", "192.0.2.1", 1, true),
            ("A.Example.COM", "192.0.2.1", 1, true),
            ("example.com", "192.0.2.1", 1, false),
            ("badexample.com", "192.0.2.1", 1, false),
            ("192.0.2.1", "192.0.2.1", 80, true),
            ("192.0.2.1", "192.0.2.1", 91, false),
            ("2001:db8::5", "2001:db8::5", 53, true),
        ] {
            assert_eq!(allows(&rules, host, ip, port), allowed, "{host} {ip} {port}");
        }
    }

    #[test]
    fn names_that_cannot_be_allowed_are_not_resolved() {
        let name = Host::parse("other.test").unwrap();
        assert!(policy(&["*.example.com:*", "10.0.0.0/8:80"]).check_name(&name, 443).is_err());
        assert!(policy(&["*.example.com:*", "10.0.0.0/8:443"]).check_name(&name, 443).is_ok());
        assert!(policy(&[]).check_name(&name, 443).is_ok());
    }

    #[test]
    fn wrong_rules_say_what_is_wrong() {
        let problem = |text: &str| text.parse::<TargetRule>().unwrap_err().problem;
        assert_eq!(problem("example.com"), RuleProblem::NoPorts);
        assert_eq!(problem("a:90-80"), RuleProblem::Ports("90-80".into()));
        assert_eq!(problem("a:+1"), RuleProblem::Ports("+1".into()));
        assert_eq!(problem("10.0.0.0/33:1"), RuleProblem::Host("10.0.0.0/33".into()));
        assert_eq!(problem("*.*.a:1"), RuleProblem::Host("*.*.a".into()));
        assert_eq!(problem("2001:db8::1:1"), RuleProblem::Host("2001:db8::1".into()));
    }

    proptest! {
        /// Rules of any kind but a network inside a reserved block never open a reserved address,
        /// and a mapped address is judged like the plain one.
        #[test]
        fn mapped_and_plain_addresses_are_judged_alike(bits in any::<u32>(), port in any::<u16>(), length in 0..=32u8) {
            let ip = Ipv4Addr::from(bits);
            let net = Ipv4Net::new(ip, length).unwrap().trunc();
            let rules = policy(&[&format!("{net}:*")]);
            let judge = |ip: IpAddr| rules.check_address(&Host::Ip(ip), ip, port).is_ok();
            prop_assert_eq!(judge(ip.into()), judge(ip.to_ipv6_mapped().into()));
            if Reserved::of(ip.into()).is_some() {
                prop_assert_eq!(judge(ip.into()), Reserved::around(net.into()).is_some());
            } else {
                prop_assert!(judge(ip.into()));
            }
        }
    }
}

//! Which targets a hub lets its edges reach.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};

use super::embedded::{is_embedding, judged};
use super::reserved::Reserved;
use crate::tunnel::Host;

/// Allow-list of targets, judged after name resolution.
///
/// Without rules every target is allowed but those in reserved space. With rules, what no rule
/// names is refused. Reserved addresses are refused in both cases, also when a name resolves to one
/// (DNS rebinding), unless a rule names a network inside that reserved block itself, such as
/// `127.0.0.1:8080`; so are the hub's own addresses, unless a rule names that very address.
///
/// An IPv6 address that embeds an IPv4 address (IPv4-mapped, NAT64, 6to4) is judged as that one.
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
    /// HOST is a network of IPv6 addresses that are judged as the IPv4 addresses they embed.
    #[error("the addresses in {0:?} are judged as the IPv4 addresses that they embed; name those")]
    Embedding(String),
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
        let judged = judged(ip);
        let applies = |rule: &&TargetRule| {
            rule.ports.contains(&port) && (rule.names(host) || rule.covers(judged))
        };
        if let Some(block) = Reserved::of(judged) {
            let named = self.rules.iter().filter(applies).any(|rule| rule.names_reserved(judged));
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
        let judged = judged(ip);
        let names = |rule: &TargetRule| {
            rule.ports.contains(&port) && rule.network() == Some(IpNet::from(judged))
        };
        // Those in reserved blocks have been judged as such.
        if Reserved::of(judged).is_some() || self.rules.iter().any(names) {
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
        let host = parse_host(host).map_err(error)?;
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

fn parse_host(text: &str) -> Result<HostRule, RuleProblem> {
    let bad = || RuleProblem::Host(text.to_owned());
    if text == "*" {
        return Ok(HostRule::Any);
    }
    if let Some(parent) = text.strip_prefix("*.") {
        return domain(parent).map(|name| HostRule::Subdomains(format!(".{name}"))).ok_or_else(bad);
    }
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let network = bare.parse().ok().or_else(|| bare.parse::<IpAddr>().ok().map(IpNet::from));
    match network.map(|net: IpNet| canonical(net.trunc())) {
        Some(_) if bare == text && bare.contains(':') => Err(bad()),
        Some(IpNet::V6(net)) if is_embedding(net) => Err(RuleProblem::Embedding(text.to_owned())),
        Some(net) => Ok(HostRule::Network(net)),
        None => domain(text).map(HostRule::Name).ok_or_else(bad),
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
    use std::net::{Ipv4Addr, Ipv6Addr};

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
        for ip in [
            "8.8.8.8",
            "10.1.2.3",
            "192.168.0.1",
            "100.100.100.201",
            "2001:db8::1",
            "fd00::1",
            "fd20:ce::255",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
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
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:42::42",
            "fd00:100::100:200",
            "fd00:a9fe:a9fe::1",
            "fd00:c1::a9fe:a9fe",
            "fd00:ec2::23",
            "fd00:ec2::254",
            "fd20:ce::254",
            "64:ff9b::127.0.0.1",
            "64:ff9b::168.63.129.16",
            "64:ff9b:1::8.8.8.8",
            "2001:0:808:808::1",
            "2002:7f00:1::1",
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
    fn a_metadata_service_is_reached_by_a_rule_for_it_alone() {
        let wide = policy(&["*:*", "168.0.0.0/8:*", "[fd00::/8]:*"]);
        let named = policy(&["168.63.129.16:80", "[fd00:ec2::253]:53"]);
        for (ip, port) in [("168.63.129.16", 80), ("fd00:ec2::253", 53)] {
            assert!(!allows(&wide, ip, ip, port), "{ip}");
            assert!(allows(&named, ip, ip, port), "{ip}");
        }
        assert!(!allows(&named, "fd00:ec2::254", "fd00:ec2::254", 53));
        let [host, ip] = ["metadata.test", "100.100.100.200"];
        let host = Host::parse(host).unwrap();
        let error = policy(&[]).check_address(&host, ip.parse().unwrap(), 80).unwrap_err();
        let expected = "100.100.100.200 is an address of a cloud provider's metadata service";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn addresses_that_lead_to_unknown_ipv4_addresses_are_reached_by_a_rule_for_them() {
        let named = policy(&["[64:ff9b:1::/96]:*", "10.0.0.0/8:*"]);
        assert!(allows(&named, "a.test", "64:ff9b:1::8.8.8.8", 80));
        assert!(!allows(&policy(&["10.0.0.0/8:*"]), "a.test", "64:ff9b:1::10.0.0.1", 80));
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
        assert_eq!(problem("::ffff:10.0.0.1:1"), RuleProblem::Host("::ffff:10.0.0.1".into()));
        for host in ["[64:ff9b::/96]", "[64:ff9b::10.0.0.0/104]", "[2002:a00:1::/48]"] {
            let embedding = RuleProblem::Embedding(host.into());
            assert_eq!(problem(&format!("{host}:1")), embedding);
        }
    }

    /// Every way in which an IPv6 address embeds `ip`.
    fn embeddings(ip: Ipv4Addr) -> [IpAddr; 4] {
        let [a, b, c, d] = ip.octets().map(u16::from);
        let [high, low] = [a << 8 | b, c << 8 | d];
        [
            ip.to_ipv6_mapped(),
            Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, 7, 0, 0, 0, 7),
        ]
        .map(IpAddr::V6)
    }

    proptest! {
        /// Rules of any kind but a network inside a reserved block never open a reserved address,
        /// and an address that embeds another is judged like the plain one.
        #[test]
        fn embedding_and_plain_addresses_are_judged_alike(bits in any::<u32>(), port in any::<u16>(), length in 0..=32u8) {
            let ip = Ipv4Addr::from(bits);
            let net = Ipv4Net::new(ip, length).unwrap().trunc();
            let judge = |rule: &str, ip: IpAddr| {
                let rules = policy(&[rule]);
                let target = rules.check_address(&Host::Ip(ip), ip, port).is_ok();
                (target, rules.check_own(ip, port).is_ok())
            };
            for rule in [&format!("{net}:*"), "*:*", "[2000::/3]:*", "[::/0]:*"] {
                let plain = judge(rule, ip.into());
                for embedding in embeddings(ip) {
                    prop_assert_eq!(judge(rule, embedding), plain, "{} {}", rule, embedding);
                }
            }
            let (target, own) = judge(&format!("{net}:*"), ip.into());
            if Reserved::of(ip.into()).is_some() {
                prop_assert_eq!(target, Reserved::around(net.into()).is_some());
            } else {
                prop_assert!(target);
                prop_assert_eq!(own, length == 32);
            }
        }
    }
}

//! Policies as files.

mod keys;

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;

use ipnet::IpNet;
use polypath_config::{Document, DocumentError, Table, Value};

use crate::{Criterion, PacketSize, Policy, Rule, TrafficDescriptor, UserPattern};

const AT_LEAST: &str = "at_least";
const AT_MOST: &str = "at_most";

impl Policy {
    /// The file of the rules that hold where nobody has given others.
    pub const STANDARD: &str = include_str!("standard.toml");

    /// The rules that hold where nobody has given others.
    pub fn standard() -> Self {
        Self::parse(Path::new("standard.toml"), Self::STANDARD).expect("a test reads it")
    }

    /// Reads `text`, the content of `file`.
    ///
    /// # Errors
    /// At the first line that is malformed, key that is unknown, value that is not allowed, or rule
    /// that is never reached.
    pub fn parse(file: &Path, text: &str) -> Result<Self, DocumentError> {
        let document = Document::new(file, text);
        let tables = document.parse()?;
        let root = Table::root(document, "a policy", &tables);
        root.refuse_others(&["rule"], "")?;
        let items = match root.get("rule") {
            Some(rules) => rules.items("a list of rules, each a table [[rule]]")?,
            None => Vec::new(),
        };
        let tables = items.iter().map(Value::table).collect::<Result<Vec<_>, _>>()?;
        let rules = tables.iter().map(read_rule).collect::<Result<_, _>>()?;
        Self::new(rules).map_err(|error| wrong_at(&tables[error.rule()], "name", error))
    }
}

fn read_rule(table: &Table<'_>) -> Result<Rule, DocumentError> {
    let criteria = Criterion::ALL.map(Criterion::key);
    table.refuse_others(&[&["name"], &keys::KEYS[..], &criteria].concat(), "")?;
    let name = table.get("name").ok_or_else(|| table.missing("`name`"))?.text()?;
    let treatment = keys::read_treatment(table)?;
    let rate = keys::read_rate(table, &treatment)?;
    let rule = Rule::new(name, read_descriptor(table)?, treatment);
    let rule = rule.and_then(|rule| match rate {
        Some(rate) => rule.limited(rate),
        None => Ok(rule),
    });
    rule.map_err(|error| wrong_at(table, error.key(), error))
}

/// The error that stands at `key`, or at the table if it has no such key.
fn wrong_at(table: &Table<'_>, key: &'static str, problem: impl fmt::Display) -> DocumentError {
    table.get(key).map_or_else(|| table.site(), |value| value.site()).wrong(problem)
}

fn read_descriptor(table: &Table<'_>) -> Result<TrafficDescriptor, DocumentError> {
    Ok(TrafficDescriptor {
        protocol: list(table, Criterion::Protocol, number_or_text)?,
        source: list(table, Criterion::Source, read_network)?,
        source_port: list(table, Criterion::SourcePort, number_or_text)?,
        destination: list(table, Criterion::Destination, read_network)?,
        port: list(table, Criterion::Port, number_or_text)?,
        domain: list(table, Criterion::Domain, |value| value.parse_with(str::parse))?,
        dscp: list(table, Criterion::Dscp, number_or_text)?,
        packet_size: table
            .get(Criterion::PacketSize.key())
            .map_or_else(|| Ok(PacketSize::default()), |value| read_size(&value))?,
        interface: list(table, Criterion::Interface, |value| value.parse_with(str::parse))?,
        user: list(table, Criterion::User, read_user)?,
    })
}

/// What a key has, which may be one value or a list of them; empty if it is not there.
fn list<'a, T>(
    table: &Table<'a>,
    criterion: Criterion,
    read: impl Fn(&Value<'a>) -> Result<T, DocumentError>,
) -> Result<Vec<T>, DocumentError> {
    let Some(value) = table.get(criterion.key()) else { return Ok(Vec::new()) };
    if !value.is_list() {
        return Ok(vec![read(&value)?]);
    }
    let items = value.items("a value or a list of values")?;
    if items.is_empty() {
        return Err(
            value.wrong("nothing fits an empty list; allowed: at least one value, or no key")
        );
    }
    items.iter().map(read).collect()
}

/// Text, or a number as its digits.
fn number_or_text<T: FromStr<Err: fmt::Display>>(value: &Value<'_>) -> Result<T, DocumentError> {
    if value.is_text() {
        return value.parse_with(str::parse);
    }
    let number = value.integer(u16::MAX)?.to_string();
    number.parse().map_err(|problem| value.wrong(problem))
}

/// A name, or a number.
fn read_user(value: &Value<'_>) -> Result<UserPattern, DocumentError> {
    if value.is_text() {
        return value.parse_with(str::parse);
    }
    value.integer(u32::MAX).map(UserPattern::Uid)
}

fn read_network(value: &Value<'_>) -> Result<IpNet, DocumentError> {
    value.parse_with(|text| {
        let allowed = "allowed: an address, or a network such as 10.0.0.0/8 or 2001:db8::/32";
        let network = text.parse::<IpAddr>().map(IpNet::from).ok().or_else(|| text.parse().ok());
        let network = network.ok_or_else(|| format!("{text:?} is no network; {allowed}"))?;
        if network != network.trunc() {
            let whole = network.trunc();
            return Err(format!("{text:?} is an address within the network {whole}; {allowed}"));
        }
        Ok(network)
    })
}

fn read_size(value: &Value<'_>) -> Result<PacketSize, DocumentError> {
    let table = value.table()?;
    table.refuse_others(&[AT_LEAST, AT_MOST], "")?;
    let bytes = |key| table.get(key).map(|value| value.integer(u32::MAX)).transpose();
    let size = PacketSize { at_least: bytes(AT_LEAST)?, at_most: bytes(AT_MOST)? };
    if size.is_any() {
        return Err(table.missing("`at_least`, `at_most` or both"));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PolicyError, Traffic, Treatment};

    fn read(text: &str) -> Result<Policy, String> {
        Policy::parse(Path::new("policy.toml"), text).map_err(|error| error.to_string())
    }

    /// One rule for UDP with this line in it, the third.
    fn rule(line: &str) -> Result<Policy, String> {
        read(&format!("[[rule]]\nname = \"a\"\n{line}\nmode = \"aggregate\"\n"))
    }

    #[test]
    fn the_standard_rules_are_a_policy() {
        let names: Vec<_> =
            Policy::standard().rules().iter().map(|rule| rule.name().to_owned()).collect();
        assert_eq!(names, ["expedited", "dns", "small packets"]);
    }

    #[test]
    fn every_key_has_one_value_or_several() {
        let address = "[\"10.0.0.0/8\", \"2001:db8::1\"]";
        for (key, value, fits, does_not) in [
            ("protocol", "\"udp\"", "udp", "tcp"),
            ("protocol", "[6, \"esp\"]", "esp", "udp"),
            ("source", address, "udp from 10.9.9.9", "udp from 11.0.0.1"),
            ("source", address, "udp from 2001:db8::1", "udp from 2001:db8::2"),
            ("source", address, "udp from ::ffff:10.0.0.1", "udp"),
            ("source_port", "[1, \"5-7\"]", "udp from 10.0.0.1:6", "udp from 10.0.0.1:4"),
            ("destination", "\"10.0.0.0/8\"", "tcp 10.0.0.1:80", "tcp a.org:80"),
            ("port", "53", "udp 10.0.0.1:53", "udp 10.0.0.1:54"),
            ("interface", "[\"host\", \"eth1\"]", "udp by eth1", "udp by eth2"),
            ("interface", "\"host\"", "udp by host", "udp"),
            ("user", "[1000, \"mail\"]", "tcp user 1000", "tcp user 1001"),
            ("user", "\"mail\"", "tcp user mail", "tcp user 8"),
            ("port", "\"50-60\"", "tcp a.org:60", "icmp 10.0.0.1"),
            ("domain", "[\"a.org\", \"*.b.org\"]", "tcp x.B.org:80", "tcp b.org:80"),
            ("dscp", "[\"ef\", 10]", "udp dscp af11", "udp dscp 0"),
            ("packet_size", "{ at_most = 300 }", "udp size 300", "udp size 301"),
            ("packet_size", "{ at_least = 2, at_most = 3 }", "udp size 2", "udp size 1"),
            ("packet_size", "{ at_least = 1_000 }", "udp size 1000", "udp"),
        ] {
            let policy = rule(&format!("{key} = {value}")).unwrap();
            let decide = |traffic| policy.decide(&Traffic::parse(traffic).unwrap());
            assert_eq!(decide(fits), Some(0), "{key} = {value}: {fits}");
            assert_eq!(decide(does_not), None, "{key} = {value}: {does_not}");
        }
        let all = read("[[rule]]\nname = \"all\"\nmode = \"drop\"\n").unwrap();
        assert_eq!(all.decide(&Traffic::parse("tcp a.org:80").unwrap()), Some(0));
        assert_eq!(all.rules()[0].treatment(), &Treatment::Drop);
        assert_eq!(read("").unwrap(), Policy::default());
    }

    #[test]
    fn errors_name_file_line_key_and_what_is_allowed() {
        for (line, expected) in [
            (
                "colour = 1",
                "3: unknown key `colour` in [[rule]]; allowed are name, mode, paths, weights",
            ),
            ("protocol = \"quic\"", "3: protocol: \"quic\" is no protocol; allowed: tcp, udp"),
            ("protocol = 256", "3: protocol: \"256\" is no protocol; allowed: tcp, udp"),
            ("protocol = []", "3: protocol: nothing fits an empty list; allowed: at least"),
            ("source = \"10.0.0.1/8\"", "3: source: \"10.0.0.1/8\" is an address within the"),
            ("source = \"lan\"", "3: source: \"lan\" is no network; allowed: an address"),
            ("port = 0", "3: port: \"0\" is neither a port from 1 to 65535 nor FIRST-LAST"),
            ("port = 65536", "3: port: 65536 is not a whole number from 0 to 65535"),
            ("port = true", "3: port: a value of type boolean is not a whole number"),
            ("port = [1,\n\"9-1\"]", "4: port: \"9-1\" is neither a port"),
            ("interface = \"a b\"", "3: interface: \"a b\" is no interface; allowed: its name"),
            ("user = -1", "3: user: "),
            ("domain = \"*\"", "3: domain: \"*\" is no name; allowed: a name such as"),
            ("dscp = 64", "3: dscp: \"64\" is no DSCP; allowed: numbers from 0 to 63"),
            ("dscp = \"of\"", "3: dscp: \"of\" is no DSCP; allowed: numbers from 0 to 63"),
            ("packet_size = 300", "3: packet_size: a value of type integer is not a table"),
            ("packet_size = {}", "3: [rule.packet_size] needs `at_least`, `at_most` or both"),
            ("packet_size = { most = 1 }", "3: unknown key `most` in [rule.packet_size]; allowed"),
            (
                "packet_size = { at_least = 2, at_most = 1 }",
                "3: packet_size: no packet is of at least 2 and at most 1 bytes; allowed",
            ),
            ("protocol = \"tcp\"\ndscp = 1", "4: dscp: the rule is for TCP connections, of which"),
            ("protocol = \"icmp\"\nport = 1", "3: protocol: icmp has no ports; allowed: port and"),
            ("name = \"b\"", "3: not valid TOML: duplicate key"),
            ("paths = [\"a\"]", "3: paths: the rule is also for TCP connections, whose data"),
            ("paths = \"a\"", "3: paths: a value of type string is not a list of names of paths"),
            ("paths = [1]", "3: paths: a value of type integer is not text"),
            ("paths = []", "3: paths: an empty list carries nothing; allowed: a path, or no key"),
            ("weights = [1]", "3: weights: says nothing of mode aggregate; allowed: with load_"),
            ("copies = 2", "3: copies: says nothing of mode aggregate; allowed: with redundant"),
            ("rtt_above = \"1ms\"", "3: rtt_above: says nothing of mode aggregate; allowed"),
            ("loss_above = 0.1", "3: loss_above: says nothing of mode aggregate; allowed"),
        ] {
            let error = rule(line).unwrap_err();
            assert!(error.starts_with(&format!("policy.toml:{expected}")), "{line}: {error}");
        }
        for (text, expected) in [
            ("rules = []", "1: unknown key `rules` in a policy; allowed are rule"),
            ("rule = 1", "1: rule: a value of type integer is not a list of rules"),
            ("\n[[rule]]\nmode = \"drop\"", "2: [[rule]] needs `name`"),
            ("[[rule]]\nname = \"a\"", "1: [[rule]] needs `mode`"),
            ("[[rule]]\nmode = \"drop\"\nname = \"\"", "3: name: \"\" cannot be the name"),
            (
                "[[rule]]\nname = \"a\"\nmode = \"best\"",
                "3: mode: \"best\" is no steering mode; allowed: aggregate, redundant, active_standby",
            ),
            (
                "[[rule]]\nname = \"a\"\nmode = \"redundant\"",
                "3: mode: redundant is for packets, and the rule is also for TCP connections",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(&format!("policy.toml:{expected}")), "{text}: {error}");
        }
    }

    /// What a rule for UDP with these lines says of its steering, or what is wrong with them, the
    /// fourth.
    fn steering(lines: &str) -> Result<String, String> {
        let rule = read(&format!("[[rule]]\nname = \"a\"\nprotocol = \"udp\"\n{lines}\n"))?;
        Ok(rule.rules()[0].treatment().to_string())
    }

    #[test]
    fn a_mode_has_paths_weights_and_thresholds() {
        for (lines, expected) in [
            ("mode = \"aggregate\"\npaths = [\"lte\"]", "aggregate over lte"),
            ("mode = \"priority_based\"\npaths = [\"b\", \"a\"]", "priority_based over b, a"),
            ("mode = \"load_balancing\"", "load_balancing"),
            (
                "mode = \"load_balancing\"\npaths = [\"a\", \"b\"]\nweights = [80, 20]",
                "load_balancing over a (80), b (20)",
            ),
            ("mode = \"active_standby\"\nresend = true", "active_standby, lost ones again"),
            ("mode = \"aggregate\"\nin_order = true", "aggregate, in order"),
            (
                "mode = \"load_balancing\"\nresend = false\nin_order = false",
                "load_balancing, lost ones not again, in any order",
            ),
            (
                "mode = \"smallest_delay\"\ncopy_share = 0.05",
                "smallest_delay with copies up to 0.05 of the rate",
            ),
            (
                "mode = \"aggregate\"\npaths = [\"lte\"]\nresend = false",
                "aggregate over lte, lost ones not again",
            ),
            ("mode = \"redundant\"\ncopies = 2", "redundant with 2 copies"),
            ("mode = \"redundant\"\nrtt_above = \"80ms\"", "redundant while RTT is above 80ms"),
            (
                "mode = \"redundant\"\npaths = [\"a\"]\nloss_above = 0.01",
                "redundant while loss is above 0.01 over a",
            ),
            (
                "mode = \"redundant\"\ncopies = 64\nrtt_above = \"1 min\"\nloss_above = 0",
                "redundant with 64 copies while RTT is above 60s or loss above 0",
            ),
        ] {
            assert_eq!(steering(lines).as_deref(), Ok(expected), "{lines}");
        }
        for (lines, expected) in [
            ("mode = \"priority_based\"", "4: mode: priority_based needs `paths`, in the order"),
            ("mode = \"drop\"\npaths = [\"a\"]", "5: paths: says nothing of mode drop; allowed"),
            ("paths = [\"a\", \"a\"]\nmode = \"redundant\"", "4: paths: \"a\" is there twice"),
            ("paths = [\"\"]\nmode = \"redundant\"", "4: paths: \"\" cannot be the name of a path"),
            (
                "weights = [1, 2]\nmode = \"load_balancing\"\npaths = [\"a\"]",
                "4: weights: 2 weights for 1 paths; allowed: for each path one from 1 to 100",
            ),
            (
                "weights = [101]\nmode = \"load_balancing\"\npaths = [\"a\"]",
                "4: weights: 101 is not a whole number from 1 to 100",
            ),
            ("copies = 1\nmode = \"redundant\"", "4: copies: 1 is not a whole number from 2 to 64"),
            ("copies = 2.5\nmode = \"redundant\"", "4: copies: 2.5 is not a whole number from 2"),
            ("rtt_above = \"80\"\nmode = \"redundant\"", "4: rtt_above: \"80\" is not a time such"),
            ("rtt_above = \"0 s\"\nmode = \"redundant\"", "4: rtt_above: 0ns is not from 1 us to"),
            ("loss_above = 1\nmode = \"redundant\"", "4: loss_above: 1 is not a share from 0 to"),
            ("resend = 1\nmode = \"aggregate\"", "4: resend: a value of type integer is not"),
            ("copy_share = 0\nmode = \"smallest_delay\"", "4: copy_share: 0 is not"),
            ("copy_share = 1.1\nmode = \"smallest_delay\"", "4: copy_share: 1.1 is not a share"),
            ("copy_share = 0.1\nmode = \"aggregate\"", "4: copy_share: says nothing of mode"),
            ("resend = true\nmode = \"redundant\"", "4: resend: says nothing of mode redundant"),
            ("resend = false\nmode = \"drop\"", "4: resend: says nothing of mode drop; allowed"),
            ("in_order = 1\nmode = \"aggregate\"", "4: in_order: a value of type integer is not"),
            ("in_order = false\nmode = \"drop\"", "4: in_order: says nothing of mode drop"),
            ("in_order = true\nmode = \"redundant\"", "4: in_order: says nothing of mode"),
            ("in_order = false\nmode = \"active_standby\"", "4: in_order: says nothing of"),
            (
                "in_order = false\nmode = \"smallest_delay\"",
                "4: in_order: says nothing of mode smallest_delay; allowed: with aggregate, \
                 priority_based and load_balancing",
            ),
            ("rate = \"2\"\nmode = \"redundant\"", "4: rate: \"2\" is not a rate such as"),
            ("rate = \"1 kbit/s\"\nmode = \"redundant\"", "4: rate: 1 kbit/s is no rate of a rule"),
            ("rate = \"2 Mbit/s\"\nmode = \"drop\"", "4: rate: says nothing of mode drop"),
        ] {
            let error = steering(lines).unwrap_err();
            assert!(error.starts_with(&format!("policy.toml:{expected}")), "{lines}: {error}");
        }
    }

    #[test]
    fn a_rule_has_a_rate_or_none() {
        for (line, rate) in [("", None), ("rate = \"2 Mbit/s\"", Some(2_000_000))] {
            let policy = rule(line).unwrap();
            assert_eq!(policy.rules()[0].rate().map(|rate| rate.bits_per_sec()), rate);
        }
    }

    #[test]
    fn a_rule_that_does_not_fit_those_before_it_is_named_at_its_line() {
        let second = |name: &str, line: &str| {
            let first = "[[rule]]\nname = \"a\"\nport = \"1-100\"\nmode = \"drop\"";
            read(&format!("{first}\n[[rule]]\nmode = \"drop\"\n{line}\nname = \"{name}\""))
        };
        let unreachable = second("b", "port = [5, 7]").unwrap_err();
        let expected = "policy.toml:8: name: \"b\" is never reached, since \"a\" matches all of";
        assert!(unreachable.starts_with(expected), "{unreachable}");
        assert!(unreachable.ends_with("allowed: the narrower rule first"), "{unreachable}");
        let twice = second("a", "port = 101").unwrap_err();
        let expected = "policy.toml:8: name: \"a\" is the name of a rule before it, too";
        assert!(twice.starts_with(expected), "{twice}");

        let many = |count: usize| {
            let rule =
                |port| format!("[[rule]]\nname = \"{port}\"\nport = {port}\nmode = \"drop\"\n");
            read(&(1..=count).map(rule).collect::<String>())
        };
        assert!(many(256).is_ok());
        let error = PolicyError::TooMany(257);
        assert_eq!(many(257), Err(format!("policy.toml:1026: name: {error}")));
    }
}

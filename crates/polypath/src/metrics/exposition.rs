//! The text format of Prometheus, version 0.0.4.

use core::fmt::{self, Display, Formatter, Write};

use polypath_bond::identity::PublicKey;
use polypath_net::mptcp::{HeaderFault, MptcpCounts, WhyBond};
use polypath_net::proxy::RuleUse;

use super::families::{Both, FAMILIES, Family, Node, Passed, Series};
use super::ledger::{Ledger, Peer};
use crate::control::Role;

/// The media type of [`write()`].
pub(super) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The value of a label. Paths and edges are called what somebody likes.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            c => f.write_char(c),
        })
    }
}

/// Labels of a series, in the order in which they are written.
type Labels<'a> = [(&'static str, &'a str)];

/// All metrics of `node`, with what `ledger` holds now, and what has passed besides. Writing to a
/// `String` cannot fail.
pub(super) fn write(
    node: &Node,
    ledger: &Ledger,
    passed: &Passed,
    name: &impl Fn(PublicKey) -> String,
) -> String {
    let mut page = Page { text: String::new(), node, passed, name };
    for family in FAMILIES {
        page.family(family, ledger);
    }
    page.text
}

struct Page<'a, N> {
    text: String,
    node: &'a Node,
    passed: &'a Passed,
    name: &'a N,
}

impl<N: Fn(PublicKey) -> String> Page<'_, N> {
    fn family(&mut self, family: &Family, ledger: &Ledger) {
        let Family { name, kind, help, series } = family;
        let is_left_out = match series {
            Series::EdgeName => self.node.role != Role::Hub,
            Series::Gateway => self.passed.gateway.is_none(),
            Series::Mptcp(_) => self.passed.mptcp.is_none(),
            Series::OverBond => self.passed.mptcp.is_none() || self.node.role == Role::Hub,
            Series::Unanswered => self.passed.mptcp.is_none() || self.node.role != Role::Hub,
            Series::Rule(_) | Series::RuleBoth(_) => self.passed.rules.is_empty(),
            Series::Quota(_) => self.passed.quotas.is_empty(),
            _ => false,
        };
        if is_left_out {
            return;
        }
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {}\n", kind.name());
        match *series {
            Series::Build => {
                let labels = [("version", env!("CARGO_PKG_VERSION")), ("role", self.role())];
                self.sample(family, &labels, 1.0);
            }
            Series::Node(value) => self.sample(family, &[], value(self.node)),
            Series::Gateway => {
                for (fate, packets) in
                    self.passed.gateway.iter().flat_map(|counts| counts.by_fate())
                {
                    self.sample(family, &[("fate", fate)], packets as f64);
                }
            }
            Series::Mptcp(_) | Series::OverBond | Series::Unanswered => {
                self.passed.mptcp.iter().for_each(|counts| self.of_mptcp(family, counts));
            }
            Series::Rule(_) | Series::RuleBoth(_) => {
                for rule in &self.passed.rules {
                    self.of_rule(family, rule);
                }
            }
            Series::Quota(value) => {
                for quota in &self.passed.quotas {
                    self.sample(family, &[("path", &quota.path)], value(quota));
                }
            }
            Series::EdgeName | Series::Peer(_) | Series::PeerBoth(_) => {
                for (key, peer) in ledger.peers() {
                    self.of_peer(family, key, peer);
                }
            }
            Series::Path(_) | Series::PathBoth(_) => {
                for (key, peer) in ledger.peers() {
                    self.of_paths(family, key, peer);
                }
            }
        }
    }

    const fn role(&self) -> &'static str {
        match self.node.role {
            Role::Hub => "hub",
            Role::Edge | Role::Send => "edge",
            Role::Agent => "agent",
        }
    }

    fn of_mptcp(&mut self, family: &Family, counts: &MptcpCounts) {
        match family.series {
            Series::Mptcp(value) => self.sample(family, &[], value(counts)),
            Series::OverBond => {
                for why in WhyBond::ALL {
                    let labels = [("reason", why.name())];
                    self.sample(family, &labels, counts.over_bond(why) as f64);
                }
            }
            Series::Unanswered => {
                for fault in HeaderFault::ALL {
                    let labels = [("fault", fault.name())];
                    self.sample(family, &labels, counts.refused(fault) as f64);
                }
            }
            _ => {}
        }
    }

    /// What no rule matches has a label that no rule can have.
    fn of_rule(&mut self, family: &Family, rule: &RuleUse) {
        let labels = [("rule", rule.name.as_deref().unwrap_or_default())];
        match family.series {
            Series::Rule(value) => self.sample(family, &labels, value(&rule.counts)),
            Series::RuleBoth(value) => self.both(family, &labels, value(&rule.counts)),
            _ => {}
        }
    }

    fn of_peer(&mut self, family: &Family, key: PublicKey, peer: &Peer) {
        let key_text = key.to_string();
        let edge = self.edge(&key_text);
        match family.series {
            Series::EdgeName => {
                let name = (self.name)(key);
                self.sample(family, &[edge.as_slice(), &[("name", &name)]].concat(), 1.0);
            }
            Series::Peer(value) => self.sample(family, &edge, value(peer)),
            Series::PeerBoth(value) => self.both(family, &edge, value(peer)),
            Series::Build
            | Series::Node(_)
            | Series::Gateway
            | Series::Mptcp(_)
            | Series::OverBond
            | Series::Unanswered
            | Series::Rule(_)
            | Series::RuleBoth(_)
            | Series::Quota(_)
            | Series::Path(_)
            | Series::PathBoth(_) => {}
        }
    }

    fn of_paths(&mut self, family: &Family, key: PublicKey, peer: &Peer) {
        let key = key.to_string();
        for (name, path) in peer.paths() {
            let labels = [self.edge(&key).as_slice(), &[("path", name)]].concat();
            match family.series {
                Series::Path(value) => {
                    if let Some(value) = value(path) {
                        self.sample(family, &labels, value);
                    }
                }
                Series::PathBoth(value) => self.both(family, &labels, value(path)),
                _ => {}
            }
        }
    }

    /// A hub tells edges apart by their keys: two may have the same name.
    fn edge<'k>(&self, key: &'k str) -> Vec<(&'static str, &'k str)> {
        if self.node.role == Role::Hub { vec![("edge", key)] } else { Vec::new() }
    }

    fn both(&mut self, family: &Family, labels: &Labels<'_>, value: Both) {
        for (direction, value) in [("sent", value.sent), ("received", value.received)] {
            let labels = [labels, &[("direction", direction)]].concat();
            self.sample(family, &labels, value);
        }
    }

    fn sample(&mut self, family: &Family, labels: &Labels<'_>, value: f64) {
        self.text.push_str(family.name);
        for (index, (label, value)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{label}=\"{}\"", Escaped(value));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{end} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::QuotaReport;
    use crate::metrics::families::Kind;
    use core::time::Duration;
    use polypath_bond::identity::SecretKey;
    use polypath_bond::{BondCounters, BondKey, BondStatus, PathCounters, PathState, PathStatus};
    use polypath_net::gateway::GatewayCounts;
    use polypath_net::proxy::RuleCounts;
    use polypath_units::PathId;
    use std::collections::BTreeSet;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    fn key(seed: u8) -> PublicKey {
        SecretKey::from_seed([seed; 32]).public()
    }

    fn path(number: u8, name: &str, state: PathState) -> PathStatus {
        PathStatus {
            id: PathId::new(number).unwrap(),
            name: name.to_owned(),
            state,
            backup: number == 1,
            srtt: (state == PathState::Active).then_some(Duration::from_micros(20_500)),
            min_rtt: (state == PathState::Active).then_some(Duration::from_millis(20)),
            cwnd: 100_000,
            in_flight: 34_567,
            delivery_rate: 11_657_500.0,
            loss: 0.0125,
            counters: PathCounters {
                packets_sent: 1_000,
                bytes_sent: 1_234_567,
                packets_lost: 7,
                bytes_received: 89,
                bytes_new: 5,
                bytes_reinjected: 4_000,
                failures: 2,
                last_failure: None,
            },
        }
    }

    fn status(paths: Vec<PathStatus>) -> BondStatus {
        BondStatus {
            paths,
            counters: BondCounters {
                bytes_read: 10,
                bytes_delivered: 1_200_000,
                bytes_reinjected: 4_000,
                bytes_duplicate: 3,
                fragments_refused: 2,
                streams_unread: 1,
            },
            unsent: 1_500_000,
            unacked: 200_000,
            buffered: 5,
            gaps: 0,
        }
    }

    fn ledger() -> Ledger {
        let mut ledger = Ledger::default();
        let paths = vec![path(0, "wifi", PathState::Active), path(1, "lte", PathState::Failed)];
        ledger.read([(BondKey(3), key(1), status(paths))]);
        ledger
    }

    fn passed() -> Passed {
        let rule = |name: Option<&str>| RuleUse {
            name: name.map(str::to_owned),
            mode: "aggregate".into(),
            counts: RuleCounts { conversations: 3, bytes_sent: 4, ..RuleCounts::default() },
        };
        Passed {
            gateway: Some(GatewayCounts::default()),
            mptcp: Some(MptcpCounts {
                connections: 12,
                encrypted: 7,
                over_bond: [(WhyBond::Unreachable, 2)].into(),
                refused: [(HeaderFault::Forged, 5)].into(),
                ..MptcpCounts::default()
            }),
            rules: vec![rule(Some("no \"ads\"")), rule(None)],
            quotas: vec![QuotaReport {
                path: "lte".to_owned(),
                period: "month".to_owned(),
                quota_bytes: 10_000_000_000,
                used_bytes: 1_234_567,
                until: "2026-12-01T00:00:00Z".to_owned(),
                used_up: false,
            }],
        }
    }

    fn text(role: Role, ledger: &Ledger) -> String {
        let node = Node { role, started: Duration::from_millis(1_700_000_000_250) };
        write(&node, ledger, &passed(), &|_| "van 7".to_owned())
    }

    /// Names with their labels, of all samples.
    fn series(text: &str) -> Vec<&str> {
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        samples.map(|line| line.rsplit_once(' ').unwrap().0).collect()
    }

    #[test]
    fn an_edge_shows_its_paths() {
        insta::assert_snapshot!(text(Role::Edge, &ledger()));
    }

    #[test]
    fn without_a_gateway_rules_and_quotas_nothing_is_said_of_them() {
        let node = Node { role: Role::Edge, started: Duration::ZERO };
        let without = write(&node, &ledger(), &Passed::default(), &|_| String::new());
        for word in ["gateway", "mptcp", "rule", "quota"] {
            assert!(!without.contains(word), "{word} in {without}");
        }
    }

    #[test]
    fn a_hub_tells_edges_apart_by_their_keys_though_they_have_one_name() {
        let mut ledger = ledger();
        let wifi = || vec![path(0, "wifi", PathState::Active)];
        let edges = [(BondKey(3), key(1)), (BondKey(4), key(1)), (BondKey(5), key(2))];
        ledger.read(edges.map(|(bond, key)| (bond, key, status(wifi()))));
        let text = text(Role::Hub, &ledger);
        let all = series(&text);
        let different: BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "no series stands there twice:\n{text}");
        for key in [key(1), key(2)] {
            let bytes = "polypath_path_bytes_total";
            let sent = format!("{bytes}{{edge=\"{key}\",path=\"wifi\",direction=\"sent\"}}");
            assert!(different.contains(&sent.as_str()), "{sent} in\n{text}");
            let name = format!("polypath_edge_info{{edge=\"{key}\",name=\"van 7\"}} 1\n");
            assert!(text.contains(&name), "{name} in\n{text}");
        }
        assert!(text.contains(&format!("polypath_bonds{{edge=\"{}\"}} 2\n", key(1))), "{text}");
        assert!(text.contains("polypath_mptcp_refused_total{fault=\"forged\"} 5\n"), "{text}");
    }

    /// What would end a label early, and what others may send as the name of a path.
    #[test]
    fn names_cannot_break_out_of_their_labels() {
        let mut ledger = Ledger::default();
        let name = "a\"} 1\npolypath_x{b=\"\\";
        ledger.read([(BondKey(1), key(1), status(vec![path(0, name, PathState::Active)]))]);
        let text = text(Role::Edge, &ledger);
        let up = r#"polypath_path_up{path="a\"} 1\npolypath_x{b=\"\\"} 1"#;
        assert!(text.lines().any(|line| line == up), "{text}");
        assert!(!text.contains("\npolypath_x"), "{text}");
    }

    #[test]
    fn the_conventions_of_prometheus_are_kept() {
        let units = ["_seconds", "_bytes", "_ratio", "_bytes_per_second", "_info"];
        let counts = ["polypath_bonds", "polypath_path_up", "polypath_path_backup"];
        let things = ["_bytes_total", "_packets_total", "_datagrams_total", "_streams_total"];
        let other = [
            "_encrypted_total",
            "_plain_total",
            "_over_bond_total",
            "_refused_total",
            "_connections_total",
            "_failures_total",
            "_conversations_total",
            "_dropped_total",
        ];
        let mut names = BTreeSet::new();
        for Family { name, kind, help, .. } in FAMILIES {
            assert!(names.insert(name), "{name} is there twice");
            assert!(name.starts_with("polypath_"), "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
            assert!(help.ends_with('.') && !help.contains(['\n', '\\']), "{name}: {help}");
            assert_eq!(name.ends_with("_total"), *kind == Kind::Counter, "{name}");
            let of_thing = things.iter().any(|thing| name.ends_with(thing));
            let has_unit = units.iter().any(|unit| name.ends_with(unit));
            let known = of_thing || has_unit || counts.contains(name);
            assert!(
                known || other.iter().any(|other| name.ends_with(other)),
                "{name} has no base unit"
            );
        }
    }

    #[test]
    fn every_metric_has_help_and_type_before_its_samples() {
        for role in [Role::Hub, Role::Edge] {
            let text = text(role, &ledger());
            let mut family = "";
            for line in text.lines() {
                match line.strip_prefix("# HELP ") {
                    Some(help) => family = help.split(' ').next().unwrap(),
                    None if line.starts_with("# TYPE ") => {
                        assert!(line.starts_with(&format!("# TYPE {family} ")), "{line}");
                    }
                    None => {
                        let name = line.split(['{', ' ']).next().unwrap();
                        assert_eq!(name, family, "{line}");
                    }
                }
            }
        }
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
    fn promtool_finds_nothing_to_say() {
        let mut promtool = Command::new("promtool");
        promtool.args(["check", "metrics"]).stdin(Stdio::piped());
        let promtool = promtool.stdout(Stdio::piped()).stderr(Stdio::piped());
        for role in [Role::Hub, Role::Edge] {
            let Ok(mut child) = promtool.spawn() else {
                println!("skipped: promtool_finds_nothing_to_say: promtool is not installed");
                return;
            };
            let mut input = child.stdin.take().unwrap();
            input.write_all(text(role, &ledger()).as_bytes()).unwrap();
            drop(input);
            let output = child.wait_with_output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said).unwrap();
            assert!(output.status.success() && said.is_empty(), "{said}");
        }
    }

    /// The table of docs/configuration.md.
    #[test]
    fn the_documentation_has_all_metrics_as_they_are() {
        let page = include_str!("../../../../docs/configuration.md");
        let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| `polypath_")).collect();
        let expected: Vec<_> = FAMILIES.iter().map(row).collect();
        assert_eq!(rows, expected);
    }

    fn row(family: &Family) -> String {
        let labels = match family.series {
            Series::Build => "`version`, `role`",
            Series::Node(_) => "",
            Series::Gateway => "`fate`",
            Series::Mptcp(_) => "",
            Series::OverBond => "`reason`",
            Series::Unanswered => "`fault`",
            Series::Rule(_) => "`rule`",
            Series::Quota(_) => "`path`",
            Series::RuleBoth(_) => "`rule`, `direction`",
            Series::EdgeName => "`edge`, `name`",
            Series::Peer(_) => "`edge`",
            Series::PeerBoth(_) => "`edge`, `direction`",
            Series::Path(_) => "`edge`, `path`",
            Series::PathBoth(_) => "`edge`, `path`, `direction`",
        };
        let (name, kind, help) = (family.name, family.kind.name(), family.help);
        let help = help.trim_end_matches('.');
        format!("| `{name}` | {kind} | {labels} | {help} |").replace("|  |", "| |")
    }
}

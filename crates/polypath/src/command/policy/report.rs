//! What `polypath policy` prints, for people and for programs.

use core::fmt::Write;
use std::collections::BTreeMap;
use std::path::Path;

use polypath_policy::{Criterion, Finding, Judgement, Policy, Rule, SteeringMode, Treatment};
use polypath_units::{Bandwidth, millis};
use serde::Serialize;

use crate::output::columns;

/// The rules of a policy.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CheckReport {
    file: String,
    rules: Vec<RuleReport>,
}

/// A rule.
#[derive(Clone, Debug, Serialize)]
struct RuleReport {
    /// Its place, from 1.
    number: usize,
    name: String,
    #[serde(flatten)]
    treatment: TreatmentReport,
    /// What it asks for, by the keys of the file.
    descriptor: BTreeMap<&'static str, Vec<String>>,
}

/// What becomes of traffic, by the keys of the file; null for what is not given.
#[derive(Clone, Debug, Serialize)]
struct TreatmentReport {
    mode: &'static str,
    /// By name, in their order; empty where every path may be taken.
    paths: Vec<String>,
    /// One for each of `paths`.
    weights: Option<Vec<u8>>,
    copies: Option<u8>,
    rtt_above_ms: Option<f64>,
    loss_above: Option<f64>,
    copy_share: Option<f64>,
    /// Whether what is lost is sent again.
    resend: Option<bool>,
    /// Whether what arrives is put in order.
    in_order: Option<bool>,
    /// What passes at most in each direction.
    rate_mbit_s: Option<f64>,
    #[serde(skip)]
    text: String,
}

/// What a policy decides about some traffic.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TestReport {
    traffic: String,
    /// The rule that decides; null if none matches.
    rule: Option<JudgementReport>,
    #[serde(flatten)]
    treatment: TreatmentReport,
    /// The rules before it.
    earlier: Vec<JudgementReport>,
}

/// A rule that was held against the traffic.
#[derive(Clone, Debug, Serialize)]
struct JudgementReport {
    number: usize,
    name: String,
    findings: Vec<FindingReport>,
}

#[derive(Clone, Debug, Serialize)]
struct FindingReport {
    criterion: &'static str,
    wanted: Vec<String>,
    found: Option<String>,
    fits: bool,
    #[serde(skip)]
    text: String,
}

impl CheckReport {
    pub(super) fn new(file: &Path, policy: &Policy) -> Self {
        let rules = policy.rules().iter().enumerate();
        let rules = rules.map(|(at, rule)| RuleReport::new(at + 1, rule)).collect();
        Self { file: file.display().to_string(), rules }
    }

    pub(super) fn text(&self) -> String {
        let rows: Vec<_> = self.rules.iter().map(RuleReport::row).collect();
        format!("{}: rules: {}\n{}", self.file, rows.len(), columns(&rows, 4))
    }
}

impl RuleReport {
    fn new(number: usize, rule: &Rule) -> Self {
        let asked = |criterion: Criterion| {
            let wanted = rule.descriptor().wanted(criterion);
            (!wanted.is_empty()).then_some((criterion.key(), wanted))
        };
        Self {
            number,
            name: rule.name().to_owned(),
            treatment: TreatmentReport::new(rule.treatment(), rule.rate()),
            descriptor: Criterion::ALL.into_iter().filter_map(asked).collect(),
        }
    }

    fn row(&self) -> [String; 4] {
        let asked =
            self.descriptor.iter().map(|(key, wanted)| format!("{key} {}", wanted.join(", ")));
        let asked: Vec<_> = asked.collect();
        let asked = if asked.is_empty() { "all traffic".to_owned() } else { asked.join("; ") };
        [self.number.to_string(), self.name.clone(), self.treatment.text.clone(), asked]
    }
}

impl TreatmentReport {
    fn new(treatment: &Treatment, rate: Option<Bandwidth>) -> Self {
        let steering = treatment.steering().cloned().unwrap_or_default();
        let redundancy = steering.redundancy;
        Self {
            mode: treatment.name(),
            paths: steering.paths.iter().map(|path| path.name.clone()).collect(),
            weights: steering
                .paths
                .iter()
                .map(|path| path.weight)
                .collect::<Option<_>>()
                .filter(|weights: &Vec<_>| !weights.is_empty()),
            copies: redundancy.copies,
            rtt_above_ms: redundancy.rtt_above.map(millis),
            loss_above: redundancy.loss_share(),
            copy_share: steering.copy_share(),
            resend: steering.resend,
            in_order: steering.in_order,
            rate_mbit_s: rate.map(Bandwidth::mbit_per_sec),
            text: match rate {
                Some(rate) => format!("{treatment} at up to {rate}"),
                None => treatment.to_string(),
            },
        }
    }
}

impl TestReport {
    pub(super) fn new(traffic: &str, judgements: &[Judgement<'_>]) -> Self {
        let (matching, earlier): (Vec<_>, Vec<_>) =
            judgements.iter().partition(|judgement| judgement.matches());
        let decides = matching.first();
        let aggregate = SteeringMode::Aggregate.into();
        let treatment = decides.map_or(&aggregate, |judgement| judgement.rule.treatment());
        let rate = decides.and_then(|judgement| judgement.rule.rate());
        Self {
            traffic: traffic.to_owned(),
            treatment: TreatmentReport::new(treatment, rate),
            rule: decides.map(|judgement| JudgementReport::new(judgement)),
            earlier: earlier.into_iter().map(JudgementReport::new).collect(),
        }
    }

    /// Writing to a `String` cannot fail.
    pub(super) fn text(&self) -> String {
        let mut text = match &self.rule {
            Some(JudgementReport { number, name, .. }) => {
                format!("{} by rule {number}, {name:?}:\n", self.treatment.text)
            }
            None => format!("{}: no rule matches\n", self.treatment.text),
        };
        for finding in self.rule.iter().flat_map(|rule| &rule.findings) {
            let _ = writeln!(text, "  {}", finding.text);
        }
        for JudgementReport { number, name, findings } in &self.earlier {
            let _ = writeln!(text, "not by rule {number}, {name:?}:");
            for finding in findings.iter().filter(|finding| !finding.fits) {
                let _ = writeln!(text, "  {}", finding.text);
            }
        }
        text
    }
}

impl JudgementReport {
    fn new(judgement: &Judgement<'_>) -> Self {
        Self {
            number: judgement.number,
            name: judgement.rule.name().to_owned(),
            findings: judgement.findings.iter().map(FindingReport::new).collect(),
        }
    }
}

impl FindingReport {
    fn new(finding: &Finding) -> Self {
        let text = finding.to_string();
        let Finding { criterion, wanted, found, fits } = finding.clone();
        Self { criterion: criterion.key(), wanted, found, fits, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_policy::Traffic;

    fn test(traffic: &str) -> TestReport {
        let policy = Policy::standard();
        TestReport::new(traffic, &policy.explain(&Traffic::parse(traffic).unwrap()))
    }

    #[test]
    fn the_rules_of_a_policy_are_listed() {
        let report = CheckReport::new(Path::new("policy.toml"), &Policy::standard());
        let expected = "\
policy.toml: rules: 3
1  expedited      redundant                                          dscp ef; protocol udp
2  dns            smallest_delay with copies up to 0.05 of the rate  port 53; protocol udp
3  small packets  smallest_delay with copies up to 0.05 of the rate  packet_size at most 300; protocol udp
";
        assert_eq!(report.text(), expected);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["rules"][1]["descriptor"]["port"][0], "53");
        let all = "[[rule]]\nname = \"all\"\nmode = \"drop\"\n";
        let all = Policy::parse(Path::new("p"), all).unwrap();
        let text = CheckReport::new(Path::new("p"), &all).text();
        assert_eq!(text, "p: rules: 1\n1  all  drop  all traffic\n");
    }

    #[test]
    fn the_paths_and_thresholds_of_rules_are_listed_and_explained() {
        let file = r#"
            [[rule]]
            name = "bulk"
            protocol = "udp"
            port = 5000
            mode = "load_balancing"
            paths = ["wifi", "lte"]
            weights = [80, 20]
            rate = "2 Mbit/s"
            resend = false
            in_order = false
            [[rule]]
            name = "calls"
            protocol = "udp"
            mode = "redundant"
            copies = 2
            rtt_above = "80ms"
            loss_above = 0.01
        "#;
        let policy = Policy::parse(Path::new("p"), file).unwrap();
        let report = CheckReport::new(Path::new("p"), &policy);
        let expected = "\
p: rules: 2
1  bulk   load_balancing over wifi (80), lte (20), lost ones not again, in any order at up to 2 Mbit/s  port 5000; protocol udp
2  calls  redundant with 2 copies while RTT is above 80ms or loss above 0.01                            protocol udp
";
        assert_eq!(report.text(), expected);
        let json = serde_json::to_value(&report).unwrap();
        let bulk = &json["rules"][0];
        assert_eq!((&bulk["mode"], &bulk["copies"]), (&"load_balancing".into(), &().into()));
        assert_eq!((&bulk["paths"][1], &bulk["weights"][1]), (&"lte".into(), &20.into()));
        assert_eq!((&bulk["rate_mbit_s"], &bulk["resend"]), (&2.0.into(), &false.into()));
        assert_eq!((&bulk["in_order"], &json["rules"][1]["in_order"]), (&false.into(), &().into()));
        let calls = &json["rules"][1];
        assert_eq!((&calls["copies"], &calls["rtt_above_ms"]), (&2.into(), &80.0.into()));
        assert_eq!((&calls["loss_above"], &calls["weights"]), (&0.01.into(), &().into()));
        assert_eq!(calls["paths"], serde_json::json!([]));

        let traffic = "udp 192.0.2.1:5000";
        let judgements = policy.explain(&Traffic::parse(traffic).unwrap());
        let text = TestReport::new(traffic, &judgements).text();
        let first = "load_balancing over wifi (80), lte (20), lost ones not again, in any order at \
                     up to 2 Mbit/s by rule 1, \"bulk\":\n";
        assert!(text.starts_with(first), "{text}");
    }

    #[test]
    fn a_decision_is_explained() {
        let report = test("udp 192.0.2.1:53 dscp 0 size 160");
        let expected = "\
smallest_delay with copies up to 0.05 of the rate by rule 2, \"dns\":
  protocol udp fits udp
  port 53 fits 53
not by rule 1, \"expedited\":
  dscp cs0 does not fit ef
";
        assert_eq!(report.text(), expected);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!((&json["mode"], &json["rule"]["number"]), (&"smallest_delay".into(), &2.into()));
        assert_eq!(json["earlier"][0]["findings"][1]["found"], "cs0");

        let none = test("tcp www.example.org:443");
        let (first, rest) =
            none.text().split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        assert_eq!(first, "aggregate: no rule matches");
        assert_eq!(rest.matches("protocol tcp does not fit udp").count(), 3);
        assert!(serde_json::to_value(&none).unwrap()["rule"].is_null());
    }

    #[test]
    fn the_page_shows_a_policy_and_what_is_printed_of_it() {
        let page = include_str!("../../../../../docs/policy.md");
        let (_, file) = page.split_once("```toml\n").unwrap();
        let file = file.split("```").next().unwrap();
        let policy = Policy::parse(Path::new("policy.toml"), file).unwrap();
        let (_, shown) = page.split_once("$ polypath policy test policy.toml \"").unwrap();
        let (traffic, shown) = shown.split_once("\"\n").unwrap();
        let judgements = policy.explain(&Traffic::parse(traffic).unwrap());
        let printed = TestReport::new(traffic, &judgements).text();
        assert_eq!(shown.split("```").next(), Some(&printed[..]));
    }
}

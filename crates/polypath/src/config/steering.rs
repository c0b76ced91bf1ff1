//! How the traffic of clients is steered, as the user says it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use polypath_bond::FlowMode;
use polypath_net::proxy::SteeringRules;
use polypath_policy::{Criterion, Policy, PolicyError, UdpRule};

use super::{Fault, UsageError};
use crate::gateway::TcpHandling;

/// What `policy`, `udp_rule` and `udp_mode` say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SteeringOptions {
    /// The file of the policy.
    file: Option<PathBuf>,
    /// The rules of `udp_rule`, in front of the others.
    front: Policy,
    /// For datagrams that no rule matches.
    udp_mode: Option<FlowMode>,
    /// The names of the edge's paths; `None` where they come and go.
    paths: Option<Vec<String>>,
    /// What becomes of connections of TCP.
    tcp: TcpHandling,
}

impl SteeringOptions {
    /// The options as they were given.
    ///
    /// # Errors
    /// When a rule is never reached, there are too many, or one asks for what this system does not
    /// tell.
    pub(crate) fn new(
        file: Option<PathBuf>,
        rules: &[UdpRule],
        udp_mode: Option<FlowMode>,
    ) -> Result<Self, Fault> {
        let fault = |problem: String| Fault::new("udp_rule", problem);
        let front = Policy::new(rules.iter().map(|rule| rule.rule().clone()).collect());
        let front = front.map_err(|error| fault(error.to_string()))?;
        refuse_untold(&front).map_err(fault)?;
        Ok(Self { file, front, udp_mode, paths: None, tcp: TcpHandling::default() })
    }

    /// The same for an edge that has the paths of these names and no others.
    #[must_use]
    pub(crate) fn among(self, paths: Vec<String>) -> Self {
        Self { paths: Some(paths), ..self }
    }

    /// The same for an edge where this becomes of connections of TCP.
    #[must_use]
    pub(crate) fn with_tcp(self, tcp: TcpHandling) -> Self {
        Self { tcp, ..self }
    }

    /// The file of the policy, which may change.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The rules as they are now. Without a file they are the standard ones, or where a mode is
    /// given for all other datagrams, none.
    ///
    /// # Errors
    /// When the file cannot be read, is no policy, names a path that the edge does not have, or has
    /// a rule for streams alone that leaves their order open.
    pub(crate) fn read(&self) -> anyhow::Result<SteeringRules> {
        let behind = match (&self.file, self.udp_mode) {
            (Some(file), _) => {
                let policy = read_policy(file)?;
                let fits = self.refuse_unknown_paths(&policy);
                let fits = fits.and_then(|()| self.refuse_streams_out_of_order(&policy));
                fits.map_err(|problem| UsageError::in_file(file, None, None, problem))?;
                policy
            }
            (None, Some(_)) => Policy::default(),
            (None, None) => Policy::standard(),
        };
        let policy = behind.behind(&self.front).map_err(|error: PolicyError| {
            UsageError::new(format!("the policy with the rules of --udp-rule: {error}"))
        })?;
        Ok(SteeringRules::new(policy, self.udp_mode.unwrap_or_default()))
    }

    fn refuse_unknown_paths(&self, policy: &Policy) -> Result<(), String> {
        let Some(known) = &self.paths else { return Ok(()) };
        let is_unknown = |name: &&str| !known.iter().any(|known| known == name);
        for rule in policy.rules() {
            let steering = rule.treatment().steering();
            let mut names = steering.into_iter().flat_map(|steering| &steering.paths);
            let names = names.by_ref().map(|path| path.name.as_str());
            if let Some(name) = { names }.find(is_unknown) {
                let (rule, known) = (rule.name(), known.join(", "));
                return Err(format!(
                    "the rule {rule:?} names the path {name:?}, which this edge does not have; \
                     allowed: {known}"
                ));
            }
        }
        Ok(())
    }

    fn refuse_streams_out_of_order(&self, policy: &Policy) -> Result<(), String> {
        match self.tcp {
            TcpHandling::Split => policy.check_for_streams().map_err(|error| error.to_string()),
            TcpHandling::Tunnel => Ok(()),
        }
    }
}

/// Reads the policy in `file`.
///
/// # Errors
/// When the file cannot be read, or is no policy.
pub(crate) fn read_policy(file: &Path) -> anyhow::Result<Policy> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the policy {}", file.display()))?;
    let policy = Policy::parse(file, &text)?;
    refuse_untold(&policy).map_err(|problem| UsageError::in_file(file, None, None, problem))?;
    Ok(policy)
}

/// The standard policy may ask for what is not told: then its rule matches nothing.
fn refuse_untold(policy: &Policy) -> Result<(), String> {
    if cfg!(not(target_os = "linux")) && policy.asks_for(Criterion::Dscp) {
        let problem = "this system does not tell the DSCP of datagrams; allowed: rules without it";
        return Err(problem.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "[[rule]]\nname = \"a\"\nmode = \"drop\"\n";

    fn rules(texts: &[&str]) -> Vec<UdpRule> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// The names of the rules, and the mode of what none matches.
    fn read(options: &SteeringOptions) -> Vec<String> {
        let uses = polypath_net::proxy::Steering::new(options.read().unwrap()).uses();
        uses.into_iter().map(|rule| rule.name.unwrap_or(rule.mode)).collect()
    }

    #[test]
    fn rules_for_datagrams_come_before_the_file_and_before_the_standard_rules() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), RULES).unwrap();
        let file = Some(file.path().to_owned());
        let udp = rules(&["port 53: redundant"]);
        for (file, rules, mode, expected) in [
            (None, &[][..], None, &["expedited", "dns", "small packets", "aggregate"][..]),
            (None, &[], Some(FlowMode::Best), &["best"]),
            (None, &udp, Some(FlowMode::Best), &["port 53: redundant", "best"]),
            (file.clone(), &[], None, &["a", "aggregate"]),
            (file.clone(), &udp, Some(FlowMode::Best), &["port 53: redundant", "a", "best"]),
        ] {
            let options = SteeringOptions::new(file, rules, mode).unwrap();
            assert_eq!(read(&options), expected);
        }
    }

    #[test]
    fn a_rule_that_is_never_reached_or_one_too_many_is_refused() {
        let twice = rules(&["port 53: redundant", "port 53: best"]);
        let fault = SteeringOptions::new(None, &twice, None).unwrap_err();
        assert_eq!(fault.key, "udp_rule");
        assert!(fault.message.contains("is never reached"), "{}", fault.message);
        let many: Vec<_> =
            (1..=256).map(|port| format!("port {port}: best").parse().unwrap()).collect();
        let options = SteeringOptions::new(None, &many, None).unwrap();
        let error = options.read().unwrap_err();
        assert!(error.is::<UsageError>());
        assert!(error.to_string().ends_with("259 rules; allowed: up to 256"), "{error}");
    }

    #[test]
    fn a_rule_for_a_path_that_the_edge_does_not_have_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rules = "[[rule]]\nname = \"a\"\nprotocol = \"udp\"\nmode = \"redundant\"\n\
                     paths = [\"lte\", \"wifi\"]\n";
        std::fs::write(file.path(), rules).unwrap();
        let options = SteeringOptions::new(Some(file.path().to_owned()), &[], None).unwrap();
        options.read().unwrap();
        let listed = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            options.clone().among(names).read()
        };
        listed(&["wifi", "lte", "dsl"]).unwrap();
        let error = listed(&["lte", "dsl"]).unwrap_err().to_string();
        let expected = ": the rule \"a\" names the path \"wifi\", which this edge does not have; \
                        allowed: lte, dsl";
        assert!(error.ends_with(expected), "{error}");
    }

    #[test]
    fn a_rule_for_streams_out_of_order_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let options = SteeringOptions::new(Some(file.path().to_owned()), &[], None).unwrap();
        let read = |protocol: &str, tcp| {
            let rule = "[[rule]]\nname = \"a\"\nmode = \"aggregate\"\nin_order = false\n";
            std::fs::write(file.path(), format!("{rule}protocol = {protocol}\n")).unwrap();
            options.clone().with_tcp(tcp).read()
        };
        read("\"tcp\"", TcpHandling::Tunnel).unwrap();
        read("[\"tcp\", \"udp\"]", TcpHandling::Split).unwrap();
        let error = read("\"tcp\"", TcpHandling::Split).unwrap_err().to_string();
        assert!(error.contains(": the rule \"a\" with `in_order = false` is for TCP"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_policy_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "[[rule]]\n").unwrap();
        let options = SteeringOptions::new(Some(file.path().to_owned()), &[], None).unwrap();
        let error = options.read().unwrap_err().to_string();
        assert!(error.ends_with(":1: [[rule]] needs `name`"), "{error}");
        let missing = SteeringOptions::new(Some("/nowhere".into()), &[], None).unwrap();
        let error = missing.read().unwrap_err().to_string();
        assert_eq!(error, "cannot read the policy /nowhere");
    }
}

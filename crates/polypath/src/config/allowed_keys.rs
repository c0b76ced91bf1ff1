//! The file of the keys that may join a hub.

use std::path::Path;

use anyhow::Context;
use ipnet::IpNet;
use polypath_bond::identity::PublicKey;
use polypath_net::exit::{ClientLimits, TargetPolicy, TargetRule};
use polypath_net::hub::{Edge, Edges};
use polypath_net::tunnel::Networks;

use super::UsageError;

/// The edges that may join, one for each line: the public key, then what it may have, if that is
/// not a fair share, then what the operator calls it.
///
/// ```text
/// # a whole line that begins with # is a comment
/// ppp1... laptop of the field team
/// ppp1... connections=200 associations=20 target=*:443 target=10.0.0.0/8:* van 7
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedKeys(Edges);

impl AllowedKeys {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, and for every reason of [`AllowedKeys::parse`].
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the allowed keys in {}", path.display()))?;
        Ok(Self::parse(&text, path)?)
    }

    /// Reads `text`, the content of `file`.
    ///
    /// # Errors
    /// At the first line that does not begin with a public key, or says something that is not
    /// allowed, or not beside the lines above it.
    pub fn parse(text: &str, file: &Path) -> Result<Self, UsageError> {
        let mut keys = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fail = |message| UsageError::in_file(file, Some(index + 1), None, message);
            let (key, edge) = parse_line(line).map_err(fail)?;
            keys.0.insert(key, edge).map_err(|error| fail(error.to_string()))?;
        }
        Ok(keys)
    }

    /// Refuses networks behind edges that overlap those of a gateway, in which edges have their
    /// addresses.
    ///
    /// # Errors
    /// Names the first.
    pub fn keep_apart_from(&self, gateway: &[IpNet]) -> Result<(), String> {
        let known = self.0.networks();
        let mut pairs = known.flat_map(|(_, net)| gateway.iter().map(move |own| (net, own)));
        match pairs.find(|(net, own)| net.contains(*own) || own.contains(net)) {
            Some((net, own)) => Err(format!(
                "the network {net} behind an edge overlaps {own}, in which edges have their addresses"
            )),
            None => Ok(()),
        }
    }

    /// What is said of the edge of `key`, if it may join.
    pub fn find(&self, key: PublicKey) -> Option<&Edge> {
        self.0.get(key)
    }

    /// The keys that may join.
    pub fn keys(&self) -> impl Iterator<Item = PublicKey> {
        self.0.keys()
    }

    /// What the edges are called, and may have.
    pub fn into_edges(self) -> Edges {
        self.0
    }

    /// Whether nobody may join.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn parse_line(line: &str) -> Result<(PublicKey, Edge), String> {
    let (key, mut rest) = split_word(line);
    let key = key.parse().map_err(|error| format!("{error}"))?;
    let mut limits = ClientLimits::default();
    let (mut targets, mut networks) = (Vec::new(), Vec::new());
    while let (word, behind) = split_word(rest)
        && let Some((limit, value)) = word.split_once('=').filter(|_| !word.starts_with('#'))
    {
        match limit {
            "connections" => limits.connections = count(limit, value)?,
            "associations" => limits.associations = count(limit, value)?,
            "target" => targets.push(target(value)?),
            "network" => networks.push(network(value)?),
            _ => return Err(unknown(limit)),
        }
        rest = behind;
    }
    limits.policy = (!targets.is_empty()).then(|| TargetPolicy::new(targets));
    let name = rest.trim_start_matches('#').trim_start().to_owned();
    let networks = Networks::new(networks).map_err(|error| error.to_string())?;
    Ok((key, Edge { name, limits, networks }))
}

fn target(value: &str) -> Result<TargetRule, String> {
    value.parse().map_err(|error| format!("{error}"))
}

fn network(value: &str) -> Result<IpNet, String> {
    let net: IpNet = value.parse().map_err(|_| {
        format!("network: {value:?} is none; allowed: an address and the bits of its prefix, such as 192.168.5.0/24")
    })?;
    match net.trunc() {
        whole if whole == net => Ok(net),
        whole => Err(format!("network: {net} is an address in {whole}; allowed: {whole}")),
    }
}

fn unknown(limit: &str) -> String {
    format!("unknown limit `{limit}`; allowed: connections, associations, target, network")
}

/// The first word, and what is behind it.
fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

fn count(name: &str, value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("{name}: {value:?} is no number; allowed: 0 or more"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::identity::SecretKey;

    fn key(byte: u8) -> PublicKey {
        SecretKey::from_seed([byte; 32]).public()
    }

    fn parse(text: &str) -> Result<AllowedKeys, String> {
        AllowedKeys::parse(text, Path::new("allow")).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_are_found_with_their_names() {
        let text = format!("# edges\n\n{}  # laptop one\n {} \n{}\tvan\n", key(1), key(2), key(3));
        let keys = parse(&text).unwrap();
        assert_eq!(keys.find(key(1)).unwrap().name, "laptop one");
        assert_eq!(keys.find(key(2)), Some(&Edge::default()));
        assert_eq!(keys.find(key(3)).unwrap().name, "van");
        assert_eq!(keys.find(key(4)), None);
        assert!(parse("# nobody\n").unwrap().is_empty());
    }

    #[test]
    fn limits_and_targets_stand_between_key_and_name() {
        let text =
            format!("{} connections=20 target=*:443 associations=0  # van 7 = spare", key(1));
        let edge = parse(&text).unwrap().find(key(1)).unwrap().clone();
        assert_eq!(edge.name, "van 7 = spare");
        let policy = Some(TargetPolicy::new(vec!["*:443".parse().unwrap()]));
        assert_eq!(edge.limits, ClientLimits { connections: 20, associations: 0, policy });
        for (limit, expected) in [
            (
                "streams=3",
                "allow:1: unknown limit `streams`; allowed: connections, associations, target, network",
            ),
            ("connections=x", "allow:1: connections: \"x\" is no number; allowed: 0 or more"),
            ("target=*", "allow:1: target rule \"*\": no ports; write HOST:PORTS"),
        ] {
            let error = parse(&format!("{} {limit} van", key(1))).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn networks_are_behind_one_edge_each() {
        let text = |second: &str| {
            format!("{} network=192.168.5.0/24 network=fd05::/64 van\n{} {second}", key(1), key(2))
        };
        let keys = parse(&text("network=192.168.6.0/24")).unwrap();
        let nets = ["192.168.5.0/24", "fd05::/64"].map(|net| net.parse().unwrap());
        assert_eq!(keys.find(key(1)).unwrap().networks.as_slice(), nets);
        assert_eq!(keys.keep_apart_from(&["10.77.0.0/16".parse().unwrap()]), Ok(()));
        let error = keys.keep_apart_from(&["192.168.6.0/30".parse().unwrap()]).unwrap_err();
        assert!(error.contains("192.168.6.0/24"), "{error}");
        for (second, expected) in [
            (
                "network=192.168.0.0/16",
                "allow:2: the network 192.168.0.0/16 overlaps 192.168.5.0/24",
            ),
            ("network=192.168.6.1/24", "allow:2: network: 192.168.6.1/24 is an address in"),
            ("network=all", "allow:2: network: \"all\" is none; allowed"),
        ] {
            let error = parse(&text(second)).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let many: String = (0..65).map(|n| format!("network=10.{n}.0.0/16 ")).collect();
        let error = parse(&format!("{} {many}", key(1))).unwrap_err();
        assert!(error.contains("65 networks behind an edge; allowed are up to 64"), "{error}");
    }

    #[test]
    fn errors_name_the_line_and_what_is_allowed() {
        let error = parse(&format!("{}\nlaptop\n", key(1))).unwrap_err();
        assert!(error.starts_with("allow:2: ") && error.contains("ppp1..."), "{error}");
        let error = parse(&format!("{0}\n{0}\n", key(1))).unwrap_err();
        assert!(error.starts_with("allow:2: the key ppp1") && error.contains("twice"), "{error}");
        let secret = SecretKey::from_seed([1; 32]).to_text();
        let error = parse(&secret).unwrap_err();
        assert!(error.contains("secret key") && !error.contains(&secret[..12]), "{error}");
    }
}

//! Names of namespaces and interfaces.

use super::Prefix;
use std::collections::BTreeSet;

/// The most characters of an interface's name: IFNAMSIZ less the zero at its end.
const LONGEST_INTERFACE: usize = 15;
/// The most characters that a namespace's name takes from its node's. A name in `/run/netns` may
/// have 255.
const LONGEST_NODE: usize = 100;
/// Names that Linux uses itself, among interfaces or in `/proc/sys/net/ipv4/conf`.
const RESERVED: [&str; 6] = ["lo", "all", "default", ".", "..", "bonding_masters"];

/// The namespace in which the other ends of all interfaces are.
pub(super) fn wire_namespace(prefix: &Prefix) -> String {
    format!("{prefix}-wire")
}

/// The namespaces of nodes, in order: the prefix, `-` and the node's name. In this, what is not an
/// ASCII letter, a digit, `_`, `.` or `-` becomes `_`, and what is beyond 100 characters is left
/// out; to a name that another node has then, or the wire, `-2`, `-3` and so on are added.
pub(super) fn namespaces(prefix: &Prefix, nodes: &[String]) -> Vec<String> {
    let mut taken = BTreeSet::from([wire_namespace(prefix)]);
    let plain = |c: char| if is_plain(c) { c } else { '_' };
    let wanted = |node: &String| -> String { node.chars().take(LONGEST_NODE).map(plain).collect() };
    nodes.iter().map(|node| unique(format!("{prefix}-{}", wanted(node)), &mut taken)).collect()
}

/// The interfaces of links, in order: as the link where that is a name for an interface, or
/// `link1`, `link2` and so on, by the link's place.
pub(super) fn interfaces<'a>(links: impl Iterator<Item = &'a str>) -> Vec<String> {
    let links: Vec<&str> = links.collect();
    let mut taken = BTreeSet::new();
    let fits = |name: &str| is_interface(name).then(|| name.to_owned());
    let kept: Vec<_> =
        links.iter().map(|&name| fits(name).filter(|name| taken.insert(name.clone()))).collect();
    let numbered = kept.into_iter().zip(1..);
    numbered
        .map(|(name, n)| name.unwrap_or_else(|| unique(format!("link{n}"), &mut taken)))
        .collect()
}

/// Whether Linux takes this as the name of an interface, and `ip` as nothing else.
fn is_interface(name: &str) -> bool {
    (1..=LONGEST_INTERFACE).contains(&name.len())
        && name.chars().all(is_plain)
        && !name.starts_with('-')
        && !RESERVED.contains(&name)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The name, with a number added if it is taken.
fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2u32..).map(|n| format!("{name}-{n}"));
    let free = [name.clone()].into_iter().chain(numbered).find(|name| !taken.contains(name));
    let free = free.unwrap_or(name);
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_unique_file_names() {
        let prefix = "p".parse().unwrap();
        let nodes = ["client", "a/b", "a b", "wire", "ö", ".."].map(str::to_owned);
        let names = ["p-client", "p-a_b", "p-a_b-2", "p-wire-2", "p-_", "p-.."];
        assert_eq!(namespaces(&prefix, &nodes), names);
        let long = ["x".repeat(300), "x".repeat(301)];
        let names = namespaces(&prefix, &long);
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() < 255));
    }

    #[test]
    fn interfaces_have_the_names_of_their_links_where_linux_takes_them() {
        let links = ["lte", "link3", "a name with spaces", "sixteen_letters_", "lo", "lte", "-x"];
        let names = ["lte", "link3", "link3-2", "link4", "link5", "link6", "link7"];
        assert_eq!(interfaces(links.into_iter()), names);
        assert_eq!(interfaces(["fifteen_letters"].into_iter()), ["fifteen_letters"]);
    }
}

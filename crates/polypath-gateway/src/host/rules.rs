//! Rules of policy routing.

use polypath_host::netlink::{self, Netlink, told};
use rtnetlink::packet_route::route::{RouteHeader, RouteProtocol};
use rtnetlink::packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};

use super::HostError;
use super::family::{self, address_family, family};
use crate::plan::{Action, PROTOCOL, Rule};

/// Makes our rules these, in the families that the kernel has. What is there already stays. Returns
/// how many have been removed.
///
/// Before a rule sends something to the device, those are there by which the bond passes by.
pub(super) async fn set(netlink: &Netlink, wanted: &[Rule]) -> Result<usize, HostError> {
    let there = list(netlink).await?;
    let mut missing = missing(&there, wanted);
    missing.sort_by_key(|rule| order(rule));
    for rule in missing {
        let failed = |error| HostError::Netlink { what: rule.to_string(), error: told(error) };
        let mut request = netlink.handle.rule().add();
        *request.message_mut() = message(rule);
        request.execute().await.map_err(failed)?;
    }
    let is_extra =
        |message: &RuleMessage| parse(message).is_none_or(|rule| !wanted.contains(&rule));
    let mut extra: Vec<_> = there.into_iter().filter(is_extra).collect();
    extra.sort_by_key(|message| std::cmp::Reverse(parse(message).map(|rule| order(&rule))));
    let count = extra.len();
    for message in extra {
        let what = || parse(&message).map_or_else(|| format!("{message:?}"), |r| r.to_string());
        let what = format!("removing `{}`", what());
        let removed = netlink.handle.rule().del(message).execute().await;
        removed.map_err(|error| HostError::Netlink { what, error: told(error) })?;
    }
    Ok(count)
}

/// Whether these rules are there.
pub(super) async fn are_set(netlink: &Netlink, wanted: &[Rule]) -> Result<bool, HostError> {
    Ok(missing(&list(netlink).await?, wanted).is_empty())
}

fn missing<'a>(there: &[RuleMessage], wanted: &'a [Rule]) -> Vec<&'a Rule> {
    let known: Vec<_> = there.iter().filter_map(parse).collect();
    let families = family::available();
    let is_missing = |rule: &&Rule| families.contains(&rule.family) && !known.contains(rule);
    wanted.iter().filter(is_missing).collect()
}

/// Aims of others come first, then what comes first for a packet.
fn order(rule: &Rule) -> (bool, u32) {
    (rule.action != Action::Nothing, rule.priority)
}

/// All rules that are known as ours.
async fn list(netlink: &Netlink) -> Result<Vec<RuleMessage>, HostError> {
    let failed = |error| HostError::Netlink { what: "listing rules".into(), error: told(error) };
    let rules = netlink::rules(&netlink.handle).await.map_err(failed)?;
    Ok(rules.into_iter().filter(is_ours).collect())
}

fn is_ours(message: &RuleMessage) -> bool {
    message.attributes.contains(&RuleAttribute::Protocol(RouteProtocol::Other(PROTOCOL)))
}

fn message(rule: &Rule) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = address_family(rule.family);
    let mut attributes = vec![
        RuleAttribute::Priority(rule.priority),
        RuleAttribute::Protocol(RouteProtocol::Other(PROTOCOL)),
    ];
    attributes.extend(rule.interface.iter().map(|name| RuleAttribute::Iifname(name.to_string())));
    if let Some((value, mask)) = rule.mark {
        attributes.extend([RuleAttribute::FwMark(value), RuleAttribute::FwMask(mask)]);
    }
    let main = u32::from(RouteHeader::RT_TABLE_MAIN);
    message.header.action = match rule.action {
        Action::Goto(priority) => {
            attributes.push(RuleAttribute::Goto(priority));
            RuleAction::Goto
        }
        Action::Lookup(table) => {
            attributes.push(RuleAttribute::Table(table));
            RuleAction::ToTable
        }
        Action::LookupMainButDefault => {
            attributes.extend([RuleAttribute::Table(main), RuleAttribute::SuppressPrefixLen(0)]);
            RuleAction::ToTable
        }
        Action::Nothing => RuleAction::Nop,
    };
    message.attributes = attributes;
    message
}

/// A rule as plans have them, if it is one of these.
fn parse(message: &RuleMessage) -> Option<Rule> {
    let family = family(message.header.family)?;
    let mut rule =
        Rule { family, priority: 0, interface: None, mark: None, action: Action::Nothing };
    let (mut table, mut aim, mut suppressed) = (u32::from(message.header.table), None, None);
    for attribute in &message.attributes {
        match attribute {
            RuleAttribute::Priority(priority) => rule.priority = *priority,
            RuleAttribute::Iifname(name) => rule.interface = Some(name.parse().ok()?),
            RuleAttribute::FwMark(value) => rule.mark.get_or_insert((0, u32::MAX)).0 = *value,
            RuleAttribute::FwMask(mask) => rule.mark.get_or_insert((0, u32::MAX)).1 = *mask,
            RuleAttribute::Table(of) => table = *of,
            RuleAttribute::Goto(priority) => aim = Some(*priority),
            RuleAttribute::SuppressPrefixLen(length) => suppressed = Some(*length),
            _ => {}
        }
    }
    // The kernel tells of one that does not suppress anything with -1.
    rule.action = match (message.header.action, suppressed.filter(|length| *length != u32::MAX)) {
        (RuleAction::Goto, None) => Action::Goto(aim?),
        (RuleAction::Nop, None) => Action::Nothing,
        (RuleAction::ToTable, None) => Action::Lookup(table),
        (RuleAction::ToTable, Some(0)) if table == u32::from(RouteHeader::RT_TABLE_MAIN) => {
            Action::LookupMainButDefault
        }
        _ => return None,
    };
    Some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Family;

    #[test]
    fn rules_are_the_same_after_the_way_to_the_kernel_and_back() {
        let rule =
            |family, action| Rule { family, priority: 7, interface: None, mark: None, action };
        let rules = [
            rule(Family::V4, Action::Goto(9)),
            Rule { mark: Some((0x10, 0x70)), ..rule(Family::V6, Action::Lookup(7700)) },
            Rule {
                interface: "eth0".parse().ok(),
                ..rule(Family::V4, Action::LookupMainButDefault)
            },
            rule(Family::V6, Action::Nothing),
        ];
        for rule in rules {
            assert!(is_ours(&message(&rule)));
            assert_eq!(parse(&message(&rule)), Some(rule));
        }
    }
}

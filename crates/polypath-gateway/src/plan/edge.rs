//! What is to be set on an edge.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::num::NonZeroU16;

use ipnet::IpNet;

use super::family::host;
use super::marks::Mark;
use super::nft::{
    Chain, DESTINATIONS, FILTER, Hook, MANGLE, SOURCES, Table, clamp, interfaces, networks,
};
use super::routing::{DEVICE_TABLE, FIRST_PRIORITY, INTERCEPT_TABLE};
use super::{
    Action, DualStack, Family, Ipv6Forwarding, Marks, Parameter, Parameters, Route, RouteKind,
    Routing, Rule,
};
use crate::{InterfaceName, Mtu};

pub(super) const TABLE: &str = "polypath_edge";

/// After destinations are translated, so that it is the translated one that counts.
const INTERCEPTION: i32 = DESTINATIONS + 10;

/// What is to be set on an edge. See the [module](super) for how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgePlan {
    /// The TUN device. It must be there and up if there are addresses.
    pub device: InterfaceName,
    /// The edge's addresses in the hub's prefixes, which the device has. None as long as the hub
    /// has given none: both families are unreachable then.
    pub addresses: DualStack,
    /// The largest packet of the device.
    pub mtu: Mtu,
    /// Interfaces whose hosts the edge forwards for.
    pub lan: BTreeSet<InterfaceName>,
    /// Networks behind the edge that the hub routes to it. What other hosts of LANs send has the
    /// edge's address.
    pub routed: Vec<IpNet>,
    /// Destinations that the gateway leaves alone.
    pub excluded: Vec<IpNet>,
    /// Addresses of the hub, which it leaves alone too.
    pub hub: Vec<IpAddr>,
    /// The port of the transparent listener, on all addresses, where TCP connections are split;
    /// otherwise they pass the device as packets.
    pub listener: Option<NonZeroU16>,
    /// Where queries for names go, from LANs and from the host: to port 53 of these addresses,
    /// which are behind the hub. Queries in a family without one are dropped, and those to the
    /// host's own addresses left alone. `None` if all of them go where they are sent.
    pub resolvers: Option<DualStack>,
    /// Whether nothing but the bond leaves by other interfaces than device and LANs.
    pub kill_switch: bool,
    /// The bits of packet marks that are used.
    pub marks: Marks,
}

// Priorities of the rules. What passes by goes on with the last.
const PASS_BY: u32 = FIRST_PRIORITY;
const INTERCEPT: u32 = FIRST_PRIORITY + 1;
const SPECIFIC: u32 = FIRST_PRIORITY + 2;
const TO_DEVICE: u32 = FIRST_PRIORITY + 3;
const AFTERWARDS: u32 = FIRST_PRIORITY + 4;

impl EdgePlan {
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(TABLE);
        table.add(self.arriving());
        self.names().into_iter().for_each(|chain| table.add(chain));
        self.intercepted().into_iter().for_each(|chain| table.add(chain));
        table.add(self.own());
        table.add(clamp(&self.device, self.mtu));
        table.add(self.sources());
        self.dropping().into_iter().for_each(|chain| table.add(chain));
        table
    }

    /// Marks what arrives at uplinks.
    fn arriving(&self) -> Chain {
        let hook = Hook { kind: "filter", hook: "prerouting", priority: MANGLE };
        let (mut chain, uplink) = (Chain::at("arriving", hook), self.marks.uplink());
        self.answers().into_iter().for_each(|rule| chain.rule(rule));
        chain.rule(format!("iifname {} accept", self.inside()));
        chain.rule(uplink.put_on_packet());
        if !self.kill_switch {
            chain.rule(format!("ct state new {}", uplink.put_on_connection()));
        }
        chain
    }

    /// Lets answers in connections that began at an uplink pass by. With the kill switch they must
    /// not.
    fn answers(&self) -> Option<String> {
        let uplink = self.marks.uplink();
        let rule = || format!("{} {} accept", uplink.is_on_connection(), uplink.put_on_packet());
        (!self.kill_switch).then(rule)
    }

    /// Sends queries for names to the resolvers.
    fn names(&self) -> Vec<Chain> {
        let Some(resolvers) = self.resolvers else { return Vec::new() };
        let hook = |hook| Hook { kind: "nat", hook, priority: DESTINATIONS };
        let mut names = Chain::inner("names");
        names.rule("fib daddr type local return");
        for family in Family::BOTH {
            let excluded = family.merged(self.left_alone());
            if !excluded.is_empty() {
                names.rule(format!("{} daddr {} return", family.nft(), networks(&excluded)));
            }
        }
        for family in Family::BOTH {
            let verdict = match resolvers.of(family) {
                Some(resolver) => format!("dnat {} to {resolver}", family.nft()),
                None => "drop".into(),
            };
            let query = format!("meta nfproto {} th dport 53", family.nfproto());
            names.rule(format!("meta l4proto {{ tcp, udp }} {query} {verdict}"));
        }
        let mut own = Chain::at("names_own", hook("output"));
        own.rule(format!("{} accept", self.marks.bond().is_on_packet()));
        own.rule("jump names");
        let mut forwarded = Chain::at("names_forwarded", hook("prerouting"));
        if !self.lan.is_empty() {
            forwarded.rule(format!("iifname {} jump names", interfaces(&self.lan)));
        }
        vec![names, forwarded, own]
    }

    /// Leads TCP connections that reach this host to the transparent listener.
    ///
    /// Answers in connections that began behind the hub are no connections of the host or of a LAN
    /// (`ct direction original`). Without a listener nothing is marked, so that nothing is lost.
    fn intercepted(&self) -> Option<Chain> {
        let port = self.listener?;
        let hook = Hook { kind: "filter", hook: "prerouting", priority: INTERCEPTION };
        let mut chain = Chain::at("intercepted", hook);
        if !self.lan.is_empty() {
            chain.rule(format!(
                "iifname {} meta l4proto tcp ct direction original fib daddr oifname \"{}\" \
                 tproxy to :{port} {} accept",
                interfaces(&self.lan),
                self.device,
                self.marks.forwarded().put_on_packet()
            ));
        }
        chain.rule(format!(
            "iifname \"lo\" meta l4proto tcp {} tproxy to :{port} accept",
            self.marks.own().is_on_packet()
        ));
        Some(chain)
    }

    /// Leads packets of the host itself another way than the routing did: answers to what came by
    /// an uplink go back there, and TCP connections to the transparent listener.
    fn own(&self) -> Chain {
        let hook = Hook { kind: "route", hook: "output", priority: INTERCEPTION };
        let mut chain = Chain::at("own", hook);
        chain.rule(format!("{} accept", self.marks.bond().is_on_packet()));
        self.answers().into_iter().for_each(|rule| chain.rule(rule));
        if self.listener.is_some() {
            chain.rule(format!(
                "oifname \"{}\" meta l4proto tcp ct direction original {}",
                self.device,
                self.marks.own().put_on_packet()
            ));
        }
        chain
    }

    /// Gives the edge's address to what the hub would not know how to answer.
    fn sources(&self) -> Chain {
        let hook = Hook { kind: "nat", hook: "postrouting", priority: SOURCES };
        let mut chain = Chain::at("sources", hook);
        for family in Family::BOTH {
            let Some(address) = self.addresses.of(family) else { continue };
            let known = family.merged(self.routed.iter().copied().chain([host(address)]));
            let sources = format!("{} saddr != {}", family.nft(), networks(&known));
            chain.rule(format!("oifname \"{}\" {sources} masquerade", self.device));
        }
        chain
    }

    /// The kill switch.
    fn dropping(&self) -> Vec<Chain> {
        if !self.kill_switch {
            return Vec::new();
        }
        let hook = |hook| Hook { kind: "filter", hook, priority: FILTER };
        let inside = format!("oifname {} accept", self.inside());
        let mut own = Chain::at("kill_switch_own", hook("output"));
        own.rule(&inside);
        own.rule(format!("{} accept", self.marks.bond().is_on_packet()));
        own.rule("meta nfproto ipv4 udp sport 68 udp dport 67 accept");
        own.rule("meta nfproto ipv6 udp sport 546 udp dport 547 accept");
        own.rule(
            "icmpv6 type { nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert, \
             mld2-listener-report } accept",
        );
        own.rule("counter drop");
        let mut forwarded = Chain::at("kill_switch_forwarded", hook("forward"));
        forwarded.rule(inside);
        forwarded.rule("counter drop");
        vec![own, forwarded]
    }

    pub(super) fn routing(&self) -> Routing {
        let rules = Family::BOTH.into_iter().flat_map(|family| self.rules(family)).collect();
        let routes = Family::BOTH.into_iter().flat_map(|family| self.routes(family)).collect();
        Routing { rules, routes }
    }

    fn rules(&self, family: Family) -> Vec<Rule> {
        let rule = |priority, action| Rule::new(family, priority, action);
        let pass_by = |mark: Mark| rule(PASS_BY, Action::Goto(AFTERWARDS)).marked(mark);
        let mut rules = vec![pass_by(self.marks.bond()), pass_by(self.marks.uplink())];
        if self.listener.is_some() {
            let intercept = rule(INTERCEPT, Action::Lookup(INTERCEPT_TABLE));
            rules.push(intercept.clone().from(&InterfaceName::loopback()).marked(self.marks.own()));
            let forwarded = intercept.marked(self.marks.forwarded());
            rules.extend(self.lan.iter().map(|lan| forwarded.clone().from(lan)));
        }
        let from =
            |rule: Rule| self.senders().into_iter().map(move |name| rule.clone().from(&name));
        rules.extend(from(rule(SPECIFIC, Action::LookupMainButDefault)));
        rules.extend(from(rule(TO_DEVICE, Action::Lookup(DEVICE_TABLE))));
        rules.push(rule(AFTERWARDS, Action::Nothing));
        rules
    }

    fn routes(&self, family: Family) -> Vec<Route> {
        let route = |destination, table, kind| Route { destination, table, kind };
        let everything = family.everything();
        let left_alone = family.of_links().into_iter().chain(self.left_alone());
        let thrown = family.merged(left_alone).into_iter();
        let mut routes: Vec<_> =
            thrown.map(|network| route(network, DEVICE_TABLE, RouteKind::Throw)).collect();
        let kind = match self.addresses.of(family) {
            Some(_) => RouteKind::Device(self.device.clone()),
            None => RouteKind::Unreachable,
        };
        // What excludes everything leaves nothing for the device.
        if !routes.iter().any(|route| route.destination == everything) {
            routes.push(route(everything, DEVICE_TABLE, kind));
        }
        if self.listener.is_some() {
            routes.push(route(everything, INTERCEPT_TABLE, RouteKind::Local));
        }
        routes
    }

    pub(super) fn parameters(&self) -> Parameters {
        let mut plain = vec![Parameter::on("net/ipv4/conf/all/src_valid_mark")];
        let forwards = !self.lan.is_empty();
        let interfaces: Vec<_> = self.lan.iter().chain([&self.device]).cloned().collect();
        if forwards {
            let forwarding = |of| Parameter::on(format!("net/ipv4/conf/{of}/forwarding"));
            plain.extend(interfaces.iter().map(forwarding));
        }
        let ipv6_forwarding = match self.addresses.v6 {
            Some(_) if forwards => Ipv6Forwarding::From(interfaces),
            _ => Ipv6Forwarding::None,
        };
        Parameters { plain, ipv6_forwarding }
    }

    /// What the operator and the bond exclude.
    fn left_alone(&self) -> impl Iterator<Item = IpNet> {
        self.excluded.iter().copied().chain(self.hub.iter().copied().map(host))
    }

    /// Interfaces whose traffic the gateway is for.
    fn senders(&self) -> Vec<InterfaceName> {
        [InterfaceName::loopback()].into_iter().chain(self.lan.iter().cloned()).collect()
    }

    /// A set of the interfaces that do not lead out.
    fn inside(&self) -> String {
        interfaces(self.senders().iter().chain([&self.device]))
    }
}

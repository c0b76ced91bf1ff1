//! Plans as text.
//!
//! They are golden: after a change on purpose, `UPDATE_GOLDEN=1 cargo test -p polypath-gateway
//! --test all plan`.

use polypath_gateway::plan::{
    DualStack, EdgePlan, HubPlan, Marks, Plan, Published, Translation, Transport,
};
use polypath_gateway::{InterfaceName, Mtu};

use crate::golden::golden;

fn list<T: std::str::FromStr<Err: std::fmt::Debug>>(texts: &[&str]) -> Vec<T> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn bare_edge() -> EdgePlan {
    EdgePlan {
        device: "pp0".parse().unwrap(),
        addresses: DualStack::default(),
        mtu: Mtu::default(),
        lan: [].into(),
        routed: Vec::new(),
        excluded: Vec::new(),
        hub: Vec::new(),
        listener: None,
        resolvers: None,
        kill_switch: false,
        marks: Marks::default(),
    }
}

fn edge() -> EdgePlan {
    EdgePlan {
        addresses: DualStack {
            v4: Some("10.77.0.5".parse().unwrap()),
            v6: Some("fd77::5".parse().unwrap()),
        },
        lan: list::<InterfaceName>(&["eth1", "wlan0"]).into_iter().collect(),
        routed: list(&["192.168.5.0/24"]),
        // The hub's address is within it: sets of nft have no elements that overlap.
        excluded: list(&["203.0.113.0/24", "2001:db8::/32"]),
        hub: list(&["203.0.113.7", "198.51.100.7"]),
        listener: 4700.try_into().ok(),
        resolvers: Some(DualStack { v4: Some("10.77.0.1".parse().unwrap()), v6: None }),
        ..bare_edge()
    }
}

fn hub() -> HubPlan {
    HubPlan {
        device: "pp0".parse().unwrap(),
        mtu: Mtu::default(),
        prefixes: list(&["10.77.0.0/16", "fd77::/48"]),
        behind_edges: list(&["192.168.5.0/24"]),
        translation: Translation::Masquerade,
        published: vec![
            Published {
                transport: Transport::Tcp,
                port: 443.try_into().unwrap(),
                to: "192.168.5.2:8443".parse().unwrap(),
            },
            Published {
                transport: Transport::Udp,
                port: 5000.try_into().unwrap(),
                to: "[fd77::5]:5000".parse().unwrap(),
            },
        ],
    }
}

#[test]
fn an_edge_in_text() {
    golden("edge.txt", &Plan::Edge(edge()).to_string());
}

#[test]
fn an_edge_without_addresses_in_text() {
    golden("edge_bare.txt", &Plan::Edge(bare_edge()).to_string());
}

#[test]
fn an_edge_with_a_kill_switch_in_text() {
    let plan = EdgePlan { kill_switch: true, resolvers: None, ..edge() };
    golden("edge_kill_switch.txt", &Plan::Edge(plan).to_string());
}

#[test]
fn a_hub_in_text() {
    golden("hub.txt", &Plan::Hub(hub()).to_string());
}

#[test]
fn a_hub_of_one_family_whose_prefix_is_routed_in_text() {
    let plan = HubPlan {
        prefixes: list(&["192.0.2.0/24"]),
        behind_edges: Vec::new(),
        translation: Translation::Routed,
        published: Vec::new(),
        ..hub()
    };
    golden("hub_routed.txt", &Plan::Hub(plan).to_string());
}

#[test]
fn the_table_of_a_plan_is_one_of_those_that_are_known() {
    let plans = [Plan::Edge(bare_edge()), Plan::Hub(hub())];
    assert_eq!(plans.map(|plan| plan.table().name()), Plan::TABLES);
}

//! Bonds that obey switches ("brf"): each of their paths gets what the narrowest switch on it
//! allots. The [experiment](crate::experiments::bond_switches) has other numbers of bonds and
//! places.

use crate::switched::{
    BOND_PAYLOAD, Carrier, Net, PARALLEL, PAYLOAD, SHARE, assert_about, link, narrow, plan, west_of,
};
use polypath_bond::BondConfig;
use polypath_core::congestion::CongestionKind;
use polypath_sim::run::Keep;
use polypath_sim::topology::{dumbbell, parking_lot};

const CARRIERS: [Carrier; 2] = [Carrier::Light, Carrier::Quic];

fn brf() -> BondConfig {
    let mut config = BondConfig::default();
    config.composition.congestion.avoidance = CongestionKind::Brf.into();
    config
}

#[test]
fn bonds_behind_one_switch_get_equal_shares_of_what_it_gives_away() {
    share_equally(&[2]);
}

pub(crate) fn share_equally(numbers: &[u32]) {
    for carrier in CARRIERS {
        for &bonds in numbers {
            let mut net = west_of(bonds);
            (0..bonds as usize).for_each(|pair| net.bond(pair, carrier, &brf(), 0));
            for rate in net.rates(2_000, 5_000) {
                assert_about(rate, 100.0 * SHARE / f64::from(bonds));
            }
        }
    }
}

/// A path is one flow, whoever else is there: TCP that obeys, or CUBIC in the class beside.
#[test]
fn a_bond_shares_a_port_with_tcp() {
    for carrier in CARRIERS {
        let mut net = west_of(3);
        net.bond(0, carrier, &brf(), 0);
        net.bulk(1, CongestionKind::Brf, 0, None);
        net.bulk(2, CongestionKind::Cubic, 0, None);
        let rates = net.rates(3_000, 8_000);
        assert_about(rates[0], 100.0 * SHARE / 3.0);
        assert_about(rates[1], 100.0 * SHARE / 3.0);
    }
}

#[test]
fn over_two_switches_the_smallest_allocation_counts() {
    cross_two_switches(&[("bottleneck1", [0, 1])]);
}

/// The bond crosses both bottlenecks, of which one is narrower; TCP has the first one beside it,
/// and another bond the second: who shares the narrower one, and who has the other.
pub(crate) fn cross_two_switches(places: &[(&str, [usize; 2])]) {
    for carrier in CARRIERS {
        for &(narrower, others) in places {
            let mut graph = parking_lot(2, &link(1_000.0, 1.0), &link(100.0, 5.0));
            narrow(&mut graph, narrower, 40.0);
            let mut net = Net::new(&graph, &["r0", "r1"]);
            net.bond(0, carrier, &brf(), 0);
            net.bulk(1, CongestionKind::Brf, 0, None);
            net.bond(2, carrier, &brf(), 0);
            let rates = net.rates(3_000, 8_000);
            let half = 40.0 * SHARE / 2.0;
            assert_about(rates[0], half);
            assert_about(rates[1 + others[0]], half);
            // Limited elsewhere, the long flow is given 1.05 times what it sends.
            assert_about(rates[1 + others[1]], 100.0 * SHARE - 1.05 * half);
        }
    }
}

/// The code comes with the answer to the first data, after two round trips and a period of 24 ms
/// each.
#[test]
fn a_newcomer_has_its_share_at_once() {
    for carrier in CARRIERS {
        let mut net = west_of(2);
        net.bulk(0, CongestionKind::Brf, 0, None);
        net.bond(1, carrier, &brf(), 2_000);
        for rate in net.rates(2_500, 3_000) {
            assert_about(rate, 50.0 * SHARE);
        }
    }
}

#[test]
fn queues_stay_empty() {
    for carrier in CARRIERS {
        let mut net = west_of(3);
        (0..3).for_each(|pair| net.bond(pair, carrier, &brf(), 0));
        net.assert_queues_stay_empty();
    }
}

/// One bond over both paths: the one of the wide path shares that with TCP, the other is alone.
#[test]
fn paths_of_a_scenario_s_bond_obey_their_switches() {
    for carrier in ["light", "quic"] {
        let bond = format!("transport = \"bond\"\n    carrier = \"{carrier}\"");
        let text = PARALLEL.replace("transport = \"mptcp\"", &bond);
        let outcome = plan(&text).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap();
        let goodput: Vec<_> = outcome.report.connections.iter().map(|c| c.goodput_mbit_s).collect();
        assert_about(goodput[0] / BOND_PAYLOAD, (30.0 + 20.0) * SHARE);
        assert_about(goodput[1] / PAYLOAD, 30.0 * SHARE);
    }
}

/// Bonds with any other control have no header: to the switch they are UDP, of which 5 % pass.
#[test]
fn bonds_that_do_not_obey_are_udp() {
    for carrier in CARRIERS {
        let mut net = west_of(1);
        net.bond(0, carrier, &BondConfig::default(), 0);
        let rate = net.rates(2_000, 6_000)[0];
        assert!(rate < 5.0, "{rate}");
    }
}

/// Nobody tells a rate: CUBIC keeps a link with a queue of its own BDP and more busy.
#[test]
fn without_switches_bonds_behave_as_cubic() {
    for carrier in CARRIERS {
        let access = link(1_000.0, 1.0);
        let mut net = Net::new(&dumbbell(1, &access, &access, &link(20.0, 10.0)), &[]);
        net.bond(0, carrier, &brf(), 0);
        assert_about(net.rates(5_000, 15_000)[0], 20.0);
    }
}

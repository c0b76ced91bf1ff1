//! What an agent sets on its host, and what it leaves.

use std::fs;
use std::future::pending;

use polypath_mptcp::{Agent, Status};
use tokio::sync::{oneshot, watch};

use crate::namespace::{in_namespace, ip, ip_says};

const SETTING: &str = "/proc/sys/net/mptcp/path_manager";
/// What somebody else has set.
const FOREIGN: &str = "from 192.0.2.9 lookup 7801";

fn network() {
    ip("link set lo up");
    ip("link add wan0 type veth peer name isp0");
    ip("link set isp0 up");
    ip("link set wan0 up");
    ip("address add 192.0.2.1/24 dev wan0");
    ip("route add default via 192.0.2.254 dev wan0");
    ip(&format!("rule add {FOREIGN}"));
}

fn rules() -> Vec<String> {
    let rules = ip_says("rule show");
    let ours = rules.lines().filter(|line| line.contains("proto 113"));
    ours.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn routes() -> String {
    ip_says("route show table all proto 113")
}

async fn start(chosen: &[&str]) -> Agent {
    let chosen = chosen.iter().map(|text| text.parse().unwrap()).collect();
    Agent::start(chosen).await.unwrap()
}

/// Runs an agent while `watch` looks at it, to its end.
async fn while_running(agent: Agent, watch: impl AsyncFnOnce(watch::Receiver<Status>)) {
    let (tell, told) = watch::channel(Status::default());
    let (end, ended) = oneshot::channel::<()>();
    let watching = async {
        watch(told).await;
        drop(end);
    };
    let (ran, ()) =
        futures_util::future::join(agent.run(async { drop(ended.await) }, tell), watching).await;
    ran.unwrap();
}

fn addresses(status: &Status) -> Vec<String> {
    status.paths.iter().map(|path| path.address.to_string()).collect()
}

#[test]
fn each_address_is_routed_through_its_interface_and_nothing_is_left() {
    let test = "host::each_address_is_routed_through_its_interface_and_nothing_is_left";
    in_namespace(test, async {
        network();
        let before = (ip_says("rule show"), ip_says("-4 route show table all"));
        let agent = start(&["wan0"]).await;
        assert_eq!(rules(), ["7600: from 192.0.2.1 lookup 7801 proto 113"]);
        assert!(routes().contains("default via 192.0.2.254 dev wan0 table 7801"), "{}", routes());
        assert_eq!(fs::read_to_string(SETTING).unwrap(), "userspace\n");
        while_running(agent, async |mut told| {
            ip("address add 198.51.100.1/24 dev wan0");
            told.wait_for(|status| addresses(status).len() == 2).await.unwrap();
            assert_eq!(rules().len(), 2, "{:?}", rules());
            ip("address del 192.0.2.1/24 dev wan0");
            told.wait_for(|status| addresses(status) == ["198.51.100.1"]).await.unwrap();
            // The number of an address is its own as long as it is there.
            assert_eq!(rules(), ["7600: from 198.51.100.1 lookup 7802 proto 113"]);
            ip("address del 198.51.100.1/24 dev wan0");
            told.wait_for(|status| addresses(status).is_empty()).await.unwrap();
        })
        .await;
        assert_eq!((rules(), routes()), (vec![], String::new()));
        ip("address add 192.0.2.1/24 dev wan0");
        ip("route add default via 192.0.2.254 dev wan0");
        assert_eq!((ip_says("rule show"), ip_says("-4 route show table all")), before);
        assert_eq!(fs::read_to_string(SETTING).unwrap(), "kernel\n");
    });
}

/// As hosts have it whose provider gives them a single address.
#[test]
fn a_gateway_beyond_the_networks_of_its_interface_is_one_for_the_path() {
    in_namespace(
        "host::a_gateway_beyond_the_networks_of_its_interface_is_one_for_the_path",
        async {
            network();
            ip("route replace default via 203.0.113.1 dev wan0 onlink");
            while_running(start(&["wan0"]).await, async |_| {
                assert!(
                    routes().contains("default via 203.0.113.1 dev wan0 table 7801"),
                    "{}",
                    routes()
                );
            })
            .await;
        },
    );
}

/// Without the route to its network a gateway is not found.
#[test]
fn an_agent_that_cannot_start_leaves_nothing() {
    in_namespace("host::an_agent_that_cannot_start_leaves_nothing", async {
        network();
        ip("address add 198.51.100.1/24 dev wan0");
        ip("route delete 192.0.2.0/24 dev wan0");
        let error = Agent::start(vec!["wan0".parse().unwrap()]).await.err().unwrap().to_string();
        assert!(error.starts_with("adding a route: "), "{error}");
        assert_eq!((rules(), routes()), (vec![], String::new()));
        assert_eq!(fs::read_to_string(SETTING).unwrap(), "kernel\n");
    });
}

#[test]
fn what_ends_it_is_told_when_the_routes_are_gone() {
    in_namespace("host::what_ends_it_is_told_when_the_routes_are_gone", async {
        network();
        let agent = start(&["wan0"]).await;
        assert_eq!(rules().len(), 1);
        let (tell, _) = watch::channel(Status::default());
        assert_eq!(agent.run(async { Err::<(), _>("failed") }, tell).await.unwrap(), Err("failed"));
        assert_eq!((rules(), routes()), (vec![], String::new()));
    });
}

/// One that was killed does nothing at its end.
#[test]
fn what_a_killed_agent_has_left_is_removed_by_the_next() {
    let test = "host::what_a_killed_agent_has_left_is_removed_by_the_next";
    in_namespace(test, async {
        network();
        let (tell, _) = watch::channel(Status::default());
        let killed = start(&["wan0"]).await;
        tokio::select! {
            biased;
            () = async {} => {}
            _ = killed.run(pending::<()>(), tell) => {}
        }
        assert_eq!(rules().len(), 1);
        let next = start(&["isp0"]).await;
        assert_eq!((rules(), routes()), (vec![], String::new()));
        assert!(ip_says("rule show").contains(FOREIGN), "that of others stays");
        while_running(next, async |_| {}).await;
    });
}

#[test]
fn without_a_choice_paths_are_what_leads_out() {
    in_namespace("host::without_a_choice_paths_are_what_leads_out", async {
        network();
        ip("address add 203.0.113.1/24 dev isp0");
        while_running(start(&[]).await, async |mut told| {
            let first = told.wait_for(|status| !status.paths.is_empty()).await.unwrap();
            assert_eq!(addresses(&first), ["192.0.2.1"]);
        })
        .await;
    });
}

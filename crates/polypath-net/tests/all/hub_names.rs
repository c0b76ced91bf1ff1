//! Edges find a hub by its name: later than at the start, at another address, beside one that is
//! silent or another host's.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use crate::common::{hub_config, within};
use polypath_bond::BondConfig;
use polypath_bond::identity::SecretKey;
use polypath_net::edge::{
    Edge, EdgeConfig, EdgePaths, JoinError, Local, LookUp, LookingUp, WantedPath,
};
use polypath_net::hub::{Hub, HubConfig};
use tokio::net::UdpSocket;

/// What a name resolves to, one after the other; the last answer stands.
#[derive(Debug)]
struct Answers(Mutex<VecDeque<Vec<SocketAddr>>>);

impl Answers {
    /// An empty answer is a failure.
    fn new(answers: &[&[SocketAddr]]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(answers.iter().map(|answer| answer.to_vec()).collect())))
    }

    fn set(&self, answer: SocketAddr) {
        *self.0.lock().unwrap() = [vec![answer]].into();
    }
}

impl LookUp for Answers {
    fn look_up<'a>(&'a self, host: &'a str, _: u16) -> LookingUp<'a> {
        assert_eq!(host, "hub.test");
        let mut answers = self.0.lock().unwrap();
        let last = answers.len() == 1;
        let answer = if last { answers.front().cloned() } else { answers.pop_front() };
        let answer = answer.filter(|found| !found.is_empty());
        Box::pin(async move { answer.ok_or_else(|| io::ErrorKind::TimedOut.into()) })
    }
}

fn hub() -> Hub {
    Hub::start(hub_config()).unwrap()
}

async fn edge(answers: &Arc<Answers>) -> Edge {
    let path = WantedPath {
        name: "a".to_owned(),
        local: Local::Address(Ipv4Addr::LOCALHOST.into()),
        remote: None,
        backup: false,
    };
    let config = EdgeConfig {
        identity: SecretKey::from_seed([2; 32]),
        hub: SecretKey::from_seed([1; 32]).public(),
        hub_addresses: vec!["hub.test:1".parse().unwrap()],
        bond: BondConfig::default(),
        paths: EdgePaths::Listed(vec![path]),
    };
    Edge::start_resolving(config, Arc::clone(answers) as _).await.unwrap()
}

#[tokio::test]
async fn a_name_that_cannot_be_resolved_at_the_start_is_resolved_later() {
    let hub = hub();
    let answers = Answers::new(&[&[], &[], &[hub.addresses()[0]]]);
    within(edge(&answers).await.joined_in_the_end()).await.unwrap();
}

#[tokio::test]
async fn a_silent_address_does_not_keep_a_path_from_the_next_one() {
    let hub = hub();
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    // The name has an address of the other family too, which this path cannot reach.
    let other = "[2001:db8::1]:1".parse().unwrap();
    let all = [silent.local_addr().unwrap(), other, hub.addresses()[0]];
    let edge = edge(&Answers::new(&[&all])).await;
    silent.recv(&mut [0; 2_000]).await.unwrap();
    // No attempt has to fail for that.
    within(edge.joined()).await.unwrap();
}

/// A host that is not the hub.
fn another() -> Hub {
    Hub::start(HubConfig { identity: SecretKey::from_seed([9; 32]), ..hub_config() }).unwrap()
}

#[tokio::test]
async fn another_host_at_the_first_address_does_not_keep_a_path_from_the_next_one() {
    let (another, hub) = (another(), hub());
    let edge = edge(&Answers::new(&[&[another.addresses()[0], hub.addresses()[0]]])).await;
    within(edge.joined()).await.unwrap();
}

#[tokio::test]
async fn where_every_address_is_another_hosts_the_edge_says_so() {
    let [one, other] = [another(), another()];
    let edge = edge(&Answers::new(&[&[one.addresses()[0], other.addresses()[0]]])).await;
    let error = within(edge.refused()).await;
    assert!(matches!(error, JoinError::WrongHubKey(_)), "{error}");
}

#[tokio::test]
async fn a_hub_that_answers_at_two_addresses_has_one_path() {
    let two = vec![(Ipv4Addr::LOCALHOST, 0).into(); 2];
    let hub = Hub::start(HubConfig { listen: two, ..hub_config() }).unwrap();
    let edge = edge(&Answers::new(&[hub.addresses()])).await;
    within(edge.joined()).await.unwrap();
    let [(bond, _)] = hub.driver().bonds()[..] else { panic!("one bond") };
    assert_eq!(hub.driver().status(bond).unwrap().paths.len(), 1);
}

#[tokio::test]
async fn a_hub_that_comes_back_elsewhere_is_found_by_its_name() {
    let first = hub();
    let answers = Answers::new(&[&[first.addresses()[0]]]);
    let edge = edge(&answers).await;
    within(edge.joined()).await.unwrap();
    let bond = edge.bond();
    // Whoever listens at the old address does not answer.
    let old = first.addresses()[0];
    let second = hub();
    answers.set(second.addresses()[0]);
    within(first.close()).await;
    drop(first);
    let found = async {
        while second.driver().bonds().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    within(found).await;
    assert_ne!(edge.bond(), bond);
    assert_ne!(second.addresses()[0], old);
}

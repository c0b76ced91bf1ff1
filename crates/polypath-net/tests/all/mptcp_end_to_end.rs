//! Connections over the kernel's Multipath TCP: an edge and a hub over loopback.

use crate::common::{echo_after_eof, edge_config, hub_config, resetter, within};
use polypath_bond::{FlowMode, HubPolicy};
use polypath_net::edge::Edge;
use polypath_net::exit::ExitOptions;
use polypath_net::hub::{Edges, Hub, HubConfig, HubError};
use polypath_net::mptcp::{
    HeaderFault, MptcpCounts, MptcpEdge, MptcpListenError, MptcpOpener, MptcpOptions, MptcpOrBond,
    WhyBond,
};
use polypath_net::proxy::{OpenError, Opener};
use polypath_net::tunnel::{RefusalKind, Target};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{JoinSet, yield_now};

/// A hub with sessions; `None` where the kernel has no Multipath TCP, which is told.
fn hub(test: &str, exit: impl FnOnce(ExitOptions) -> ExitOptions) -> Option<Hub> {
    let config = hub_config();
    start(
        test,
        HubConfig { exit: exit(config.exit), mptcp: Some(MptcpOptions::default()), ..config },
    )
}

#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
fn start(test: &str, config: HubConfig) -> Option<Hub> {
    match Hub::start(config) {
        Ok(hub) => Some(hub),
        Err(HubError::Mptcp(MptcpListenError::Unsupported)) => {
            println!("skipped: {test}: this kernel has no Multipath TCP");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// An edge, and what opens its connections once it has a session.
struct Opening {
    _edge: Edge,
    mptcp: Arc<MptcpEdge>,
    opener: MptcpOpener,
    _running: JoinSet<()>,
}

impl Opening {
    async fn new(hub: &Hub) -> Self {
        Self::with(hub, |mptcp| mptcp).await
    }

    async fn with(hub: &Hub, change: impl FnOnce(MptcpEdge) -> MptcpEdge) -> Self {
        let edge = Edge::start(edge_config(hub, hub.addresses()[0], &["a"])).await.unwrap();
        let mptcp = Arc::new(change(MptcpEdge::new(&edge)));
        let running = Arc::clone(&mptcp);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { running.run().await });
        let opener = mptcp.opener();
        Self { _edge: edge, mptcp, opener, _running: tasks }
    }

    /// A connection over Multipath TCP: those before there is a session go over the bond.
    async fn beside_bond(&self, target: &Target) -> MptcpOrBond {
        loop {
            match self.opener.connect(target.clone()).await.unwrap() {
                MptcpOrBond::Bond(_) => yield_now().await,
                beside => return beside,
            }
        }
    }

    fn counts(&self) -> MptcpCounts {
        (self.mptcp.counts())()
    }
}

async fn hear(stream: &mut MptcpOrBond) -> Vec<u8> {
    let mut heard = Vec::new();
    stream.write_all(b"a word").await.unwrap();
    stream.shutdown().await.unwrap();
    stream.read_to_end(&mut heard).await.unwrap();
    heard
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_rules_allow_goes_beside_the_bond_and_a_refusal_is_final() {
    let test = "what_rules_allow_goes_beside_the_bond_and_a_refusal_is_final";
    let Some(hub) = hub(test, |exit| exit) else { return };
    within(async {
        let opening = Opening::new(&hub).await;
        let target: Target = echo_after_eof().await.into();
        assert_eq!(hear(&mut opening.beside_bond(&target).await).await, b"a word");
        let before = opening.counts();
        assert_eq!((before.connections, before.plain), (1, 0));

        let steered = opening.opener.connect_as(&FlowMode::Redundant.into(), target).await;
        let mut steered = steered.unwrap();
        assert!(matches!(steered, MptcpOrBond::Bond(_)), "{steered:?}");
        assert_eq!(hear(&mut steered).await, b"a word");

        let forbidden = opening.opener.connect("127.0.0.9:1".parse().unwrap()).await;
        let Err(OpenError::Refused(refusal)) = forbidden else { panic!("{forbidden:?}") };
        assert_eq!(refusal.kind, RefusalKind::Policy);
        let after = opening.counts();
        assert_eq!(after.over_bond(WhyBond::Steered), 1);
        assert_eq!(after.connections, 1);
        assert_eq!(after.over_bond(WhyBond::Broken), 0, "{after:?}");
        let at_hub = hub.mptcp().unwrap().counts();
        assert_eq!((at_hub.connections, at_hub.refused.len()), (1, 0));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_encrypted_where_either_end_asks_for_it() {
    let test = "connections_are_encrypted_where_either_end_asks_for_it";
    for (at_hub, at_edge) in [(false, false), (true, false), (false, true), (true, true)] {
        let mptcp = Some(MptcpOptions { tls: at_hub, ..MptcpOptions::default() });
        let Some(hub) = start(test, HubConfig { mptcp, ..hub_config() }) else { return };
        within(async {
            let change = |mptcp: MptcpEdge| if at_edge { mptcp.encrypted() } else { mptcp };
            let opening = Opening::with(&hub, change).await;
            let target: Target = echo_after_eof().await.into();
            assert_eq!(hear(&mut opening.beside_bond(&target).await).await, b"a word");
            let forbidden = opening.opener.connect("127.0.0.9:1".parse().unwrap()).await;
            let Err(OpenError::Refused(refusal)) = forbidden else { panic!("{forbidden:?}") };
            assert_eq!(refusal.kind, RefusalKind::Policy);
            let reset: Target = resetter().await.into();
            let mut broken = opening.beside_bond(&reset).await;
            broken.write_all(b"a").await.unwrap();
            broken.flush().await.unwrap();
            let error = broken.read_to_end(&mut Vec::new()).await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
            let expected = if at_hub || at_edge { 2 } else { 0 };
            for counts in [opening.counts(), hub.mptcp().unwrap().counts()] {
                assert_eq!((counts.connections, counts.encrypted), (2, expected), "{counts:?}");
                assert_eq!(counts.over_bond(WhyBond::Broken), 0, "{counts:?}");
            }
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_of_an_edge_that_may_not_join_any_more_end() {
    let test = "connections_of_an_edge_that_may_not_join_any_more_end";
    let exit = |exit| ExitOptions { delivery_timeout: Duration::ZERO, ..exit };
    let Some(hub) = hub(test, exit) else { return };
    within(async {
        let opening = Opening::new(&hub).await;
        let target: Target = echo_after_eof().await.into();
        let mut open = opening.beside_bond(&target).await;
        let nobody = HubPolicy { allowed: Some(BTreeSet::new()), ..HubPolicy::default() };
        hub.set_policy(nobody, Edges::default());
        let error = open.read(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_say_who_it_is_is_closed_without_an_answer() {
    let test = "who_does_not_say_who_it_is_is_closed_without_an_answer";
    let exit = |exit| ExitOptions { request_timeout: Duration::from_millis(200), ..exit };
    let Some(hub) = hub(test, exit) else { return };
    within(async {
        let mptcp = hub.mptcp().unwrap();
        let address = (hub.addresses()[0].ip(), mptcp.port().get());
        let say = async |bytes: &[u8]| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(bytes).await.unwrap();
            // Closed or reset, without a word.
            let heard = stream.read(&mut [0]).await;
            assert!(!matches!(heard, Ok(1..)), "{heard:?}");
        };
        say(b"").await;
        // The beginning of a record of the TLS handshake is no reason to wait for longer.
        say(b"\x16\x03\x01").await;
        assert_eq!(mptcp.counts().refused(HeaderFault::Late), 2);
        say(b"GET / HTTP/1.1\r\n\r\n").await;
        assert_eq!(mptcp.counts().refused(HeaderFault::Malformed), 1);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"\x16\x03\x01\x00\x04\x01\x00\x00\x00").await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.ok();
        assert_eq!(mptcp.counts().refused(HeaderFault::Handshake), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_have_not_said_who_they_are_have_a_number_of_places() {
    let test = "those_who_have_not_said_who_they_are_have_a_number_of_places";
    let Some(hub) = hub(test, |exit| exit) else { return };
    within(async {
        let mptcp = hub.mptcp().unwrap();
        let address = (hub.addresses()[0].ip(), mptcp.port().get());
        // One address has three quarters of 256 places while nobody else wants any.
        let mut waiting = Vec::new();
        while mptcp.counts().refused(HeaderFault::TooMany) == 0 {
            waiting.push(TcpStream::connect(address).await.unwrap());
            assert!(waiting.len() <= 256, "there is no bound");
            yield_now().await;
        }
    })
    .await;
}

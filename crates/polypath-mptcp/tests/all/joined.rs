//! Connections of an agent's host, with a peer in another namespace.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use futures_util::future::join;
use polypath_mptcp::{Agent, Status, SubflowStatus};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::{oneshot, watch};

use crate::namespace::{Other, in_namespace, ip};

const SERVER: &str = "10.0.0.2:5000";

fn socket() -> Socket {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).unwrap()
}

/// Two links to the peer, which has an address that both lead to.
fn network(peer: &Other) {
    ip("link set lo up");
    for (link, last) in [("one", 1), ("two", 2)] {
        ip(&format!("link add {link} type veth peer name {link} netns {}", peer.process()));
        ip(&format!("link set {link} up"));
        ip(&format!("address add 10.0.{last}.1/24 dev {link}"));
        ip(&format!("route add 10.0.0.2/32 via 10.0.{last}.2 dev {link} metric {last}"));
    }
}

/// Runs with the namespace of the peer.
fn at_peer(peer: &Other, arguments: &str) {
    let nsenter = format!("--net=/proc/{}/ns/net", peer.process());
    let output = std::process::Command::new("nsenter")
        .args([&nsenter, "ip"])
        .args(arguments.split(' '))
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

fn open(status: &Status) -> Vec<&SubflowStatus> {
    let all = status.connections.iter().flat_map(|connection| &connection.subflows);
    all.filter(|subflow| subflow.state == "open").collect()
}

#[test]
fn a_connection_has_a_subflow_over_each_path_with_the_backups_that_were_chosen() {
    let test =
        "joined::a_connection_has_a_subflow_over_each_path_with_the_backups_that_were_chosen";
    in_namespace(test, async {
        let peer = Other::new();
        network(&peer);
        for (link, last) in [("one", 1), ("two", 2)] {
            at_peer(&peer, &format!("link set {link} up"));
            at_peer(&peer, &format!("address add 10.0.{last}.2/24 dev {link}"));
        }
        at_peer(&peer, "address add 10.0.0.2/32 dev lo");
        at_peer(&peer, "link set lo up");
        at_peer(&peer, "mptcp limits set subflow 8 add_addr_accepted 8");
        peer.start(async move |ready| {
            let listener = socket();
            listener.bind(&SERVER.parse::<SocketAddr>().unwrap().into()).unwrap();
            listener.listen(1).unwrap();
            ready.send(()).unwrap();
            let mut accepted: TcpStream = listener.accept().unwrap().0.into();
            accepted.write_all(b"there").unwrap();
            let mut rest = Vec::new();
            let _ = accepted.read_to_end(&mut rest);
        });
        let chosen = ["one", "two,priority=1"].map(|choice| choice.parse().unwrap());
        let agent = Agent::start(chosen.into()).await.unwrap();
        let (tell, mut told) = watch::channel(Status::default());
        let (end, ended) = oneshot::channel::<()>();
        let watching = async {
            let client = socket();
            client.connect(&SERVER.parse::<SocketAddr>().unwrap().into()).unwrap();
            let mut client: TcpStream = client.into();
            client.read_exact(&mut [0; 5]).unwrap();
            let both = |status: &Status| {
                let mut backups: Vec<_> = open(status)
                    .iter()
                    .map(|subflow| (subflow.interface.clone().unwrap_or_default(), subflow.backup))
                    .collect();
                backups.sort();
                backups == [("one".to_owned(), false), ("two".to_owned(), true)]
            };
            told.wait_for(both).await.unwrap();
            // The first is gone: what was a backup carries data now.
            ip("link set one down");
            let second = |status: &Status| {
                let open = open(status);
                open.len() == 1 && open[0].interface.as_deref() == Some("two") && !open[0].backup
            };
            told.wait_for(second).await.unwrap();
            ip("link set one up");
            ip("route replace 10.0.0.2/32 via 10.0.1.2 dev one metric 1");
            told.wait_for(both).await.unwrap();
            drop(end);
        };
        let (ran, ()) = join(agent.run(async { drop(ended.await) }, tell), watching).await;
        ran.unwrap();
    });
}

//! The services of the package as gateways.

use std::net::{TcpListener, TcpStream, UdpSocket};

use super::root::Root;
use super::services::Service;
use crate::gateway::sites::{LAN, SERVER, Sites};
use crate::gateway::{ask, exchange, icmp};

const HUB: &str = r#"allow = "/etc/polypath/allow"
listen = ["0.0.0.0:4433"]
target = ["198.18.0.0/15:*", "[2001:db8::/32]:*"]
gateway = ["10.77.0.0/16", "fd77::/48"]
"#;
const EDGE: &str = r#"key = "/var/lib/polypath/edge.key"
path = ["a=p1,10.1.1.1:4433", "b=p2,10.1.2.1:4433"]
gateway = true
lan = ["l0"]
kill_switch = true
"#;

/// As gateway.md says.
fn give_units_more(root: &Root) {
    let folder = "/etc/systemd/system/polypath-.service.d";
    let file = "/usr/share/polypath/gateway.conf";
    root.run(&["install", "-D", "-m", "644", "-t", folder, file]);
}

fn start(root: &Root, sites: &Sites) -> [Service; 2] {
    root.write("etc/polypath/hub.toml", HUB);
    let (hub, join) = Service::hub(root, &sites.hub);
    hub.log_line("gateway device=");
    root.write("etc/polypath/edge.toml", &format!("{EDGE}join = \"{join}\"\n"));
    let edge = Service::edge(root, &sites.edge);
    edge.log_line("gateway device=");
    [edge, hub]
}

fn carries(sites: &Sites) {
    for (server, from) in [(SERVER.0, LAN.0), (SERVER.1, LAN.1)] {
        let listener = sites.server.within(|| TcpListener::bind((server, 0)).unwrap());
        let address = listener.local_addr().unwrap();
        exchange(sites.lan.within(|| TcpStream::connect(address).unwrap()), &listener);
        let answering = sites.server.within(|| UdpSocket::bind((server, 0)).unwrap());
        let asking = sites.lan.within(|| UdpSocket::bind((from, 0)).unwrap());
        ask(&asking, &answering, 1_452);
    }
    sites.lan.within(|| icmp::ping(SERVER.0));
}

/// Whatever a LAN sends is carried; what was set is gone when the services have stopped. Where they
/// are killed, something is left, a kill switch among it.
pub(super) fn carries_and_is_killed(root: &Root, sites: &Sites) {
    give_units_more(root);
    let before = sites.settings();
    let services = start(root, sites);
    carries(sites);
    services.iter().for_each(Service::stop);
    assert_eq!(sites.settings(), before);

    let services = start(root, sites);
    services.iter().for_each(Service::kill);
    assert_ne!(sites.settings(), before);
}

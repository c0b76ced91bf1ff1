//! The watcher sees what happens to interfaces, live, in a network namespace of its own.

use std::time::Duration;

use crate::namespace::{in_namespace, ip};
use polypath_host::interfaces::{Change, Interface, Kind, Watcher, list};

#[test]
fn watcher_reports_what_happens_in_a_namespace() {
    in_namespace("interface_watcher::watcher_reports_what_happens_in_a_namespace", inside());
}

/// Waits until the interface is as wanted, through however many reports it takes.
async fn until(
    watcher: &mut Watcher,
    name: &str,
    wanted: impl Fn(Option<&Interface>) -> bool,
) -> Vec<Change> {
    let wait = async {
        let mut seen = Vec::new();
        while !wanted(watcher.current().values().find(|i| i.name == name)) {
            let changes = watcher.changes().await.unwrap();
            assert!(!changes.is_empty());
            seen.extend(changes);
        }
        seen
    };
    // A bound against hanging only; the watcher itself needs 0.1 to 1 s for each report.
    tokio::time::timeout(Duration::from_secs(20), wait).await.expect("change was not reported")
}

async fn inside() {
    let mut watcher = Watcher::start().await.unwrap();
    let lo = watcher.current().values().find(|i| i.name == "lo").unwrap();
    assert_eq!((lo.kind, lo.up, lo.is_usable()), (Kind::Loopback, false, false));

    ip("link add up0 type veth peer name up1");
    let seen = until(&mut watcher, "up0", |i| i.is_some()).await;
    assert!(seen.iter().any(|c| matches!(c, Change::Appeared(i) if i.name == "up0")), "{seen:?}");

    ip("addr add 10.9.0.2/24 dev up0");
    ip("link set up0 mtu 1400 up");
    ip("link set up1 up");
    let running = |i: Option<&Interface>| i.is_some_and(|i| i.running && !i.addresses.is_empty());
    until(&mut watcher, "up0", running).await;
    let up0 = watcher.current().values().find(|i| i.name == "up0").unwrap();
    assert_eq!((up0.mtu, up0.kind, up0.is_usable()), (1400, Kind::Virtual, false));

    ip("route add default via 10.9.0.1 dev up0");
    until(&mut watcher, "up0", |i| i.is_some_and(Interface::is_usable)).await;
    let listed = list().await.unwrap();
    let source: Vec<_> = listed.values().flat_map(Interface::source_addresses).collect();
    assert_eq!(source, ["10.9.0.2".parse::<std::net::IpAddr>().unwrap()]);

    // Losing the carrier leaves the interface up.
    ip("link set up1 down");
    until(&mut watcher, "up0", |i| i.is_some_and(|i| i.up && !i.running)).await;

    ip("addr del 10.9.0.2/24 dev up0");
    let seen =
        until(&mut watcher, "up0", |i| i.is_some_and(|i| i.source_addresses().next().is_none()))
            .await;
    let lost = |c: &Change| matches!(c, Change::Changed { before, after } if before.addresses.len() > after.addresses.len());
    assert!(seen.iter().any(lost), "{seen:?}");

    ip("link del up0");
    let seen = until(&mut watcher, "up0", |i| i.is_none()).await;
    assert!(seen.iter().any(|c| matches!(c, Change::Vanished(i) if i.name == "up0")), "{seen:?}");
}

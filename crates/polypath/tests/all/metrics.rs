//! Metrics of a hub and an edge that run.

use super::http::Server;
use super::process::stdout;
use super::world::{Node, World, curl};

/// Where the metrics of a node are, which its log says.
fn address(node: &Node) -> String {
    let line = node.log_line(": metrics address=");
    line.rsplit_once("address=").unwrap().1.trim().to_owned()
}

/// The metrics of a node.
fn scrape(node: &Node) -> String {
    let output = curl(&[&["--fail", &format!("http://{}/metrics", address(node))]]);
    assert!(output.status.success(), "{}", super::process::stderr(&output));
    stdout(&output).to_owned()
}

/// The value of a series; its labels stand in the order of the text.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse().unwrap()
}

#[test]
fn both_ends_serve_metrics_that_agree_with_the_data_that_was_moved() {
    let world = World::new();
    let hub = world.hub(&["--metrics", "127.0.0.1:0"]);
    let edge = world.edge(&hub, &["--socks", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]);
    let server = Server::start();
    const SIZE: f64 = 3_000_000.0;
    let proxy = edge.address_of("socks5");
    let got = curl(&[&["--socks5", &proxy, &server.url(&SIZE.to_string())]]);
    assert_eq!(got.stdout.len() as f64, SIZE);

    let (at_edge, at_hub) = (scrape(&edge), scrape(&hub));
    let (_, key) = hub.join_string().rsplit_once('/').unwrap();
    assert!(!at_edge.contains(key), "an edge has one hub, and no label for it:\n{at_edge}");
    let received = value(&at_edge, "polypath_stream_bytes_total{direction=\"received\"}");
    // The answer of the hub and the head of the web server beside the content.
    assert!((SIZE..SIZE + 4_096.0).contains(&received), "{received}");
    let edge_key = world.run(&["key", "--show", world.edge_key()]);
    let label = format!("edge=\"{}\"", stdout(&edge_key).trim());
    let sent =
        value(&at_hub, &format!("polypath_stream_bytes_total{{{label},direction=\"sent\"}}"));
    assert!((SIZE..SIZE + 4_096.0).contains(&sent), "{sent}");
    assert!((value(&at_hub, &format!("polypath_bonds{{{label}}}")) - 1.0).abs() < f64::EPSILON);

    let path = |path: &str, direction: &str| {
        let labels = format!("{{{label},path=\"{path}\",direction=\"{direction}\"}}");
        value(&at_hub, &format!("polypath_path_bytes_total{labels}"))
    };
    assert!(path("a", "sent") + path("b", "sent") >= SIZE, "{at_hub}");
    assert!(at_hub.contains("polypath_build_info{version=\""), "{at_hub}");
}

#[test]
fn without_the_option_nothing_listens_for_scrapers() {
    let world = World::new();
    let hub = world.hub(&[]);
    assert!(!hub.log().contains("metrics"), "{}", hub.log());
}

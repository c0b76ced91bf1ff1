use super::*;
use crate::report::well_formed::assert_well_formed;
use crate::report::{Mark, Row};
use polypath_link::{LinkConfig, QueueLimit, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::MptcpEnd;
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::record::Subject;
use polypath_sim::record::delay::{DelayObserver, PathDelay};
use polypath_sim::record::series::{Recorder, Recording};
use polypath_sim::run::{FlowTotals, Observed, Spread};
use polypath_sim::scenario::Record;
use polypath_sim::topology::{Graph, Topology, dumbbell};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

fn line(name: &str, points: &[(f64, f64)]) -> Line {
    Line { name: name.to_owned(), points: points.to_vec() }
}

fn half(rate: &str, delay: &str) -> Half {
    Half { rate: rate.to_owned(), delay: delay.to_owned() }
}

/// Two paths; the first dies after a second.
fn input() -> PageInput {
    let link = |name: &str, up: Half, down: Half| DiagramLink {
        name: name.to_owned(),
        from: 0,
        to: 1,
        up,
        down,
    };
    PageInput {
        title: "two paths".to_owned(),
        results: vec![Row {
            name: "goodput".to_owned(),
            value: "42.0 Mbit/s".to_owned(),
            remark: "70 % of the links".to_owned(),
        }],
        applications: Vec::new(),
        network: Diagram {
            nodes: vec!["client".to_owned(), "server".to_owned()],
            links: vec![
                link("wifi", half("50 Mbit/s", "10 ms"), half("50 Mbit/s", "10 ms")),
                link("lte", half("5 Mbit/s", "30 ms"), half("20 Mbit/s", "30 ms")),
            ],
        },
        marks: vec![Mark { x: 1.0, text: "wifi down".to_owned(), row: 0 }],
        throughput: vec![
            line("wifi", &[(0.5, 40.0), (1.0, 50.0), (1.5, 0.0)]),
            line("lte", &[(0.5, 10.0), (1.0, 20.0), (1.5, 20.0)]),
        ],
        windows: vec![line("wifi", &[(0.5, 14.0), (1.0, 120.0), (1.5, 1.4)])],
        queues: vec![line("wifi up", &[(0.5, 0.0), (1.0, 75.0), (1.5, 0.0)])],
        delays: vec![line("wifi", &[(10.0, 0.0), (12.0, 0.5), (20.0, 0.9995), (90.0, 1.0)])],
    }
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let page = page(&input());
    // The name of the SVG vocabulary is no address that a browser fetches.
    let links = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "href=", "@import", "url(", "<script"] {
        assert!(!links.contains(outside), "{outside}");
    }
    assert_well_formed(&page);
    insta::assert_snapshot!(page);
}

/// The means are areas over 1.5 s: (20 + 25 + 0) / 1.5 and (5 + 10 + 10) / 1.5. The slowest packet
/// is among the numbers, not in the chart, which ends at 20 ms.
#[test]
fn charts_are_told_in_numbers_too() {
    let page = page(&input());
    let cells = |values: &[&str]| {
        values.iter().map(|value| format!("<td class=\"value\">{value}</td>")).collect::<String>()
    };
    for (name, values) in [
        ("wifi", &["30.00", "50.00"][..]),
        ("lte", &["16.67", "20.00"]),
        ("wifi", &["12.00", "20.00", "20.00", "90.00"]),
    ] {
        let row = format!("<tr><th>{name}</th>{}</tr>", cells(values));
        assert!(page.contains(&row), "{row}");
    }
    let (_, chart) = page.rsplit_once("<svg").unwrap();
    assert!(chart.contains(">20</text>") && !chart.contains(">80</text>"));
}

fn flow(kind: &'static str, finished_s: Option<f64>, observed: Observed) -> Application {
    let flow = FlowTotals { kind, direction: "down", start_s: 0.5, finished_s, observed };
    Application { connection: "web".to_owned(), flow }
}

/// A row for each flow, in the table of what is measured of it; what there is not is a dash.
#[test]
fn applications_are_told_by_what_they_measure() {
    let spread =
        Spread { mean: 12.0, p50: 10.25, p95: 20.0, p99: 91.399_999_999_999_99, max: 95.0 };
    let requests = |completion_ms| Observed::Requests {
        completed: 47,
        outstanding: 1,
        response_bytes: 9,
        completion_ms,
    };
    let messages = Observed::Messages {
        produced: 9,
        delivered: 8,
        missing: 1,
        reordered: 0,
        in_time: Some(7),
        delay_ms: Some(spread),
    };
    let video = Observed::Video {
        startup_delay_s: Some(0.25),
        stalls: 2,
        stall_s: 1.5,
        played_s: 8.0,
        chunks: 4,
        bit_rate_mbit_s: Some(2.5),
        switches: 3,
    };
    let applications = vec![
        flow("bulk", Some(2.0), Observed::Transfer {}),
        flow("bulk", None, Observed::Transfer {}),
        flow("on_off", None, Observed::Bursts { bursts: 3, on_s: 0.75 }),
        flow("request_response", None, requests(Some(spread))),
        flow("request_response", None, requests(None)),
        flow("constant_rate", None, messages),
        flow("video", None, video),
    ];
    let page = page(&PageInput { applications, ..PageInput::default() });
    assert_well_formed(&page);
    for (kind, cells) in [
        ("bulk", &["0.50", "2.00"][..]),
        ("bulk", &["0.50", "-"]),
        ("on_off", &["3", "0.75"]),
        ("request_response", &["47", "1", "12.0", "10.2", "20.0", "91.4", "95.0"]),
        ("request_response", &["47", "1", "-", "-", "-", "-", "-"]),
        ("constant_rate", &["9", "8", "1", "7", "12.0", "10.2", "20.0", "91.4", "95.0"]),
        ("video", &["0.25", "2", "1.50", "8.00", "2.50", "3"]),
    ] {
        let cells: String =
            cells.iter().map(|cell| format!("<td class=\"value\">{cell}</td>")).collect();
        let row = format!("<tr><th>web {kind} down</th>{cells}</tr>");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn many_applications_are_counted() {
    let applications = vec![flow("bulk", None, Observed::Transfer {}); 45];
    let page = page(&PageInput { applications, ..PageInput::default() });
    assert_eq!(page.matches("web bulk down").count(), 40);
    assert!(page.contains("<p>... and 5 more flows: see --json</p>"));
}

#[test]
fn names_cannot_break_the_page() {
    let evil = "</svg><script>\"&'\u{0}";
    let mut input = input();
    input.title = evil.to_owned();
    input.results[0] =
        Row { name: evil.to_owned(), value: evil.to_owned(), remark: evil.to_owned() };
    input.network.nodes[0] = evil.to_owned();
    input.network.links[0].name = evil.to_owned();
    input.network.links[0].up.rate = evil.to_owned();
    input.marks[0].text = evil.to_owned();
    for lines in [&mut input.throughput, &mut input.windows, &mut input.queues, &mut input.delays] {
        lines[0].name = evil.to_owned();
    }
    let page = page(&input);
    assert_well_formed(&page);
    assert!(!page.contains("<script") && !page.contains('\u{0}'));
    assert!(page.contains("&lt;/svg&gt;&lt;script&gt;&quot;&amp;&#39;"));
}

#[test]
fn a_page_of_nothing_is_still_a_page() {
    let page = page(&PageInput::default());
    assert_well_formed(&page);
    assert_eq!(page.matches("Nothing was recorded.").count(), 4);
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

/// 100,000 points between 0 and 0.6, and one above.
#[test]
fn long_lines_are_thinned_and_keep_their_peaks() {
    let mut points: Vec<_> =
        (1..=100_000).map(|n| (f64::from(n) * 1e-3, f64::from(n % 7) * 0.1)).collect();
    points[54_321].1 = 7.0;
    let input = PageInput { queues: vec![Line { name: "long".to_owned(), points }], ..input() };
    let page = page(&input);
    let longest = page
        .split("<polyline points=\"")
        .skip(1)
        .map(|text| text.split('"').next().unwrap().split(' ').collect::<Vec<_>>());
    let longest = longest.max_by_key(Vec::len).unwrap();
    assert!((1_900..=2_000).contains(&longest.len()), "{}", longest.len());
    // Ticks to 7 in steps of 1: the peak touches the top.
    assert_eq!(longest.iter().filter(|point| point.ends_with(",70.0")).count(), 1);
}

fn link(mbit_s: f64, ms: u64) -> PathLinks {
    let rate = Bandwidth::from_mbit_per_sec(mbit_s);
    let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
    link.queue = QueueLimit::Packets(50).into();
    PathLinks::symmetric(link)
}

/// A second of Multipath TCP over two paths.
fn run() -> (Topology, Recording, Vec<PathDelay>) {
    let paths = [("wifi", link(20.0, 10)), ("lte", link(10.0, 30))];
    let paths = paths.map(|(name, links)| (name.to_owned(), links));
    let topology = Topology::from(&Graph::between_two_hosts(paths));
    let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
    let (client, server) = topology.pairs()[0];
    let (routes, config) = (topology.routes(client, server), MptcpConfig::default());
    let start = Timestamp::ZERO;
    let (a, b) = MptcpEnd::connect(&mut simulator, &topology, &routes, &[false; 2], &config, start);
    simulator.add_application(Box::new(Bulk::new(a, b, None, start)));
    let subjects = vec![Subject { name: "bulk".to_owned(), ends: [a, b] }];
    simulator.fabric_mut().observe(Box::new(DelayObserver::new(&subjects)));
    let interval = Duration::from_millis(100);
    let (events, pcapng, qlog) = (false, false, false);
    let record = Record { series: SERIES.to_vec(), interval, events, pcapng, qlog };
    let mut recorder = Recorder::new(&record, subjects, &topology);
    while recorder.next_due() <= Timestamp::from_millis(1_000) {
        simulator.run_until(recorder.next_due());
        recorder.sample(&simulator);
    }
    let delays = simulator.fabric_mut().take_observer::<DelayObserver>().unwrap();
    let delays = delays.finish(&simulator);
    (topology, recorder.finish(), delays)
}

#[test]
fn a_run_fills_the_page() {
    let (topology, recording, delays) = run();
    let input = PageInput::new("run".to_owned(), vec![], vec![], &topology, &recording, &delays);
    let names = |lines: &[Line]| lines.iter().map(|line| line.name.clone()).collect::<Vec<_>>();
    for lines in [&input.throughput, &input.windows, &input.delays] {
        assert_eq!(names(lines), ["wifi", "lte"]);
    }
    assert!(names(&input.queues).starts_with(&["wifi up".to_owned()]), "{:?}", input.queues);
    assert_eq!(input.throughput[0].points.len(), 10);
    // Payload of full packets on links of 20 and 10 Mbit/s: less than that, and more than half.
    for (line, mbit_s) in input.throughput.iter().zip([20.0, 10.0]) {
        let last = line.points[9];
        assert!(last.0 == 1.0 && last.1 > mbit_s / 2.0 && last.1 < mbit_s * 1.5, "{last:?}");
    }
    // A queue of 50 packets of 1,500 bytes and one in service.
    assert!(input.queues.iter().flat_map(|line| &line.points).all(|point| point.1 <= 76.5));
    for (line, ms) in input.delays.iter().zip([10.0, 30.0]) {
        assert!(line.points[0].0 > ms && line.points[0].1 == 0.0, "{:?}", line.points[0]);
        assert_eq!(line.points.last().unwrap().1, 1.0);
    }
    assert_eq!(input.network.links[1].up, half("10 Mbit/s", "30 ms"));
    assert_well_formed(&page(&input));
}

/// More paths than can be told apart: those that sent most stay.
#[test]
fn the_busiest_are_shown() {
    let (topology, mut recording, mut delays) = run();
    for n in 0..20 {
        let mut copy = recording.paths.lines[0].clone();
        copy.key.connection = format!("bulk{n}");
        recording.paths.lines.insert(0, copy);
        let mut copy = delays[0].clone();
        copy.key.connection = format!("bulk{n}");
        delays.insert(0, copy);
    }
    let input = PageInput::new("run".to_owned(), vec![], vec![], &topology, &recording, &delays);
    let lengths = [&input.throughput, &input.windows, &input.delays].map(Vec::len);
    assert_eq!(lengths, [12; 3]);
    assert!(input.throughput.iter().all(|line| line.name != "bulk: lte"));
    assert!(input.throughput.iter().all(|line| line.name.ends_with(": wifi")));
}

/// A network of 50 pairs of hosts is told in a table only.
#[test]
fn what_is_too_large_to_draw_is_a_table() {
    let drawn = |count| {
        let graph = dumbbell(count, &link(10.0, 1), &link(10.0, 1), &link(10.0, 1));
        let network = Diagram::from(&Topology::from(&graph));
        let page = page(&PageInput { network, ..PageInput::default() });
        assert_well_formed(&page);
        assert!(page.contains(&format!("<th>near{count}</th>")));
        page.contains("<rect")
    };
    assert!(drawn(4) && !drawn(50));
}

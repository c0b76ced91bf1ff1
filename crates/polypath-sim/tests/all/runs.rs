//! Whole scenarios: the shipped ones, what decides their results, and what cannot be run.

use crate::common::{golden_part, parallel};
use polypath_sim::run::{Dropped, Keep, Plan, RunError, RunReport};
use polypath_sim::scenario::Scenario;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The files of the shipped scenarios.
pub(crate) fn shipped() -> Vec<PathBuf> {
    let files: Vec<_> = ["", "presets"].into_iter().flat_map(shipped_in).collect();
    assert!(files.len() >= 12, "{files:?}");
    files
}

fn shipped_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|file| file.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

/// The results of these scenarios, to the last digit: in every build and on every machine.
pub(crate) fn results(files: &[PathBuf]) -> String {
    let rows = parallel(files, |file| {
        let plan = Plan::new(Scenario::load(file).unwrap()).unwrap();
        (file.clone(), plan.run(1, Keep::default(), &mut |_| {}).unwrap().report)
    });
    let mut text = String::new();
    for (file, report) in rows {
        let _ = writeln!(text, "{}", file.file_stem().unwrap().to_string_lossy());
        write_report(&mut text, &report);
    }
    text
}

fn write_report(text: &mut String, report: &RunReport) {
    let _ = writeln!(text, "  {} s, {} segments", report.sim_s, report.segments_delivered);
    for connection in &report.connections {
        let flows: Vec<_> = connection.flows.iter().map(|flow| &flow.observed).collect();
        let _ = writeln!(
            text,
            "  {} ({}): {} B, {} Mbit/s, benefit {:?}, {} B again, {} timeouts, {flows:?}",
            connection.name,
            connection.transport,
            connection.delivered_bytes,
            connection.goodput_mbit_s,
            connection.aggregation_benefit,
            connection.reinjected_bytes,
            connection.timeouts,
        );
        for path in &connection.paths {
            let _ = writeln!(text, "    {path:?}");
        }
        for rule in &connection.rules {
            let _ = writeln!(text, "    {rule:?}");
        }
    }
    let dropping = report.queues.iter().filter(|link| link.dropped_packets != Dropped::default());
    for link in dropping {
        let _ = writeln!(text, "  {} {}: {:?}", link.link, link.direction, link.dropped_packets);
    }
}

fn plan(text: &str) -> Result<Plan, RunError> {
    let scenario = Scenario::parse(text, Path::new("test.toml"), &mut |_| unreachable!())?;
    Plan::new(scenario)
}

fn run(text: &str) -> RunReport {
    plan(text).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap().report
}

/// The scenarios that take a short time; the [experiment](crate::experiments::runs) has all.
#[test]
fn every_shipped_scenario_gives_its_results() {
    let long = ["blockage", "mmwave_walk", "train", "vanishing_station"];
    let is_long = |file: &PathBuf| long.iter().any(|name| file.with_extension("").ends_with(name));
    let files: Vec<_> = shipped().into_iter().filter(|file| !is_long(file)).collect();
    golden_part("runs.txt", &results(&files));
}

/// Runs of other seeds before, beside and after a run leave it as it is.
#[test]
fn a_run_depends_on_its_seed_alone() {
    let plan = plan(LOSSY).unwrap();
    let report = |seed| plan.run(seed, Keep::default(), &mut |_| {}).unwrap().report;
    let alone = report(7);
    let seeds = [5, 7, 6, 7];
    let beside = parallel(&seeds, |&seed| report(seed));
    assert_eq!(beside[1], alone);
    assert_eq!(beside[3], alone);
    assert_ne!(beside[0].connections, alone.connections);
}

/// Two connections of the same rate, of which a third one that has not begun takes nothing.
#[test]
fn fairness_is_among_those_that_have_begun() {
    let connection = |name: &str, start: &str| {
        format!(
            r#"
            [[connection]]
            name = "{name}"
            transport = "udp"
            [[flow]]
            connection = "{name}"
            kind = "constant_rate"
            rate = "1 Mbit/s"
            start = "{start}"
            "#
        )
    };
    let path = "duration = \"3 s\"\n[[path]]\nname = \"a\"\nrate = \"20 Mbit/s\"\ndelay = \"1 ms\"";
    let index = |starts: &[&str]| {
        let connections =
            starts.iter().enumerate().map(|(n, start)| connection(&format!("c{n}"), start));
        run(&connections.fold(path.to_owned(), |text, other| text + &other)).jain_index
    };
    assert!((index(&["0 s", "1 s", "10 s"]).unwrap() - 1.0).abs() < 1e-3);
    assert_eq!(index(&["10 s"]), None);
}

/// Nanoseconds of TCP's smoothed round-trip time, as milliseconds, have six decimals at most.
#[test]
fn times_are_the_nearest_numbers_of_milliseconds() {
    let report = run(LOSSY);
    let paths = report.connections.iter().flat_map(|connection| &connection.paths);
    let sojourns = report.queues.iter().map(|queue| queue.sojourn_ms);
    let mut seen = 0;
    for ms in paths.map(|path| path.srtt_ms).chain(sojourns).flatten() {
        let text = ms.to_string();
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        assert!(decimals <= 6, "{text}");
        seen += 1;
    }
    assert_eq!(seen, 8);
}

const LOSSY: &str = r#"
duration = "3 s"
[[path]]
name = "a"
rate = "20 Mbit/s"
delay = "10 ms"
loss = 0.005
[[path]]
name = "b"
rate = "10 Mbit/s"
delay = "20 ms"
jitter = "2 ms"
[connection]
transport = "mptcp"
count = 2
[[flow]]
kind = "request_response"
response = { distribution = "exponential", mean = "200 kB" }
think = "50 ms"
"#;

/// A link of 40 Mbit/s up that is changed half-way; the mean after the change is what is left of
/// it. Payload is 1448 of 1500 bytes; CUBIC with a queue of one BDP keeps the link at 0.97 at
/// least.
#[test]
fn events_change_links() {
    let goodput = |event: &str| {
        let text = format!(
            r#"
            duration = "20 s"
            warm_up = "12 s"
            [[path]]
            name = "a"
            rate = "40 Mbit/s"
            delay = "10 ms"
            [connection]
            transport = "tcp"
            [[flow]]
            kind = "bulk"
            [[event]]
            at = "10 s"
            path = "a"
            {event}
            "#
        );
        run(&text).connections[0].up_mbit_s / (1_448.0 / 1_500.0)
    };
    let near = |event: &str, rate: f64| {
        let share = goodput(event) / rate;
        assert!((0.97..=1.001).contains(&share), "{event}: {share}");
    };
    near(r#"rate = "10 Mbit/s""#, 10.0);
    // The other direction carries acknowledgements alone.
    near("direction = \"down\"\nrate = \"10 Mbit/s\"", 40.0);
    near(r#"delay = "20 ms""#, 40.0);
    assert!(goodput("down = true") == 0.0);
    // Mathis: sqrt(1.5 / p) segments each RTT of 20 ms are 4.4 Mbit/s; CUBIC has somewhat more.
    let lossy = goodput("loss = 0.02");
    assert!((2.0..9.0).contains(&lossy), "{lossy}");
}

/// 1 MB each, the second only 2 s after the first: the run ends with the last of them.
#[test]
fn a_run_ends_with_its_flows() {
    let report = run(r#"
        [[path]]
        name = "a"
        rate = "80 Mbit/s"
        delay = "10 ms"
        [connection]
        transport = "tcp"
        count = 2
        stagger = "2 s"
        [[flow]]
        kind = "bulk"
        bytes = "1 MB"
        direction = "down"
        "#);
    let names: Vec<_> = report.connections.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["connection1#1", "connection1#2"]);
    for (connection, start) in report.connections.iter().zip([0.0, 2.0]) {
        assert_eq!(connection.delivered_bytes, 1_000_000);
        let flow = &connection.flows[0];
        let (began, ended) = (flow.start_s, flow.finished_s.unwrap());
        assert_eq!(began, start);
        let mean = 8.0 / (ended - began);
        assert!((connection.down_mbit_s / mean - 1.0).abs() < 1e-9, "{connection:?}");
        // Handshake and slow start from ten segments: 1 MB are 690 segments, seven round trips of
        // 20 ms, and 100 ms of serialisation at most.
        assert!((0.1..0.3).contains(&(ended - began)), "{began} {ended}");
    }
    let last = report.connections[1].flows[0].finished_s.unwrap();
    assert!((last..last + 0.011).contains(&report.sim_s), "{} {last}", report.sim_s);
}

/// A class of its own rides past a full queue; in the same class it waits there.
#[test]
fn classes_of_service_reach_the_queues() {
    let delay = |class: u8| {
        let text = format!(
            r#"
            duration = "5 s"
            [[path]]
            name = "a"
            rate = "10 Mbit/s"
            delay = "10 ms"
            queue = {{ kind = "priority", bands = ["100 packets", "100 packets"] }}
            [[connection]]
            name = "bulk"
            transport = "tcp"
            class = 1
            [[connection]]
            name = "calls"
            transport = "udp"
            class = {class}
            [[flow]]
            connection = "bulk"
            kind = "bulk"
            [[flow]]
            connection = "calls"
            kind = "constant_rate"
            rate = "100 kbit/s"
            packet = "200 B"
            "#
        );
        let report = run(&text);
        let flow = serde_json::to_value(&report.connections[1].flows[0]).unwrap();
        flow["delay_ms"]["p50"].as_f64().unwrap()
    };
    // Alone: 10 ms, 228 bytes at 10 Mbit/s, and up to one packet of 1500 bytes already in service.
    let first = delay(0);
    assert!((10.18..=11.4).contains(&first), "{first}");
    // Behind the queue of a window-limited TCP: at least a third of 100 packets of 1.2 ms.
    let last = delay(1);
    assert!(last >= 50.0, "{last}");
}

#[test]
fn what_cannot_run_is_told() {
    let error = |rest: &str| {
        let path = "[[path]]\nname = \"a\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n";
        plan(&format!("duration = \"1 s\"\n{path}{rest}")).map(drop).unwrap_err().to_string()
    };
    let bulk = "[[flow]]\nkind = \"bulk\"\n";
    let tcp = |key: &str| format!("[connection]\ntransport = \"tcp\"\n{key}\n{bulk}");
    assert_eq!(error(""), "the scenario has no [[flow]]: nothing would happen");
    assert_eq!(
        error(&format!("{bulk}{bulk}")),
        "flow 1 (from 0): connection \"connection1\" carries another flow in that direction; \
         give it a connection of its own"
    );
    assert_eq!(
        error(&tcp("congestion = \"renoo\"")),
        "test.toml:8: congestion: unknown congestion control \"renoo\"; allowed: balia, bbr, bbr3, brf, \
         cabe, cubic, lia, olia, polypath, reno, tustin, westwood, westwood_plus, wvegas"
    );
    assert_eq!(
        error(&format!("[connection]\nreceive_buffer_max = \"1 MB\"\n{bulk}")),
        "connection \"connection1\": a bond has a fixed `receive_buffer`; it does not grow"
    );
    assert_eq!(
        error(&format!("[connection]\ntransport = \"tunnel\"\nfailure = \"fpf\"\n{bulk}")),
        "connection \"connection1\": a tunnel knows nothing of its paths: it has no `failure` \
         detector"
    );
    let idle =
        "[[connection]]\nname = \"idle\"\ntransport = \"udp\"\n[[connection]]\nname = \"b\"\n";
    assert_eq!(
        error(&format!("{idle}{bulk}connection = \"b\"\n")),
        "connection \"idle\": a connection by UDP needs a flow"
    );
    assert_eq!(
        error(&format!("[connection]\ntransport = \"udp\"\n{bulk}")),
        "test.toml:8: flow: \"bulk\" has no rate of its own, which a flow of datagrams needs; \
         allowed are \"constant_rate\", and \"on_off\" with a `rate`"
    );
}

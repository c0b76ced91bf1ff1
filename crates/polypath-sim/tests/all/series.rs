//! Recorded time series, against the books of the run.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use polypath_link::{LinkConfig, Loss, QueueLimit, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{EndReport, MptcpEnd, TcpEnd, TcpSettings};
use polypath_sim::fabric::{Observer, Packet};
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::record::delay::DelayObserver;
use polypath_sim::record::series::{Column, Line, PathKey, Recorder, Recording, Table, Values};
use polypath_sim::record::{End, Subject};
use polypath_sim::scenario::{Record, Series};
use polypath_sim::topology::{Graph, Topology};
use polypath_sim::{Direction, PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

const QUEUE: u64 = 30;
/// No multiple of it is the end of the run.
const INTERVAL: Duration = Duration::from_millis(70);
const END: Timestamp = Timestamp::from_millis(3_000);
const SEED: RunSeed = RunSeed::new(7, 0);

struct Run {
    topology: Topology,
    simulator: Simulator,
    subject: Subject,
}

fn network() -> (Topology, Simulator) {
    let links = [("wifi", 20.0, 10, 0.005), ("lte", 10.0, 40, 0.0)];
    let links = links.map(|(name, mbit_s, ms, loss)| {
        let rate = Bandwidth::from_mbit_per_sec(mbit_s);
        let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
        link.queue = QueueLimit::Packets(QUEUE).into();
        link.loss = Loss::Bernoulli(loss);
        (name.to_owned(), PathLinks::symmetric(link))
    });
    let topology = Topology::from(&Graph::between_two_hosts(links));
    let simulator = Simulator::new(&topology, SEED).unwrap();
    (topology, simulator)
}

/// The server sends without end over both paths.
fn mptcp() -> Run {
    let (topology, mut simulator) = network();
    let (client, server) = topology.pairs()[0];
    let routes = topology.routes(client, server);
    let (config, start) = (MptcpConfig::default(), Timestamp::from_millis(100));
    let both = [false, false];
    let ends = MptcpEnd::connect(&mut simulator, &topology, &routes, &both, &config, start);
    simulator.add_application(Box::new(Bulk::new(ends.1, ends.0, None, start)));
    let subject = Subject { name: "multi".to_owned(), ends: [ends.0, ends.1] };
    Run { topology, simulator, subject }
}

/// Both ends send, the server less.
fn tcp() -> Run {
    let (topology, mut simulator) = network();
    let (client, server) = topology.pairs()[0];
    let route = topology.route(client, server).unwrap();
    let settings = TcpSettings::default();
    let ends = TcpEnd::connect(&mut simulator, &topology, &route, &settings, Timestamp::ZERO);
    let later = Timestamp::from_millis(500);
    simulator.add_application(Box::new(Bulk::new(ends.0, ends.1, None, Timestamp::ZERO)));
    simulator.add_application(Box::new(Bulk::new(ends.1, ends.0, Some(100_000), later)));
    let subject = Subject { name: "single".to_owned(), ends: [ends.0, ends.1] };
    Run { topology, simulator, subject }
}

fn record(series: &[Series]) -> Record {
    let series = series.to_vec();
    Record { series, interval: INTERVAL, events: false, pcapng: false, qlog: false }
}

impl Run {
    fn reports(&self) -> [EndReport; 2] {
        self.subject.ends.map(|end| self.simulator.report(end))
    }

    /// Runs it to its end and records.
    fn recorded(&mut self, series: &[Series]) -> Recording {
        let subjects = vec![self.subject.clone()];
        let mut recorder = Recorder::new(&record(series), subjects, &self.topology);
        while recorder.next_due() < END {
            self.simulator.run_until(recorder.next_due());
            recorder.sample(&self.simulator);
        }
        self.simulator.run_until(END);
        recorder.sample(&self.simulator);
        recorder.finish()
    }
}

/// The bytes of rates in bit/s, each rounded: a rate is `bytes * 8 / seconds` within a few times
/// 2^-53 of it, and there are far fewer than 2^50 bytes, so that each comes out exactly.
fn bytes(recording: &Recording, rates: &Column) -> u64 {
    let starts = [Timestamp::ZERO].into_iter().chain(recording.times.iter().copied());
    let lengths = starts.zip(&recording.times).map(|(from, to)| to.since(from).as_secs_f64());
    lengths
        .zip(rates.iter())
        .map(|(length, rate)| (rate.unwrap() * length / 8.0).round() as u64)
        .sum()
}

fn column<'a, K>(line: &'a Line<K>, name: &str) -> &'a Column {
    line.column(name).unwrap()
}

/// Rates and differences add up to what the ends report after the run.
fn check_sums(mut run: Run, senders: &[End]) {
    let recording = run.recorded(Series::ALL);
    let reports = run.reports();
    let of = |end| match end {
        End::Client => &reports[0],
        End::Server => &reports[1],
    };
    assert_eq!(recording.times.last(), Some(&END));
    assert_eq!(recording.times.len(), 43, "42 whole intervals and one of 60 ms");
    let ends: Vec<_> = recording.connections.lines.iter().map(|line| line.key.end).collect();
    assert_eq!(ends, senders);
    for line in &recording.connections.lines {
        let delivered = of(line.key.end.other()).delivered;
        assert!(delivered > 0);
        assert_eq!(bytes(&recording, column(line, "goodput")), delivered);
    }
    let paths: usize = senders.iter().map(|&end| of(end).paths.len()).sum();
    assert_eq!(recording.paths.lines.len(), paths);
    for line in &recording.paths.lines {
        let report = &of(line.key.end).paths[usize::from(line.key.path_id)];
        assert_eq!(line.key.path, report.name);
        assert_eq!(bytes(&recording, column(line, "throughput")), report.sent_bytes);
        let losses: f64 = column(line, "losses").iter().map(Option::unwrap).sum();
        assert_eq!(losses, report.lost as f64);
        let last = |name: &str| column(line, name).iter().last().unwrap();
        assert_eq!(last("cwnd"), Some(report.cwnd as f64));
        assert_eq!(last("in_flight"), Some(report.in_flight as f64));
        assert_eq!(last("ssthresh"), report.ssthresh.map(|bytes| bytes as f64));
        assert_eq!(last("srtt"), report.srtt.map(|srtt| srtt.as_secs_f64()));
    }
}

#[test]
fn sums_over_mptcp_are_exact() {
    check_sums(mptcp(), &[End::Server]);
}

#[test]
fn sums_over_tcp_are_exact_for_both_ends() {
    check_sums(tcp(), &[End::Client, End::Server]);
}

/// The queue of the link that data takes fills, and neither it nor any other is ever longer than
/// its limit and the packet in service; `loss` of the first path makes for less than that there.
#[test]
fn queues_stay_within_their_limits() {
    let recording = mptcp().recorded(&[Series::Queue]);
    assert!(recording.paths == Table::default() && recording.connections == Table::default());
    let most = |line: &Line<_>| column(line, "queue_packets").iter().flatten().fold(0.0, f64::max);
    for line in &recording.links.lines {
        let (packets, data) = (column(line, "queue_packets"), column(line, "queue"));
        assert!(most(line) <= (QUEUE + 1) as f64, "{:?}: {}", line.key, most(line));
        let pairs = packets.iter().flatten().zip(data.iter().flatten());
        pairs.for_each(|(packets, bytes)| assert!(bytes <= packets * 1_500.0 && bytes >= packets));
    }
    let names = recording.links.lines.iter().map(|line| (&*line.key.link, line.key.direction));
    let expected = ["wifi", "lte"].map(|n| [(n, Direction::Up), (n, Direction::Down)]);
    assert_eq!(names.collect::<Vec<_>>(), expected.as_flattened());
    assert!(most(&recording.links.lines[3]) > QUEUE as f64 / 2.0);
}

#[test]
fn recording_does_not_change_the_run() {
    for build in [mptcp, tcp] {
        let (mut with, mut without) = (build(), build());
        with.simulator.fabric_mut().observe(Box::new(DelayObserver::new(&[with.subject.clone()])));
        with.recorded(Series::ALL);
        without.simulator.run_until(END);
        assert_eq!(with.reports(), without.reports());
    }
}

#[test]
fn nothing_is_recorded_that_nobody_asked_for() {
    let mut run = mptcp();
    let mut idle = Recorder::new(&record(&[]), vec![run.subject.clone()], &run.topology);
    assert_eq!(idle.next_due(), Timestamp::MAX);
    run.simulator.run_until(END);
    idle.sample(&run.simulator);
    assert_eq!(idle.finish(), Recording::default());
    let recording = mptcp().recorded(&[Series::Srtt]);
    let names: Vec<_> = recording.paths.quantities.iter().map(|quantity| quantity.name).collect();
    assert_eq!(names, ["srtt"]);
    assert!(recording.links == Table::default());
}

/// There is no value before there is one: no smoothed round-trip time at 70 ms, before the
/// connection begins.
#[test]
fn values_that_are_not_there_yet_are_null() {
    let recording = mptcp().recorded(Series::ALL);
    for line in &recording.paths.lines {
        assert_eq!(column(line, "srtt").get(0), None);
        assert_eq!(column(line, "throughput").get(0), Some(0.0));
        assert!(column(line, "srtt").iter().last().unwrap().is_some());
    }
}

/// A directory of this test, empty.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory).unwrap();
    }
    directory
}

/// The rows of a file, and the batch of all of them.
fn read(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
    let value = |key: &str| metadata.iter().find(|pair| pair.key == key).unwrap().value.clone();
    assert_eq!(value("seed").as_deref(), Some("7"));
    let reader = reader.with_batch_size(1 << 20).build().unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1);
    batches[0].clone()
}

fn names(batch: &RecordBatch, column: &str) -> Vec<String> {
    let array = batch.column_by_name(column).unwrap().as_any_dictionary();
    let values = array.values().as_string::<i32>();
    array.normalized_keys().into_iter().map(|key| values.value(key).to_owned()).collect()
}

/// The quantities of a file are those of the recording, with their units.
fn check_quantities<K>(batch: &RecordBatch, recording: &Recording, table: &Table<K>) {
    let rows = recording.times.len();
    assert_eq!(batch.num_rows(), rows * table.lines.len());
    let times = batch.column_by_name("time").unwrap().as_primitive::<Float64Type>();
    for (number, line) in table.lines.iter().enumerate() {
        for (row, at) in recording.times.iter().enumerate() {
            assert_eq!(times.value(number * rows + row), at.as_secs_f64());
        }
        for Column { quantity, values } in &line.columns {
            let field = batch.schema().field_with_name(quantity.name).unwrap().clone();
            let metadata = |key: &str| field.metadata().get(key).map(ToString::to_string);
            assert_eq!(metadata("unit").as_deref(), Some(quantity.unit.symbol()));
            assert_eq!(metadata("description").as_deref(), Some(quantity.description));
            let array = batch.column_by_name(quantity.name).unwrap().slice(number * rows, rows);
            match values {
                Values::Counts(counts) => {
                    let read = array.as_primitive::<UInt64Type>().iter().collect::<Vec<_>>();
                    assert_eq!(&read, counts, "{}", quantity.name);
                }
                Values::Numbers(numbers) => {
                    let read = array.as_primitive::<Float64Type>().iter().collect::<Vec<_>>();
                    assert_eq!(&read, numbers, "{}", quantity.name);
                }
            }
        }
    }
}

#[test]
fn files_read_back_as_they_were_recorded() {
    let recording = mptcp().recorded(Series::ALL);
    let out = directory("read_back");
    let files = recording.write(&out, SEED.seed).unwrap();
    let run = out.join("seed=7");
    let expected = ["paths", "connections", "links"].map(|t| run.join(format!("{t}.parquet")));
    assert_eq!(files, expected);
    let [paths, connections, links] = expected.map(|path| read(&path));
    check_quantities(&paths, &recording, &recording.paths);
    check_quantities(&connections, &recording, &recording.connections);
    check_quantities(&links, &recording, &recording.links);
    let rows = recording.times.len();
    assert_eq!(names(&paths, "path"), [vec!["wifi"; rows], vec!["lte"; rows]].concat());
    assert_eq!(names(&paths, "connection"), vec!["multi"; 2 * rows]);
    assert_eq!(names(&paths, "end"), vec!["server"; 2 * rows]);
    let ids = paths.column_by_name("path_id").unwrap().as_primitive::<UInt8Type>();
    assert_eq!((ids.value(0), ids.value(rows)), (0, 1));
    let directions = [vec!["up"; rows], vec!["down"; rows]].concat();
    assert_eq!(names(&links, "direction"), [directions.clone(), directions].concat());
    let unit =
        paths.schema().field_with_name("time").unwrap().metadata().get("unit").unwrap().to_string();
    assert_eq!(unit, "s");
}

#[test]
fn equal_runs_give_equal_files_and_only_of_what_was_asked() {
    let out = directory("equal");
    let write = |name: &str| {
        let recording = tcp().recorded(&[Series::Cwnd, Series::Throughput]);
        let files = recording.write(&out.join(name), SEED.seed).unwrap();
        assert_eq!(files.len(), 1, "{files:?}");
        std::fs::read(&files[0]).unwrap()
    };
    assert!(write("a") == write("b"));
}

#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let out = directory("in_the_way");
    std::fs::create_dir_all(&out).unwrap();
    std::fs::write(out.join("seed=7"), "a file").unwrap();
    let error = mptcp().recorded(&[Series::Queue]).write(&out, SEED.seed).unwrap_err().to_string();
    let place = out.join("seed=7").join("links.parquet");
    assert!(error.starts_with(&format!("cannot write {}: ", place.display())), "{error}");
}

/// Every delay of the packets to the client.
#[derive(Debug, Default)]
struct All([Vec<Duration>; 2]);

impl Observer for All {
    fn on_delivered(&mut self, now: Timestamp, packet: &Packet, sent_at: Timestamp) {
        if packet.to.0 == 0 {
            self.0[usize::from(packet.path)].push(now.since(sent_at));
        }
    }
}

/// Quantiles are those of the sorted delays or up to 1/64 above, and no packet is faster than
/// light: 10 ms on the first path, 40 ms on the second.
#[test]
fn delays_are_those_of_the_packets() {
    let mut run = mptcp();
    let subjects = [run.subject.clone()];
    run.simulator.fabric_mut().observe(Box::new(DelayObserver::new(&subjects)));
    run.simulator.fabric_mut().observe(Box::new(All::default()));
    run.simulator.run_until(END);
    let observer = run.simulator.fabric_mut().take_observer::<DelayObserver>().unwrap();
    let delays = observer.finish(&run.simulator);
    let All(mut all) = run.simulator.fabric_mut().take_observer().unwrap();
    let key = |path: &str, path_id| PathKey {
        connection: "multi".to_owned(),
        end: End::Server,
        path: path.to_owned(),
        path_id,
    };
    let keys: Vec<_> = delays.iter().map(|delay| delay.key.clone()).collect();
    assert_eq!(keys, [key("wifi", 0), key("lte", 1)]);
    for ((delay, all), ms) in delays.iter().zip(&mut all).zip([10, 40]) {
        all.sort_unstable();
        let histogram = &delay.delays;
        assert_eq!(histogram.count(), all.len() as u64);
        assert!(all.len() > 1_000 && histogram.minimum().unwrap() > Duration::from_millis(ms));
        for q in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
            let exact = all[((q * all.len() as f64).ceil() as usize).max(1) - 1];
            let got = histogram.quantile(q).unwrap();
            assert!(got.abs_diff(exact) <= exact / 128, "{q}: {got:?} for {exact:?}");
        }
    }
}

#[test]
fn the_columns_are_in_the_book() {
    let book = include_str!("../../../../docs/series.md");
    let recording = mptcp().recorded(Series::ALL);
    let Recording { paths, connections, links, .. } = recording;
    for (file, quantities) in [
        ("paths", paths.quantities),
        ("connections", connections.quantities),
        ("links", links.quantities),
    ] {
        assert!(!quantities.is_empty());
        for quantity in quantities {
            let row = format!("| {file} | `{}` | {} |", quantity.name, quantity.unit.symbol());
            assert!(book.contains(&row), "{row}");
        }
    }
}

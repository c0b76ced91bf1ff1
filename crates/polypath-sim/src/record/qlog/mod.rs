//! qlog files of connections, which qvis opens.
//!
//! One file for each path at each end: a path is what QUIC calls a connection, with packet numbers
//! and a window of its own, and views of congestion show one. docs/recording.md says how
//! TCP becomes packet numbers.

mod event;
mod exchange;
mod trace;

use super::Subject;
use super::files::path_of;
use crate::endpoint::LogEntry;
use crate::fabric::{Body, Observer, Packet};
use crate::record;
use crate::simulator::Simulator;
use crate::tcp::LogDetail;
use exchange::Exchange;
use polypath_units::Timestamp;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use trace::Trace;

/// A qlog file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}", path = path.display())]
pub struct QlogError {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Notes packets while a simulation runs: about 100 bytes for each, in memory until it is finished.
/// The ends' logs take 200 more.
#[derive(Debug)]
pub struct Qlog {
    subjects: Vec<Subject>,
    /// The paths of each connection.
    exchanges: Vec<Vec<Exchange>>,
    /// The connection of each endpoint and which end of it that is, by the endpoint's number.
    ends: Vec<Option<(usize, usize)>>,
}

impl Qlog {
    /// Notes the packets of these connections from now on, and lets their ends keep logs; to be
    /// called before they connect.
    pub fn attach(simulator: &mut Simulator, subjects: &[Subject]) {
        let last = subjects.iter().flat_map(|subject| subject.ends).max();
        let mut ends = vec![None; last.map_or(0, |last| last.index() + 1)];
        for (connection, subject) in subjects.iter().enumerate() {
            for (side, end) in subject.ends.into_iter().enumerate() {
                simulator.keep_log(end, LogDetail::Segments);
                ends[end.index()] = Some((connection, side));
            }
        }
        let exchanges = subjects.iter().map(|_| Vec::new()).collect();
        let qlog = Self { subjects: subjects.to_vec(), exchanges, ends };
        simulator.fabric_mut().observe(Box::new(qlog));
    }

    /// Ends what was attached first, and writes the files `NAME.client.N-PATH.sqlog` and
    /// `NAME.server.N-PATH.sqlog` for each path, numbered from 1, into an existing directory;
    /// without `N-PATH` if the connection has a single one. Datagrams without acknowledgements have
    /// no files. Returns them; none if nothing was attached.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn finish(simulator: &mut Simulator, directory: &Path) -> Result<Vec<PathBuf>, QlogError> {
        let Some(qlog) = simulator.fabric_mut().take_observer::<Self>() else {
            return Ok(Vec::new());
        };
        let mut files = Vec::new();
        for (subject, exchanges) in qlog.subjects.iter().zip(&qlog.exchanges) {
            for side in [0, 1] {
                let logs = simulator.log(subject.ends[side]);
                let paths = simulator.report(subject.ends[side]).paths;
                let used = exchanges.iter().enumerate().filter(|(_, path)| !path.is_empty());
                for (number, exchange) in used {
                    let name = paths.get(number).map_or("", |path| &path.name);
                    let end = End { subject, side, number, name, is_only: exchanges.len() == 1 };
                    let log = logs.iter().filter(|entry| entry.path.index() == number);
                    let log: Vec<_> = log.collect();
                    files.push(end.write(directory, exchange, &log)?);
                }
            }
        }
        Ok(files)
    }

    /// The path that a packet of a known connection takes, and the side of its receiver.
    fn find(&mut self, packet: &Packet) -> Option<(&mut Exchange, usize)> {
        let (connection, to) = self.ends.get(packet.to.index()).copied().flatten()?;
        let path = match packet.body {
            Body::Tunnelled { .. } => 0,
            _ => usize::from(packet.path),
        };
        let paths = &mut self.exchanges[connection];
        if paths.len() <= path {
            paths.resize_with(path + 1, Exchange::default);
        }
        Some((&mut paths[path], to))
    }
}

impl Observer for Qlog {
    fn on_sent(&mut self, now: Timestamp, packet: &Packet) {
        if let Some((exchange, to)) = self.find(packet) {
            exchange.on_sent(1 - to, packet, now);
        }
    }

    fn on_delivered(&mut self, now: Timestamp, packet: &Packet, sent_at: Timestamp) {
        if let Some((exchange, to)) = self.find(packet) {
            exchange.on_delivered(1 - to, packet, now, sent_at);
        }
    }
}

/// One end of a path, to be written.
#[derive(Clone, Copy, Debug)]
struct End<'a> {
    subject: &'a Subject,
    side: usize,
    /// The path's number and name.
    number: usize,
    name: &'a str,
    /// Whether the connection has no other path.
    is_only: bool,
}

impl End<'_> {
    fn write(
        self,
        directory: &Path,
        exchange: &Exchange,
        log: &[&LogEntry],
    ) -> Result<PathBuf, QlogError> {
        let end = record::End::BOTH[self.side].name();
        let path = if self.is_only {
            path_of(directory, self.subject, &[end, "sqlog"])
        } else {
            // Names need not be unique: paths may begin with the same link.
            let part = format!("{}-{}", self.number + 1, self.name);
            path_of(directory, self.subject, &[end, &part, "sqlog"])
        };
        let write = || {
            let out = BufWriter::new(File::create(&path)?);
            Trace::new(out, &self.header())?.write(exchange, self.side, log)
        };
        match write() {
            Ok(()) => Ok(path),
            Err(error) => Err(QlogError { path, error }),
        }
    }

    /// The first record of the file (draft-ietf-quic-qlog-main-schema). Times count milliseconds
    /// from the beginning of the simulation.
    fn header(self) -> Value {
        let end = record::End::BOTH[self.side].name();
        json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": self.subject.name,
            "description": "a simulated connection; packet numbers are the order of sending",
            "trace": {
                "title": format!("{} at the {end}, path {}", self.subject.name, self.name),
                "vantage_point": { "name": end, "type": end },
                "common_fields": { "time_format": "relative", "reference_time": 0 },
            },
        })
    }
}

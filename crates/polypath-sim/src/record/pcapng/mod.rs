//! Packet captures with real headers, as tcpdump on the hosts would write them.
//!
//! Each end of each connection has a file of its own, with an interface for each of its paths: it
//! holds what that end sent and what came to it. In one file for both ends every packet would
//! stand twice, and whoever follows a connection would take the second for a retransmission.

mod blocks;
mod body;
mod conversation;
mod ip;
mod keys;
mod mptcp;
mod tcp;

pub use ip::EncodeError;

use super::End;
use super::Subject;
use super::files::path_of;
use crate::fabric::{Body, EndpointId, Observer, Packet};
use crate::simulator::Simulator;
use blocks::{CaptureFile, Direction};
use conversation::Conversation;
use core::num::NonZeroU32;
use polypath_units::Timestamp;
use std::io;
use std::path::{Path, PathBuf};

/// Why a capture cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A file cannot be written.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A packet cannot be expressed.
    #[error("{path}, packet sent at {sent_at}: {error}", path = path.display())]
    Packet {
        /// The capture that it belongs to.
        path: PathBuf,
        /// When it was sent.
        sent_at: Timestamp,
        /// Why.
        error: EncodeError,
    },
}

/// Captures packets while a simulation runs; it holds at most 64 KiB of each file in memory.
#[derive(Debug)]
pub struct Capture {
    connections: Vec<Connection>,
    /// The connection of each endpoint and which end of it that is, by the endpoint's number.
    ends: Vec<Option<(usize, usize)>>,
    /// The packet that is being written.
    packet: Vec<u8>,
    /// The first that went wrong; nothing is written after it.
    error: Option<CaptureError>,
}

#[derive(Debug)]
struct Connection {
    conversation: Conversation,
    /// One for each end.
    files: [CaptureFile; 2],
    /// What its paths are called.
    paths: Vec<String>,
}

impl Capture {
    /// Bytes of a packet that hold all headers that there can be, those of a tunnel included.
    pub const HEADERS: NonZeroU32 = NonZeroU32::new(128).unwrap();

    /// Captures the packets of these connections from now on, in the files `NAME.client.pcapng` and
    /// `NAME.server.pcapng` of an existing directory; the client is the end that opens the
    /// connection. `snap` says how many bytes of each packet are kept; `None`: all.
    ///
    /// # Errors
    /// When a file cannot be created.
    pub fn attach(
        simulator: &mut Simulator,
        subjects: &[Subject],
        directory: &Path,
        snap: Option<NonZeroU32>,
    ) -> Result<(), CaptureError> {
        let mut capture =
            Self { connections: Vec::new(), ends: Vec::new(), packet: Vec::new(), error: None };
        for subject in subjects {
            let create = |side: usize| {
                let path = path_of(directory, subject, &[End::BOTH[side].name(), "pcapng"]);
                let file = CaptureFile::create(path.clone(), snap.map_or(0, NonZeroU32::get));
                file.map_err(|error| CaptureError::File { path, error })
            };
            let paths = simulator.report(subject.ends[0]).paths;
            let connection = Connection {
                conversation: Conversation::new(subject.ends),
                files: [create(0)?, create(1)?],
                paths: paths.into_iter().map(|path| path.name).collect(),
            };
            capture.add(subject.ends, connection);
        }
        simulator.fabric_mut().observe(Box::new(capture));
        Ok(())
    }

    /// Ends the capture that was attached first, and writes what is left of it. Returns the files;
    /// none if nothing was attached.
    ///
    /// # Errors
    /// The first thing that went wrong during the run or now.
    pub fn finish(simulator: &mut Simulator) -> Result<Vec<PathBuf>, CaptureError> {
        let Some(capture) = simulator.fabric_mut().take_observer::<Self>() else {
            return Ok(Vec::new());
        };
        let (mut paths, mut error) = (Vec::new(), capture.error);
        for mut file in capture.connections.into_iter().flat_map(|c| c.files) {
            if let Err(source) = file.flush() {
                error.get_or_insert(file_error(&file, source));
            }
            paths.push(file.path().to_owned());
        }
        error.map_or(Ok(paths), Err)
    }

    fn add(&mut self, ends: [EndpointId; 2], connection: Connection) {
        for (side, end) in ends.into_iter().enumerate() {
            if self.ends.len() <= end.index() {
                self.ends.resize(end.index() + 1, None);
            }
            self.ends[end.index()] = Some((self.connections.len(), side));
        }
        self.connections.push(connection);
    }

    /// The connection that a packet belongs to, and its receiver's side.
    fn find(&self, packet: &Packet) -> Option<(usize, usize)> {
        let known = self.ends.get(packet.to.index()).copied().flatten();
        known.filter(|_| self.error.is_none())
    }

    /// Writes a packet to the file of end `at`.
    fn write(&mut self, packet: &Packet, pass: &Pass) {
        let connection = &mut self.connections[pass.connection];
        if let Err(error) = connection.write(packet, pass, &mut self.packet) {
            self.error = Some(error);
        }
    }
}

/// A packet passes an end.
#[derive(Debug)]
struct Pass {
    connection: usize,
    /// Which end.
    at: usize,
    direction: Direction,
    sent_at: Timestamp,
    now: Timestamp,
}

impl Connection {
    fn write(
        &mut self,
        packet: &Packet,
        pass: &Pass,
        bytes: &mut Vec<u8>,
    ) -> Result<(), CaptureError> {
        let file = &mut self.files[pass.at];
        let sent_at = pass.sent_at;
        let from = if pass.direction == Direction::Outbound { pass.at } else { 1 - pass.at };
        bytes.clear();
        let len =
            body::encode(packet, &self.conversation, from, sent_at, bytes).map_err(|error| {
                CaptureError::Packet { path: file.path().to_owned(), sent_at, error }
            })?;
        let interface = u32::from(packet.path);
        while file.interfaces() <= interface {
            file.add_interface(&interface_name(&self.paths, file.interfaces() as usize, packet));
        }
        file.add_packet(pass.now, interface, pass.direction, bytes, len)
            .map_err(|error| file_error(file, error))
    }
}

impl Observer for Capture {
    fn on_sent(&mut self, now: Timestamp, packet: &Packet) {
        let Some((connection, to)) = self.find(packet) else { return };
        let from = 1 - to;
        if let Body::Segment(segment) | Body::Tunnelled { segment, .. } = &packet.body {
            let path = subflow(packet);
            self.connections[connection].conversation.on_sent(from, path, segment);
        }
        let pass = Pass { connection, at: from, direction: Direction::Outbound, sent_at: now, now };
        self.write(packet, &pass);
    }

    fn on_delivered(&mut self, now: Timestamp, packet: &Packet, sent_at: Timestamp) {
        let Some((connection, to)) = self.find(packet) else { return };
        if let Body::Segment(segment) | Body::Tunnelled { segment, .. } = &packet.body {
            let path = subflow(packet);
            self.connections[connection].conversation.on_delivered(1 - to, path, segment, now);
        }
        let pass = Pass { connection, at: to, direction: Direction::Inbound, sent_at, now };
        self.write(packet, &pass);
    }
}

/// The TCP connection of a packet: one for each path, but one for all ways of a tunnel.
const fn subflow(packet: &Packet) -> u8 {
    match packet.body {
        Body::Tunnelled { .. } => 0,
        _ => packet.path,
    }
}

/// The interface of a path is called as the path is; those of a tunnel, which is one path of its
/// connection, are numbered.
fn interface_name(paths: &[String], index: usize, packet: &Packet) -> String {
    let is_tunnelled = matches!(packet.body, Body::Tunnelled { .. });
    match paths.get(index).filter(|name| !name.is_empty() && !is_tunnelled) {
        Some(name) => name.clone(),
        None if is_tunnelled => format!("tunnel{}", index + 1),
        None => format!("path{}", index + 1),
    }
}

fn file_error(file: &CaptureFile, error: io::Error) -> CaptureError {
    CaptureError::File { path: file.path().to_owned(), error }
}

//! The services of the package, started in a root as their units say.

use std::fs::{self, File};
use std::path::PathBuf;

use super::root::Root;
use super::unit::Unit;
use crate::namespace::Namespace;
use crate::process::{Process, nth_line};

pub(super) struct Service {
    process: Process,
    log: String,
    /// Its folders that its manager removes when it has ended.
    passing: Vec<PathBuf>,
}

impl Service {
    /// One that has told its manager that it is ready.
    fn start(root: &Root, network: &Namespace, unit: &str, instance: &str) -> Self {
        let log = root.path().join("var/log").join(unit);
        let unit = Unit::read(root, unit, instance);
        let manager = root.notify_socket();
        let mut command = unit.command(root, network);
        command.stderr(File::create(&log).unwrap());
        let process = Process::spawn(command);
        let mut said = [0; 16];
        let length = manager.recv(&mut said).unwrap();
        assert_eq!(&said[..length], b"READY=1", "what a unit of Type=notify is waited for");
        let passing = unit.passing_folders().map(|folder| root.path().join(folder)).collect();
        Self { process, log: log.display().to_string(), passing }
    }

    /// A hub, and its join string.
    pub(super) fn hub(root: &Root, network: &Namespace) -> (Self, String) {
        let hub = Self::start(root, network, "polypath-hub.service", "");
        let join = hub.process.line();
        (hub, join)
    }

    /// An edge with a path that has joined.
    pub(super) fn edge(root: &Root, network: &Namespace) -> Self {
        let edge = Self::start(root, network, "polypath-edge@.service", "edge");
        while edge.process.line() != "joined" {}
        edge
    }

    /// Waits until it has logged this.
    pub(super) fn log_line(&self, what: &str) {
        nth_line(&self.log, 1, what);
    }

    pub(super) fn stop(&self) {
        assert_eq!(self.process.stop().code(), Some(0));
        self.has_ended();
    }

    /// Without letting it do anything about it.
    pub(super) fn kill(&self) {
        self.process.signal("KILL");
        self.process.wait();
        self.has_ended();
    }

    fn has_ended(&self) {
        for folder in &self.passing {
            // Another service may have had the same, and may have ended.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

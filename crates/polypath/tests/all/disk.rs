//! A small disk for an inbox, which can be full.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use crate::process::Process;
use crate::world::World;

/// A file system of its own in memory, mounted where only the processes see it that are started
/// with [`Disk::runner`]. It is gone when the process that holds it ends, which it does with its
/// input, so that nothing is left behind of a test that was killed.
pub(crate) struct Disk {
    _holder: Process,
    folder: String,
    /// Where the test sees it.
    seen: String,
    enter: String,
}

impl Disk {
    /// A disk for a test, unless none can be had here: that is told then.
    #[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
    pub(crate) fn new(test: &str, world: &World, megabytes: u32) -> Option<Self> {
        let folder = world.path("disk");
        fs::create_dir(&folder).unwrap();
        let size = format!("size={megabytes}m");
        let mount = |then: &str| {
            let script = format!("mount -t tmpfs -o {size} tmpfs \"$0\" && {then}");
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", &script, &folder]);
            command
        };
        if !mount("true").output().is_ok_and(|output| output.status.success()) {
            println!("skipped: {test}: no permission to mount a file system");
            return None;
        }
        let mut holder = mount("echo there && read end");
        holder.stdin(Stdio::piped());
        let holder = Process::spawn(holder);
        assert_eq!(holder.line(), "there");
        let process = format!("/proc/{}", holder.id());
        let seen = format!("{process}/root{folder}");
        Some(Self { _holder: holder, folder, seen, enter: format!("--mount={process}/ns/mnt") })
    }

    /// What starts a process that sees the disk.
    pub(crate) fn runner(&self) -> [&str; 2] {
        ["nsenter", &self.enter]
    }

    /// Where processes find this file that see the disk.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// Where the test finds it.
    pub(crate) fn seen(&self, name: &str) -> String {
        format!("{}/{name}", self.seen)
    }

    /// Takes all the room there is.
    pub(crate) fn fill(&self) {
        let mut filler = File::create(self.seen("filler")).unwrap();
        let error = loop {
            if let Err(error) = filler.write_all(&[7; 4_096]) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    }

    /// Gives it back.
    pub(crate) fn free(&self) {
        fs::remove_file(self.seen("filler")).unwrap();
    }
}

//! A scenario, the emulator that runs it, and what that leaves.

use std::fs::{self, File};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use polypath_emulator::netns;
use polypath_emulator::realtime::rest;

use crate::process::Process;

/// Two links, 100 and 50 Mbit/s, with 10 and 40 ms each way.
pub(crate) const TWO_LINKS: &str = r#"
[[path]]
name = "fast"
rate = "100 Mbit/s"
delay = "10 ms"
queue = "1 bdp"
[[path]]
name = "slow"
rate = "50 Mbit/s"
delay = "40 ms"
queue = "1 bdp"
"#;

/// Tests that measure rates have the machine to themselves, as far as this program goes.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing that matters to the next.
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with a scenario, and a prefix that no other test has.
pub(crate) struct Lab {
    folder: tempfile::TempDir,
    pub(crate) prefix: String,
    pub(crate) scenario: String,
}

impl Lab {
    /// For a test, unless namespaces cannot be made here: that is told then.
    pub(crate) fn new(test: &str, scenario: &str) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("emulate_{}_{count}", std::process::id());
        if !is_permitted(test, &format!("{prefix}-probe")) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut lab = Self { folder, prefix, scenario: String::new() };
        lab.scenario = lab.file("scenario.toml", scenario);
        Some(lab)
    }

    /// For a test without a scenario that sets a gateway; `None` where that cannot be, which is
    /// told.
    #[allow(clippy::print_stdout, reason = "a skipped test says so")]
    pub(crate) fn for_gateway(test: &str) -> Option<Self> {
        let nft = Command::new("nft").arg("--version").output();
        if !nft.is_ok_and(|output| output.status.success()) {
            println!("skipped: {test}: the program nft is not there");
            return None;
        }
        Self::new(test, "")
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The emulator of the scenario.
    pub(crate) fn emulate(&self, more: &[&str]) -> Command {
        let mut command = polypath(&["emulate", &self.scenario, "--netns", &self.prefix]);
        command.args(more);
        command
    }

    /// The emulator, whose standard error goes to a file.
    pub(crate) fn spawn(&self, more: &[&str]) -> Process {
        let mut command = self.emulate(more);
        command.stderr(File::create(self.path("log")).unwrap());
        Process::spawn(command)
    }

    /// The emulator, once the network is there.
    pub(crate) fn running(&self, more: &[&str]) -> Process {
        let emulator = self.spawn(more);
        while !emulator.line().starts_with("A shell in one: ") {}
        emulator
    }

    pub(crate) fn clean(&self) -> Output {
        polypath(&["emulate", "--clean", &self.prefix]).output().unwrap()
    }

    pub(crate) fn namespace(&self, node: &str) -> String {
        format!("{}-{node}", self.prefix)
    }

    /// A program in a node.
    pub(crate) fn inside(&self, node: &str, program: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(node)]).args(program);
        command
    }

    /// Does something in a thread in a node.
    pub(crate) fn within<T: Send>(&self, node: &str, act: impl FnOnce() -> T + Send) -> T {
        let enter = || {
            netns::enter(&self.namespace(node)).unwrap();
            act()
        };
        std::thread::scope(|scope| scope.spawn(enter).join().unwrap())
    }

    /// Nothing that the emulator has made is there: no namespace, state file or device.
    pub(crate) fn assert_empty(&self) {
        for folder in ["/run/netns", "/run/polypath"] {
            let found: Vec<_> = fs::read_dir(folder)
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| name.strip_prefix(&self.prefix).is_some_and(is_of_prefix))
                .collect();
            assert!(found.is_empty(), "{folder}: {found:?}");
        }
        let devices = Command::new("ip").args(["-o", "link"]).output().unwrap();
        let devices = String::from_utf8(devices.stdout).unwrap();
        let ours = ["fast", "slow", "w1a", "w1b", "w2a", "w2b"];
        let found = ours.iter().find(|name| devices.contains(&format!(": {name}@")));
        assert_eq!(found, None, "{devices}");
    }
}

/// Whatever a failed test has left goes.
impl Drop for Lab {
    fn drop(&mut self) {
        self.clean();
    }
}

/// What follows the prefix in the name of a namespace or of a state file.
fn is_of_prefix(rest: &str) -> bool {
    rest.starts_with(['-', '.'])
}

#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn is_permitted(test: &str, probe: &str) -> bool {
    let ip = |action| Command::new("ip").args(["netns", action, probe]).output();
    if !ip("add").is_ok_and(|output| output.status.success()) {
        println!("skipped: {test}: no permission to make network namespaces, or no iproute2");
        return false;
    }
    assert!(ip("delete").unwrap().status.success());
    true
}

pub(crate) fn polypath(args: &[&str]) -> Command {
    let mut command = Command::new(crate::program());
    command.args(args).env_remove("RUST_LOG");
    command
}

/// Whether a process is there and has not ended.
pub(crate) fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Waits until a process has ended; its parent, which waits for it, is another.
pub(crate) fn await_end(pid: &str) {
    while runs(pid) {
        rest(Duration::from_millis(1));
    }
}

//! Processes and files of one test.

use std::fs::{self, File};
use std::process::{Command, ExitStatus, Output};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::process::nth_line;
pub(crate) use crate::process::{Process, stderr, stdout};

/// Runs curl, which reads no configuration and gives up after two minutes.
pub(crate) fn curl(args: &[&[&str]]) -> Output {
    let mut command = Command::new("curl");
    command.args(["-q", "-sS", "--max-time", "120"]).args(args.concat());
    command.output().expect("curl is installed")
}

/// A hub or edge that is ready.
pub(crate) struct Node {
    process: Process,
    lines: Vec<String>,
    control: String,
}

impl Node {
    pub(crate) fn control(&self) -> &str {
        &self.control
    }

    /// The memory of it that is in RAM, in bytes.
    pub(crate) fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect(&status);
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    pub(crate) fn join_string(&self) -> &str {
        &self.lines[0]
    }

    /// What follows `surface` in the lines that the edge printed.
    pub(crate) fn address_of(&self, surface: &str) -> String {
        let mut found = self.lines.iter().filter_map(|line| line.split_once(' '));
        found.find(|(name, _)| *name == surface).expect(surface).1.to_owned()
    }

    /// Where the one forwarded TCP port is.
    pub(crate) fn forwarded(&self) -> String {
        let line = self.address_of("forward");
        let address = line.strip_prefix("tcp:").and_then(|line| line.split_once('='));
        address.expect(&line).0.to_owned()
    }

    pub(crate) fn stop(&self) -> ExitStatus {
        self.process.stop()
    }

    /// Waits until it ends by itself.
    pub(crate) fn wait(&self) -> ExitStatus {
        self.process.wait()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// The first line of its log with `what`, waited for.
    pub(crate) fn log_line(&self, what: &str) -> String {
        self.nth_log_line(1, what)
    }

    /// The line of its log which is so many times that one with `what` came, waited for.
    pub(crate) fn nth_log_line(&self, number: usize, what: &str) -> String {
        nth_line(&self.log_file(), number, what)
    }

    fn log_file(&self) -> String {
        self.control.replace(".sock", ".log")
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap()
    }
}

/// Waits until a path of the edge has joined.
fn joined(mut edge: Node) -> Node {
    while edge.lines.last().is_none_or(|line| line != "joined") {
        edge.lines.push(edge.process.line());
    }
    edge
}

/// Two paths that differ in their ports alone.
const TWO_PATHS: [&str; 2] = ["a=127.0.0.1", "b=127.0.0.1"];

/// A folder with the keys of a hub and an edge that it allows.
pub(crate) struct World {
    home: tempfile::TempDir,
    edge_key: String,
    nodes: AtomicU32,
}

impl World {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut world = Self { home, edge_key: String::new(), nodes: AtomicU32::new(0) };
        let (file, public) = world.new_key("edge.key");
        world.edge_key = file;
        world.new_key("hub.key");
        world.file("allow", public.as_bytes());
        world
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.home.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn edge_key(&self) -> &str {
        &self.edge_key
    }

    /// Makes a key: its file and its public half.
    pub(crate) fn new_key(&self, name: &str) -> (String, String) {
        let file = self.path(name);
        let made = self.run(&["key", "--out", &file]);
        assert!(made.status.success(), "{}", stderr(&made));
        (file, stdout(&made).trim().to_owned())
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        // Who started the tests may ignore SIGHUP (nohup), and all that they start with them.
        let mut command = Command::new("/usr/bin/env");
        command.arg("--default-signal=HUP").arg(crate::program());
        command.args(args).env_clear().env("HOME", self.home.path());
        command
    }

    /// A command that this one starts, to which it is given as the last arguments.
    pub(crate) fn command_by(&self, runner: &[&str], args: &[&str]) -> Command {
        self.run_by(runner, &self.command(args))
    }

    fn run_by(&self, runner: &[&str], started: &Command) -> Command {
        let mut command = Command::new(runner[0]);
        command.args(&runner[1..]).arg(started.get_program()).args(started.get_args());
        command.env_clear().env("HOME", self.home.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// A node whose log goes to a file beside its control socket.
    fn node(&self, args: &[&str]) -> Node {
        self.node_by(self.command(args))
    }

    fn node_by(&self, mut command: Command) -> Node {
        let number = self.nodes.fetch_add(1, Relaxed);
        let control = self.path(&format!("{number}.sock"));
        let log = File::create(self.path(&format!("{number}.log"))).unwrap();
        command.args(["--control", &control]).stderr(log);
        Node { process: Process::spawn(command), lines: Vec::new(), control }
    }

    /// A hub that has printed its join string.
    pub(crate) fn hub(&self, more: &[&str]) -> Node {
        self.hub_at("127.0.0.1:0", more)
    }

    /// The same, listening at this address.
    pub(crate) fn hub_at(&self, listen: &str, more: &[&str]) -> Node {
        let mut hub = self.node_by(self.hub_command(listen, more));
        hub.lines.push(hub.process.line());
        hub
    }

    /// A hub that may map so much memory, and steps back a little where other tests want the
    /// processor: it is for loads that take all there is. With the lowest priority it would stand
    /// still on a busy machine.
    pub(crate) fn hub_within(&self, kib: u32, more: &[&str]) -> Node {
        let limit = "ulimit -v \"$0\" && exec nice -n 5 \"$@\"";
        self.hub_run_by(&["/bin/sh", "-c", limit, &kib.to_string()], "127.0.0.1:0", more)
    }

    /// A hub that this command starts, to which it is given as the last arguments.
    pub(crate) fn hub_run_by(&self, runner: &[&str], listen: &str, more: &[&str]) -> Node {
        let hub = self.hub_command(listen, more);
        let mut hub = self.node_by(self.run_by(runner, &hub));
        hub.lines.push(hub.process.line());
        hub
    }

    fn hub_command(&self, listen: &str, more: &[&str]) -> Command {
        let (key, allow) = (self.path("hub.key"), self.path("allow"));
        let files = ["hub", "--key", &key, "--allow", &allow];
        let where_to = ["--listen", listen, "--target", "127.0.0.1:*"];
        self.command(&[files.as_slice(), &where_to, more].concat())
    }

    /// An edge with two paths, one of which has joined.
    pub(crate) fn edge(&self, hub: &Node, more: &[&str]) -> Node {
        self.edge_over(hub, &TWO_PATHS, more)
    }

    /// An edge over these paths, one of which has joined.
    pub(crate) fn edge_over(&self, hub: &Node, paths: &[&str], more: &[&str]) -> Node {
        let joining = self.joining(hub, paths);
        joined(self.node(&[&["edge"], joining.as_slice(), more].concat()))
    }

    /// The same, started by this command.
    pub(crate) fn edge_run_by(
        &self,
        runner: &[&str],
        hub: &Node,
        paths: &[&str],
        more: &[&str],
    ) -> Node {
        let line = [&["edge"], self.joining(hub, paths).as_slice(), more].concat();
        joined(self.node_by(self.command_by(runner, &line)))
    }

    /// What a hub or edge that runs says of itself.
    pub(crate) fn status(&self, control: &str) -> serde_json::Value {
        let asked = self.run(&["status", "--json", "--control", control]);
        assert!(asked.status.success(), "{}", stderr(&asked));
        serde_json::from_slice(&asked.stdout).unwrap()
    }

    /// The conversations that a hub or edge tells of.
    pub(crate) fn conversations(&self, control: &str, more: &[&str]) -> serde_json::Value {
        let more = [&["--json"], more].concat();
        serde_json::from_str(&self.conversation_table(control, &more)).unwrap()
    }

    /// The same as a table. `more` may begin with how many: `=7`.
    pub(crate) fn conversation_table(&self, control: &str, more: &[&str]) -> String {
        let most = more.iter().find(|word| word.starts_with('=')).copied().unwrap_or_default();
        let asked = format!("--conversations{most}");
        let more = more.iter().copied().filter(|word| !word.starts_with('='));
        let line: Vec<_> =
            ["status", "--control", control, &asked].into_iter().chain(more).collect();
        let told = self.run(&line);
        assert!(told.status.success(), "{}", stderr(&told));
        String::from_utf8(told.stdout).unwrap()
    }

    /// Runs `polypath send` over two paths.
    pub(crate) fn send(&self, hub: &Node, args: &[&str]) -> Output {
        self.run(&self.send_line(hub, args))
    }

    /// Runs `polypath send` over these paths, started by this command.
    pub(crate) fn send_run_by(
        &self,
        runner: &[&str],
        hub: &Node,
        paths: &[&str],
        args: &[&str],
    ) -> Output {
        let line = [&["send"], args, self.joining(hub, paths).as_slice()].concat();
        self.command_by(runner, &line).output().unwrap()
    }

    /// Runs `polypath send` over two paths, while the test goes on.
    pub(crate) fn sending(&self, hub: &Node, args: &[&str]) -> Node {
        self.node(&self.send_line(hub, args))
    }

    fn send_line<'a>(&'a self, hub: &'a Node, args: &[&'a str]) -> Vec<&'a str> {
        [&["send"], args, self.joining(hub, &TWO_PATHS).as_slice()].concat()
    }

    fn joining<'a>(&'a self, hub: &'a Node, paths: &[&'a str]) -> Vec<&'a str> {
        let known = ["--key", self.edge_key(), "--join", hub.join_string()];
        known.into_iter().chain(paths.iter().flat_map(|path| ["--path", path])).collect()
    }
}

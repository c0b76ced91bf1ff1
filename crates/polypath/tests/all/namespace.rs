//! Network namespaces without a name.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::process::{Process, stderr, stdout};

/// A network namespace, for as long as the process that holds it, which ends with its input: so
/// nothing is left of a test that was killed.
pub(crate) struct Namespace {
    holder: Process,
    enter: String,
}

impl Namespace {
    /// `None` where it is not allowed to make one; that is told.
    #[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
    pub(crate) fn new(test: &str) -> Option<Self> {
        let mut holder = Command::new("unshare");
        let tried = Command::new("unshare").args(["--net", "true"]).output();
        if !tried.is_ok_and(|output| output.status.success()) {
            println!("skipped: {test}: no permission to unshare");
            return None;
        }
        holder.args(["--net", "sh", "-c", "echo there; read end"]).stdin(Stdio::piped());
        let holder = Process::spawn(holder);
        assert_eq!(holder.line(), "there");
        let enter = format!("--net=/proc/{}/ns/net", holder.id());
        Some(Self { holder, enter })
    }

    /// What starts a process in it.
    pub(crate) fn runner(&self) -> [&str; 2] {
        ["nsenter", &self.enter]
    }

    /// A command in it.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let [runner, enter] = self.runner();
        let mut command = Command::new(runner);
        command.args([enter, program]).args(args);
        command
    }

    /// Runs a command in it, which succeeds.
    pub(crate) fn run(&self, program: &str, arguments: &str) {
        self.output(program, arguments);
    }

    /// What a command that succeeds prints in it.
    pub(crate) fn output(&self, program: &str, arguments: &str) -> String {
        let arguments: Vec<_> = arguments.split(' ').collect();
        let output = self.command(program, &arguments).output().unwrap();
        let said = || format!("{}{}", stdout(&output), stderr(&output));
        assert!(output.status.success(), "{program} {arguments:?}: {}", said());
        stdout(&output).to_owned()
    }

    pub(crate) fn ip(&self, arguments: &str) {
        self.run("ip", arguments);
    }

    /// Does something in a thread in it. A socket that is opened there stays there.
    pub(crate) fn within<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        let namespace = File::open(format!("/proc/{}/ns/net", self.process())).unwrap();
        let enter = || {
            let network = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), network).unwrap();
            act()
        };
        thread::scope(|scope| scope.spawn(enter).join().unwrap())
    }

    /// Sets a parameter of the kernel, by its path below `/proc/sys`.
    pub(crate) fn set(&self, parameter: &str, value: &str) {
        self.within(|| fs::write(format!("/proc/sys/{parameter}"), value).unwrap());
    }

    /// The process that holds it, as `ip link set DEVICE netns PROCESS` takes it.
    pub(crate) fn process(&self) -> u32 {
        self.holder.id()
    }
}

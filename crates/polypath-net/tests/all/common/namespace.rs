//! Tests that run themselves again under `unshare --net`, so that the host's interfaces stay out of
//! them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

const INSIDE: &str = "POLYPATH_TEST_INSIDE_NAMESPACE";

/// `unshare` with a namespace, as root or through a user namespace; `None` if neither is allowed.
fn unshare() -> Option<Command> {
    for arguments in [&["--net"][..], &["--net", "--map-root-user"]] {
        let tried = Command::new("unshare").args(arguments).arg("true").output();
        if tried.is_ok_and(|output| output.status.success()) {
            let mut command = Command::new("unshare");
            command.args(arguments);
            return Some(command);
        }
    }
    None
}

/// Runs `inside` in a network namespace of its own; `test` is the whole name of the test
/// that calls, with its module.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn in_namespace(test: &str, inside: impl Future<Output = ()>) {
    if std::env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(inside);
    }
    let Some(mut command) = unshare() else {
        eprintln!("skipped: {test}: no permission to unshare");
        return;
    };
    let this = std::env::current_exe().unwrap();
    let output = command.arg(this).args(["--exact", test, "--nocapture"]).env(INSIDE, "1").output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let ran = String::from_utf8_lossy(&output.stdout);
    assert!(ran.contains("1 passed"), "{ran}");
}

pub(crate) fn ip(arguments: &str) {
    ip_says(arguments);
}

/// What it prints.
pub(crate) fn ip_says(arguments: &str) -> String {
    let output = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Another network namespace. The process that holds it ends when its input does.
pub(crate) struct Other(Child);

impl Other {
    pub(crate) fn new() -> Self {
        let mut holder = Command::new("unshare");
        holder.args(["--net", "sh", "-c", "echo there; read end"]);
        let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut there = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut there).unwrap();
        assert_eq!(there, "there\n");
        Self(holder)
    }

    /// A process in it, as `ip link set DEVICE netns PROCESS` takes it.
    pub(crate) fn process(&self) -> u32 {
        self.0.id()
    }

    /// What `node` makes in there, in a thread of its own that lasts until the process ends.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        node: impl AsyncFnOnce(mpsc::Sender<T>) + Send + 'static,
    ) -> T {
        let namespace = File::open(format!("/proc/{}/ns/net", self.process())).unwrap();
        let (made, made_there) = mpsc::channel();
        thread::spawn(move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(node(made));
        });
        made_there.recv().expect("the node has started")
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

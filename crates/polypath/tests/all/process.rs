//! Programs that a test runs.

use std::cell::RefCell;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// A command that was told to end does so within this time.
const PROMPT: Duration = Duration::from_secs(5);

pub(crate) fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).expect("output is text")
}

pub(crate) fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("errors are text")
}

/// The file of a program on the PATH.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(&folders).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// Whether all these programs are there; says that `test` is skipped if not.
#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
pub(crate) fn are_there(test: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| installed(program).is_none());
    if let Some(missing) = missing {
        println!("skipped: {test}: {missing} is not installed");
    }
    missing.is_none()
}

/// Runs the program that is tested with a home directory of its own, and no other variable.
pub(crate) fn run_at_home(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(crate::program());
    command.args(args).env_clear().env("HOME", home);
    command.output().expect("the binary was built for this test")
}

/// A process that runs until it is told to stop.
pub(crate) struct Process {
    child: RefCell<Child>,
    out: RefCell<BufReader<ChildStdout>>,
}

impl Process {
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program can be run");
        let out = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        Self { child: RefCell::new(child), out: RefCell::new(out) }
    }

    /// The next line of output, waited for.
    pub(crate) fn line(&self) -> String {
        let line = self.line_or_end();
        line.unwrap_or_else(|| panic!("the process ended: {:?}", self.child.borrow_mut().wait()))
    }

    /// The next line of output, waited for; `None` when the process has ended.
    pub(crate) fn line_or_end(&self) -> Option<String> {
        let mut line = String::new();
        let read = self.out.borrow_mut().read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Its input, once, if the command was given a pipe for it.
    pub(crate) fn input(&self) -> ChildStdin {
        self.child.borrow_mut().stdin.take().expect("standard input is a pipe")
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.borrow().id()
    }

    /// Waits for its end.
    pub(crate) fn wait(&self) -> ExitStatus {
        self.child.borrow_mut().wait().unwrap()
    }

    /// Asks it to end, as `kill` and service managers do, and waits for that.
    pub(crate) fn stop(&self) -> ExitStatus {
        self.signal("TERM");
        self.wait()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        // It may have ended already.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// The line of a file that grows which is so many times that one with `what` came, waited for.
pub(crate) fn nth_line(file: &str, number: usize, what: &str) -> String {
    // Against hanging only.
    let mut command = Command::new("timeout");
    command.args(["120", "tail", "-n", "+1", "-f", file]);
    let lines = Process::spawn(command);
    let mut found = 0;
    loop {
        let Some(line) = lines.line_or_end() else {
            let all = fs::read_to_string(file).unwrap();
            panic!("no line {number} with {what:?} in {file}:\n{all}");
        };
        found += usize::from(line.contains(what));
        if found == number {
            return line;
        }
    }
}

/// The exit code of a command that was just told to end.
#[expect(clippy::disallowed_methods, reason = "what is measured is how long a process takes")]
pub(crate) fn end_at_once(process: &Process) -> Option<i32> {
    let start = Instant::now();
    let status = process.wait();
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    status.code()
}

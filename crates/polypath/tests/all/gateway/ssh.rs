//! OpenSSH from a host of the LAN to a server behind the hub.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Output, Stdio};

use super::super::http::{content, sha256};
use super::super::process::{Process, are_there, installed, stderr, stdout};
use super::idle;
use super::sites::{SERVER, Sites};

const PORT: &str = "2222";
/// What is sent to a command and back.
const SENT: usize = 100_000;

/// A server that lets the user in who runs the tests, and a client that knows both keys.
struct Ssh<'a> {
    sites: &'a Sites,
    _server: Process,
}

fn new_key(sites: &Sites, name: &str) -> String {
    let file = sites.world.path(name);
    let mut keygen = Command::new("ssh-keygen");
    let made = keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", &file]).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    fs::read_to_string(format!("{file}.pub")).unwrap()
}

impl<'a> Ssh<'a> {
    fn start(sites: &'a Sites) -> Self {
        let (host, user) = (new_key(sites, "ssh_host"), new_key(sites, "ssh_user"));
        let address = SERVER.0;
        sites.world.file("ssh_known", format!("[{address}]:{PORT} {host}").as_bytes());
        let authorized = sites.world.file("ssh_authorized", user.as_bytes());
        let key = sites.world.path("ssh_host");
        // The folder of the test belongs to whoever runs it.
        let settings = format!(
            "ListenAddress {address}\nPort {PORT}\nHostKey {key}\nPidFile none\nUsePAM no\n\
             AuthorizedKeysFile {authorized}\nStrictModes no\nPermitRootLogin prohibit-password\n"
        );
        let settings = sites.world.file("sshd_config", settings.as_bytes());
        // It wants to be called by its path, and a folder in /run that its service makes.
        let daemon = installed("sshd").unwrap();
        let script = "mount -t tmpfs none /run && mkdir /run/sshd && exec \"$0\" \"$@\" 2>&1";
        let started = ["--mount", "sh", "-c", script, daemon.to_str().unwrap()];
        let line = [&started[..], &["-D", "-e", "-f", &settings]].concat();
        let server = Process::spawn(sites.server.command("unshare", &line));
        while !server.line().contains("Server listening on") {}
        Self { sites, _server: server }
    }

    /// The client in the LAN, with these arguments and then a command for the server.
    fn client(&self, options: &[&str], command: &str) -> Command {
        let world = &self.sites.world;
        let key = world.path("ssh_user");
        let known = format!("UserKnownHostsFile={}", world.path("ssh_known"));
        let line = ["-F", "none", "-p", PORT, "-i", &key, "-o", "IdentitiesOnly=yes", "-o"];
        let checked = [known.as_str(), "-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes"];
        let to = SERVER.0.to_string();
        let line = [&line[..], &checked, options, &[&to, command]].concat();
        self.sites.lan.command("ssh", &line)
    }
}

fn printed(output: &Output) -> &str {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

#[test]
fn ssh_runs_commands_and_holds_a_terminal_open() {
    let test = "ssh_runs_commands_and_holds_a_terminal_open";
    if !are_there(test, &["sshd", "ssh", "ssh-keygen"]) {
        return;
    }
    let Some(sites) = Sites::new(test) else { return };
    let _gateway = sites.start(&[], &[]);
    let ssh = Ssh::start(&sites);

    let sent = sites.world.file("sent", &content(SENT));
    let mut digest = ssh.client(&[], "sha256sum");
    let digest = digest.stdin(File::open(&sent).unwrap()).output().unwrap();
    assert_eq!(printed(&digest), format!("{}  -\n", sha256(&content(SENT))));
    let mut back = ssh.client(&[], "cat");
    let back = back.stdin(File::open(&sent).unwrap()).output().unwrap();
    assert!(back.stdout == content(SENT), "{} bytes: {}", back.stdout.len(), stderr(&back));
    let failing = ssh.client(&["-n"], "exit 7").output().unwrap();
    assert_eq!(failing.status.code(), Some(7), "{}", stderr(&failing));

    // With a terminal at the server, which echoes what is typed unless it is told not to.
    let mut shell = ssh.client(&["-tt"], "stty -echo && echo ready && exec cat");
    shell.stdin(Stdio::piped());
    let shell = Process::spawn(shell);
    let mut input = shell.input();
    assert_eq!(shell.line(), "ready");
    for typed in ["one", "two", "three"] {
        writeln!(input, "{typed}").unwrap();
        assert_eq!(shell.line(), typed);
        idle();
    }
    // Control-D, as somebody types it who has done.
    input.write_all(b"\x04").unwrap();
    assert_eq!(shell.wait().code(), Some(0));
}

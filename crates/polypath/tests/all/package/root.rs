//! The root of a bare system.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::namespace::Namespace;
use crate::process::{are_there, stderr, stdout};

/// What changes with every package: what dpkg knows of them, caches, logs, and the copies that are
/// made when a user is added or removed.
const BOOKKEEPING: [&str; 7] = ["dev", "proc", "run", "sys", "tmp", "var/cache", "var/log"];
const COPIES: [&str; 5] =
    ["etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-", "etc/.pwd.lock"];
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// What makes users for packages, and what gateways need; iproute2 brings libelf, on which the
/// program depends where it has its part for the kernel.
const MORE: &str = "systemd-standalone-sysusers,nftables,iproute2";

/// The root of a system that has what Debian requires, and what the package can use.
pub(super) struct Root(TempDir);

fn output(mut command: Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}{}", stdout(&output), stderr(&output));
    output
}

/// Where this system's own packages come from: its name for the release, and the address.
fn source() -> (String, String) {
    let release = fs::read_to_string("/etc/os-release").unwrap();
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let name = name.expect("the release has a name").to_owned();
    let mut apt = Command::new("apt-get");
    apt.args(["indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"]);
    let output = output(apt);
    let mut sources = stdout(&output).lines().filter_map(|line| line.split_once(' '));
    let address = sources.find(|(of, _)| *of == name).expect("apt has a source of this release").1;
    (name, address.to_owned())
}

impl Root {
    /// `None` where none can be made; that is told.
    #[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
    pub(super) fn new(test: &str) -> Option<Self> {
        if !are_there(test, &["apt-get", "chroot", "debootstrap", "cargo-deb"]) {
            return None;
        }
        if !nix::unistd::geteuid().is_root() {
            println!("skipped: {test}: no permission to change the root");
            return None;
        }
        let (name, address) = source();
        let folder = tempfile::tempdir().unwrap();
        // Others than root must be able to pass.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut debootstrap = Command::new("debootstrap");
        debootstrap.args(["--variant=minbase", &format!("--include={MORE}"), &name]);
        output({
            debootstrap.arg(folder.path()).arg(address);
            debootstrap
        });
        let root = Self(folder);
        // As udev makes it: open to everybody.
        fs::create_dir(root.path().join("dev/net")).unwrap();
        let mut device = Command::new("mknod");
        output({
            device
                .args(["-m", "666"])
                .arg(root.path().join("dev/net/tun"))
                .args(["c", "10", "200"]);
            device
        });
        Some(root)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What a command in it prints.
    pub(super) fn run(&self, line: &[&str]) -> String {
        let mut command = Command::new("chroot");
        command.arg(self.path()).args(line);
        Self::printed(command)
    }

    /// The same in a network, where the command sees processes and parameters of the kernel.
    pub(super) fn run_in(&self, network: &Namespace, line: &[&str]) -> String {
        let script = "mount -t proc proc \"$0/proc\" && exec chroot \"$0\" \"$@\"";
        let mut command = network.command("unshare", &["--mount", "sh", "-c", script]);
        command.arg(self.path()).args(line);
        Self::printed(command)
    }

    fn printed(mut command: Command) -> String {
        command.env_clear().env("PATH", PATH).env("DEBIAN_FRONTEND", "noninteractive");
        stdout(&output(command)).to_owned()
    }

    /// Makes the package of the program that is tested, and gives its file in the root.
    pub(super) fn package(&self, revision: &str) -> String {
        let programs = Path::new(crate::program()).parent().unwrap();
        assert!(programs.join("polypath-pages").is_file(), "cargo build -p polypath-pages");
        let out = tempfile::tempdir().unwrap();
        let mut deb = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/deb"));
        deb.arg(programs).arg(out.path()).args(["--deb-revision", revision]);
        output(deb);
        let made: Vec<_> = fs::read_dir(out.path()).unwrap().map(|file| file.unwrap()).collect();
        let [file] = made.as_slice() else { panic!("{made:?}") };
        let place = format!("tmp/{}", file.file_name().to_str().unwrap());
        fs::copy(file.path(), self.path().join(&place)).unwrap();
        format!("/{place}")
    }

    /// All files and folders, but those of the system's own bookkeeping.
    pub(super) fn files(&self) -> BTreeSet<String> {
        let mut find = Command::new("find");
        let output = output({
            find.arg(self.path()).args(["-mindepth", "1", "-printf", "%P\\n"]);
            find
        });
        let kept = |file: &&str| {
            let within = |folder: &&str| Path::new(file).starts_with(folder);
            let is_list =
                file.starts_with("var/lib/dpkg/") && !file.starts_with("var/lib/dpkg/info/");
            !BOOKKEEPING.iter().any(within) && !COPIES.contains(file) && !is_list
        };
        stdout(&output).lines().filter(kept).map(str::to_owned).collect()
    }

    pub(super) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap()
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).unwrap();
    }

    pub(super) fn append(&self, file: &str, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).open(self.path().join(file)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    pub(super) fn replace(&self, file: &str, old: &str, new: &str) {
        let text = self.read(file);
        assert_eq!(text.matches(&format!("\n{old}\n")).count(), 1, "{text}");
        self.write(file, &text.replace(&format!("\n{old}\n"), &format!("\n{new}\n")));
    }

    /// The socket of a service manager, which everybody may tell.
    pub(super) fn notify_socket(&self) -> UnixDatagram {
        let path = self.path().join("run/notify");
        // That of a service that was started before.
        let _ = fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        socket
    }
}

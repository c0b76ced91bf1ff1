//! What a unit of systemd runs, where no systemd runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use super::root::Root;
use crate::namespace::Namespace;

/// A unit that is installed in a root, with its instance, and with what a folder adds to all units
/// whose names begin as its own does.
pub(super) struct Unit {
    text: String,
}

/// The files `*.conf` of a folder, by name.
fn additions(root: &Root, folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(root.path().join(folder)).into_iter().flatten();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|e| e == "conf")).collect();
    files.sort();
    files
}

impl Unit {
    /// `polypath-hub.service`, or `polypath-edge@.service` with an instance.
    pub(super) fn read(root: &Root, file: &str, instance: &str) -> Self {
        let mut text = root.read(&format!("usr/lib/systemd/system/{file}"));
        for more in additions(root, "etc/systemd/system/polypath-.service.d") {
            text += &fs::read_to_string(more).unwrap();
        }
        Self { text: text.replace("%i", instance) }
    }

    /// The values of a key that may have several, which an empty one makes none.
    fn values(&self, key: &str) -> Vec<&str> {
        let lines = self.text.lines();
        let values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        values.fold(Vec::new(), |mut values, value| {
            match value {
                "" => values.clear(),
                value => values.extend(value.split(' ')),
            }
            values
        })
    }

    /// The value of a key that has one: the last.
    fn value(&self, key: &str) -> &str {
        self.values(key).last().unwrap_or_else(|| panic!("{key} in {}", self.text))
    }

    fn is_set(&self, key: &str) -> bool {
        match self.value(key) {
            "yes" => true,
            "no" => false,
            other => panic!("{key}={other}"),
        }
    }

    /// The folders of a key, below another one.
    fn folders(&self, key: &str, above: &str) -> impl Iterator<Item = String> {
        self.values(key).into_iter().map(move |name| format!("{above}/{name}"))
    }

    /// Those that are gone when it has ended.
    pub(super) fn passing_folders(&self) -> impl Iterator<Item = String> {
        let is_kept = self.values("RuntimeDirectoryPreserve").last() == Some(&"yes");
        self.folders("RuntimeDirectory", "run").filter(move |_| !is_kept)
    }

    /// Makes the folders that it asks for.
    fn make_folders(&self, root: &Root) {
        for (key, above) in [("StateDirectory", "var/lib"), ("RuntimeDirectory", "run")] {
            let mode = u32::from_str_radix(self.value(&format!("{key}Mode")), 8).unwrap();
            for folder in self.folders(key, above) {
                let path = root.path().join(&folder);
                fs::create_dir_all(&path).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                let user = format!("{}:", self.value("User"));
                root.run(&["chown", &user, &format!("/{folder}")]);
            }
        }
    }

    /// What it sees of devices, of `/proc` and of its parameters, as a script that has the root as
    /// its first argument.
    fn mounts(&self) -> String {
        let subset = match self.value("ProcSubset") {
            "all" => "",
            "pid" => "-o subset=pid",
            other => panic!("ProcSubset={other}"),
        };
        let mut script = format!("set -e; mount -t proc {subset} proc \"$0/proc\"; ");
        if self.is_set("ProtectKernelTunables") && subset.is_empty() {
            script += "mount --bind -o ro \"$0/proc/sys\" \"$0/proc/sys\"; ";
        }
        if self.is_set("PrivateDevices") {
            script += "mount -t tmpfs none \"$0/dev/net\"; ";
        }
        script + "exec chroot \"$0\" \"$@\""
    }

    /// How it gets its user and has no capabilities but its own.
    fn privileges(&self) -> Vec<String> {
        let user = self.value("User");
        let of = |key: &str| {
            let named = self.values(key).into_iter().map(|name| name.trim_start_matches("CAP_"));
            let added = named.map(|name| format!(",+{}", name.to_lowercase()));
            added.fold("-all".to_owned(), |all, one| all + &one)
        };
        let (ambient, bounding) = (of("AmbientCapabilities"), of("CapabilityBoundingSet"));
        let mut line = ["setpriv", "--init-groups"].map(str::to_owned).to_vec();
        line.extend([format!("--reuid={user}"), format!("--regid={user}")]);
        line.push(format!("--bounding-set={bounding}"));
        line.extend(["inh", "ambient"].map(|set| format!("--{set}-caps={ambient}")));
        if self.is_set("NoNewPrivileges") {
            line.push("--no-new-privs".to_owned());
        }
        line
    }

    /// Its command as its user, in the root and a network.
    pub(super) fn command(&self, root: &Root, network: &Namespace) -> Command {
        self.make_folders(root);
        let runtime = self.folders("RuntimeDirectory", "/run").collect::<Vec<_>>().join(":");
        let told = ["NOTIFY_SOCKET=/run/notify".to_owned(), format!("RUNTIME_DIRECTORY={runtime}")];
        let own = |key| self.values(key).into_iter().map(str::to_owned);
        let start = ["--mount", "sh", "-c"].map(str::to_owned).into_iter();
        let start = start.chain([self.mounts(), root.path().display().to_string()]);
        let words = start.chain(self.privileges()).chain(["env", "-i"].map(str::to_owned));
        let words: Vec<_> =
            words.chain(told).chain(own("Environment")).chain(own("ExecStart")).collect();
        network.command("unshare", &words.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

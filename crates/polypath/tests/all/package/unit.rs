//! What a unit of systemd runs, where no systemd runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::root::Root;
use crate::namespace::Namespace;

/// A unit that is installed in a root, with its instance.
pub(super) struct Unit {
    text: String,
}

impl Unit {
    pub(super) fn read(root: &Root, file: &str, instance: &str) -> Self {
        let text = root.read(&format!("usr/lib/systemd/system/{file}"));
        Self { text: text.replace("%i", instance) }
    }

    /// The values of a key.
    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.text.lines().filter_map(move |line| line.strip_prefix(key)?.strip_prefix('='))
    }

    fn value(&self, key: &str) -> &str {
        self.values(key).next().unwrap_or_else(|| panic!("{key} in {}", self.text))
    }

    /// Its command as its user, in the root and a network, with the folders that it asks for.
    pub(super) fn command(&self, root: &Root, network: &Namespace) -> Command {
        let user = self.value("User");
        let mode = |key: &str| u32::from_str_radix(self.value(key), 8).unwrap();
        let (state, runtime) = (self.value("StateDirectory"), self.value("RuntimeDirectory"));
        let runtime = format!("run/{runtime}");
        for (folder, mode) in [
            (format!("var/lib/{state}"), mode("StateDirectoryMode")),
            (runtime.clone(), mode("RuntimeDirectoryMode")),
        ] {
            let path = root.path().join(&folder);
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            root.run(&["chown", &format!("{user}:"), &format!("/{folder}")]);
        }
        let into = [format!("--userspec={user}:{user}"), root.path().display().to_string()];
        let told =
            ["NOTIFY_SOCKET=/run/notify".to_owned(), format!("RUNTIME_DIRECTORY=/{runtime}")];
        let set = self.values("Environment").flat_map(|words| words.split(' ')).map(str::to_owned);
        let line = self.value("ExecStart").split(' ').map(str::to_owned);
        let words = ["env", "-i"].map(str::to_owned).into_iter().chain(told).chain(set).chain(line);
        let words: Vec<_> = into.into_iter().chain(words).collect();
        network.command("chroot", &words.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

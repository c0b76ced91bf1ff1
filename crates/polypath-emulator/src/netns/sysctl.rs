//! Kernel parameters of a namespace.

use super::{NetnsError, enter_as};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Sets parameters in a namespace, in order. `/proc/sys/net` shows each thread those of the
/// namespace that it is in, so a thread enters it.
pub(super) fn set_all(namespace: &str, values: &[(String, String)]) -> Result<(), NetnsError> {
    if values.is_empty() {
        return Ok(());
    }
    let set = || {
        enter_as(namespace)?;
        values.iter().try_for_each(|(key, value)| {
            set(key, value).map_err(|error| NetnsError::Sysctl {
                namespace: namespace.to_owned(),
                key: key.clone(),
                value: value.clone(),
                error,
            })
        })
    };
    let joined = std::thread::scope(|scope| scope.spawn(set).join());
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn set(key: &str, value: &str) -> io::Result<()> {
    let file = file(key).ok_or_else(|| {
        let allowed = "no parameter of networks: net., then letters, digits, '_', '-' and dots";
        io::Error::new(io::ErrorKind::InvalidInput, allowed)
    })?;
    fs::write(file, value)
}

/// The file of a parameter, by its name with dots or with slashes, as sysctl(8) takes it.
fn file(key: &str) -> Option<PathBuf> {
    // With slashes a dot is part of a name, of an interface for example.
    let separator = if key.contains('/') { '/' } else { '.' };
    let parts: Vec<&str> = key.split(separator).collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let named = |part: &&str| !part.is_empty() && part.chars().all(plain) && *part != "..";
    let whole = parts.len() > 1 && parts[0] == "net" && parts.iter().all(named);
    whole.then(|| Path::new("/proc/sys").join(parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_files_below_net() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(file("net.ipv4.tcp_rmem"), path("/proc/sys/net/ipv4/tcp_rmem"));
        let dotted = "net/ipv4/conf/eth0.1/rp_filter";
        assert_eq!(file(dotted), path("/proc/sys/net/ipv4/conf/eth0.1/rp_filter"));
        for wrong in ["", "net", "net.", "kernel.panic", "net/../kernel/panic", "/net/x", "net.a b"]
        {
            assert_eq!(file(wrong), None, "{wrong}");
        }
    }
}

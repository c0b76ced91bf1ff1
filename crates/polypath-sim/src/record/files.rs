//! Where the files of a recording go.

use super::Subject;
use core::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The file of one end of a connection: the parts of its name with dots between. Whatever a file
/// system may not take is written as `%` and two hexadecimal digits for each byte, so that
/// different names stay different.
pub(super) fn path_of(directory: &Path, subject: &Subject, parts: &[&str]) -> PathBuf {
    let mut name = escape(&subject.name);
    for part in parts {
        name.push('.');
        name.push_str(&escape(part));
    }
    directory.join(name)
}

fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => escaped.push(byte.into()),
            // Writing to a string does not fail.
            _ => drop(write!(escaped, "%{byte:02x}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_different_and_in_the_directory() {
        let file = |name: &str, parts: &[&str]| {
            let subject = Subject { name: name.to_owned(), ends: Default::default() };
            path_of(Path::new("out"), &subject, parts)
        };
        assert_eq!(file("bond-1", &["client", "pcapng"]), Path::new("out/bond-1.client.pcapng"));
        assert_eq!(file("../a b", &["x"]), Path::new("out/%2e%2e%2fa%20b.x"));
    }
}

//! TOML configuration files.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::de::DeserializeOwned;

use super::{Fault, UsageError};

/// A configuration file that was read, kept so that faults found later can name their line.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    path: PathBuf,
    text: String,
}

impl ConfigFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration file {}", path.display()))?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// The values in the file.
    ///
    /// # Errors
    /// At the first malformed line, unknown key or bad value.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, UsageError> {
        toml::from_str(&self.text).map_err(|error| {
            let at = error.span().map(|span| span.start);
            UsageError::in_file(
                &self.path,
                at.map(|at| self.line_of(at)),
                at.and_then(|at| self.key_at(at)),
                error.message(),
            )
        })
    }

    /// `fault` with the line on which its key stands.
    pub fn locate(&self, fault: Fault) -> UsageError {
        let line = self.text.lines().position(|line| key_of(line) == Some(fault.key));
        UsageError::in_file(
            &self.path,
            line.map(|index| index + 1),
            Some(fault.key.to_owned()),
            fault.message,
        )
    }

    fn line_of(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
    }

    /// The key of the line that holds the byte `at`, or of the line above that begins its value.
    fn key_at(&self, at: usize) -> Option<String> {
        let lines: Vec<_> = self.text.lines().take(self.line_of(at)).collect();
        lines.into_iter().rev().find_map(key_of).map(str::to_owned)
    }
}

/// The key that a line gives a value to, or whose table it begins.
fn key_of(line: &str) -> Option<&str> {
    let table = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let key = table.or_else(|| Some(line.split_once('=')?.0))?.trim();
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(bare)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ListenAddress, text};

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(deny_unknown_fields, default)]
    #[allow(dead_code, reason = "only errors are of interest")]
    struct Sample {
        #[serde(deserialize_with = "text::optional")]
        socks: Option<ListenAddress>,
        #[serde(deserialize_with = "text::list")]
        listen: Vec<ListenAddress>,
        auto: bool,
    }

    fn error(text: &str) -> String {
        let file = ConfigFile { path: "edge.toml".into(), text: text.to_owned() };
        file.parse::<Sample>().unwrap_err().to_string()
    }

    #[test]
    fn errors_name_file_line_key_and_what_is_allowed() {
        let unknown = error("auto = true\nsock = \"127.0.0.1:1080\"\n");
        assert_eq!(
            unknown,
            "edge.toml:2: sock: unknown field `sock`, expected one of `socks`, `listen`, \
             `auto`"
        );
        let value = error("# a comment\n\nsocks = \"1080\"\n");
        assert!(value.starts_with("edge.toml:3: socks: \"1080\" is not"), "{value}");
        assert!(value.contains("127.0.0.1:1080"), "{value}");
        let kind = error("auto = \"yes\"");
        assert!(kind.starts_with("edge.toml:1: auto: "), "{kind}");
        assert!(kind.contains("a boolean"), "{kind}");
        let number = error("socks = 1080");
        assert!(number.contains("expected text in quotes"), "{number}");
        let syntax = error("auto = true\nlisten = [\"[::1]:1\",\n  \"[::1]:2\"\nauto");
        assert!(syntax.starts_with("edge.toml:"), "{syntax}");
        assert!(syntax.contains(": listen: "), "{syntax}");
    }

    #[test]
    fn a_bad_element_of_a_list_is_named() {
        let error = error("listen = [\n  \"127.0.0.1:1\",\n  \"x\",\n]\n");
        assert!(error.starts_with("edge.toml:1: listen: \"x\" is not"), "{error}");
    }

    #[test]
    fn a_fault_in_a_table_names_the_table() {
        let error = error("auto = true\n\n[listen]\nfirst = 1\n");
        assert!(error.starts_with("edge.toml:3: listen: invalid type: map"), "{error}");
    }

    #[test]
    fn a_fault_found_later_gets_the_line_of_its_key() {
        let file = ConfigFile { path: "e.toml".into(), text: "a = 1\n path = []\n".to_owned() };
        let located = file.locate(Fault::new("path", "empty"));
        assert_eq!(located.to_string(), "e.toml:2: path: empty");
    }
}

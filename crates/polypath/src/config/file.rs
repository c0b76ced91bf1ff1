//! TOML configuration files.

use std::path::{Path, PathBuf};

use anyhow::Context;
use polypath_config::{Document, DocumentError, Table};

use super::FileBacked;

/// A configuration file that was read.
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

    /// The options in the file, checked.
    ///
    /// # Errors
    /// At the first malformed line, unknown key or value that is not allowed.
    pub fn options<T: FileBacked>(&self) -> Result<T, DocumentError> {
        let document = Document::new(&self.path, &self.text);
        let tables = document.parse()?;
        let root = Table::root(document, "a configuration file", &tables);
        let keys = T::keys();
        let keys: Vec<_> = keys.iter().map(String::as_str).collect();
        root.refuse_others(&keys, "")?;
        let options = T::of_table(&root)?;
        options.check().map_err(|fault| {
            let site = root.get(fault.key).map_or_else(|| root.site(), |value| value.site());
            site.wrong(fault.message)
        })?;
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Fault, ListenAddress, text};
    use clap::Args;

    #[derive(Debug, Default, Args, serde::Deserialize)]
    #[serde(default)]
    struct Sample {
        #[arg(long)]
        #[serde(deserialize_with = "text::optional")]
        socks: Option<ListenAddress>,
        #[arg(long)]
        #[serde(deserialize_with = "text::list")]
        listen: Vec<ListenAddress>,
        #[arg(long)]
        auto: bool,
    }

    impl FileBacked for Sample {
        fn file(&self) -> Option<&Path> {
            None
        }

        fn of_table(table: &Table<'_>) -> Result<Self, DocumentError> {
            table.deserialize()
        }

        fn over(self, _: Self) -> Self {
            self
        }

        fn check(&self) -> Result<(), Fault> {
            let alone = !self.auto || self.listen.is_empty() && self.socks.is_none();
            alone.then_some(()).ok_or_else(|| Fault::new("auto", "not alone"))
        }
    }

    fn error(text: &str) -> String {
        let file = ConfigFile { path: "edge.toml".into(), text: text.to_owned() };
        file.options::<Sample>().unwrap_err().to_string()
    }

    #[test]
    fn errors_name_file_line_key_and_what_is_allowed() {
        let unknown = error("auto = true\nsock = \"127.0.0.1:1080\"\n");
        assert_eq!(
            unknown,
            "edge.toml:2: unknown key `sock` in a configuration file; allowed are socks, listen, auto"
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
        assert!(syntax.contains(": not valid TOML: "), "{syntax}");
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
        let fault = error("\n# here\n auto = true\nsocks = \"127.0.0.1:1\"\n");
        assert_eq!(fault, "edge.toml:3: auto: not alone");
    }
}

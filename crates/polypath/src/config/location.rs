//! Where files lie when the user does not say.

use std::env;
use std::path::PathBuf;

/// Neither `$HOME` nor the variable that overrides it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither $XDG_CONFIG_HOME nor $HOME is set, so the file must be named")]
pub struct NoHome;

/// The file `name` in `$XDG_CONFIG_HOME/polypath`, by default `~/.config/polypath`
/// (XDG Base Directory Specification).
///
/// # Errors
/// When the environment names no home directory.
pub(crate) fn config_file(name: &str) -> Result<PathBuf, NoHome> {
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Ok(base.ok_or(NoHome)?.join("polypath").join(name))
}

/// The specification says that relative paths are to be ignored.
fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

//! Where files lie when the user does not say.

use std::env;
use std::ffi::OsString;
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
    let set = |variable| absolute(env::var_os(variable)?);
    let base = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    Ok(base.ok_or(NoHome)?.join("polypath").join(name))
}

/// The path that a variable of the specification has as value: relative ones are to be ignored.
pub(crate) fn absolute(value: OsString) -> Option<PathBuf> {
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}

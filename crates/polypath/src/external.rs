//! Commands of other programs: `polypath X` runs `polypath-X`, as git and cargo find theirs.
//!
//! They are looked for beside this program and then in `PATH`. What has no program of its own may
//! be a command of the laboratory, `polypath-lab`, which says itself which commands it has.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::CommandFactory;

/// Programs whose names begin so bring further commands.
const PREFIX: &str = "polypath-";
/// The program with the commands of the laboratory.
const LABORATORY: &str = "polypath-lab";
/// The command of the laboratory that lists its commands: in each line a name, a tabulator and
/// what the command does.
pub const LIST: &str = "list-commands";
/// Set for programs that are run in this way, so that their help names what the user typed.
pub const RUN_BY: &str = "POLYPATH_RUN_BY";

/// There is no such command, here or elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown command `{given}`; there are {known}{hint}")]
pub struct UnknownCommand {
    given: String,
    known: String,
    hint: &'static str,
}

/// Where programs may be: the folder of this one, then those of `PATH`.
fn folders() -> impl Iterator<Item = PathBuf> {
    let own = env::current_exe().ok().and_then(|file| Some(file.parent()?.to_owned()));
    let path = env::var_os("PATH").unwrap_or_default();
    own.into_iter().chain(env::split_paths(&path).collect::<Vec<_>>())
}

fn is_program(file: &Path) -> bool {
    let execute = |meta: std::fs::Metadata| meta.permissions().mode() & 0o111 != 0;
    file.is_file() && file.metadata().is_ok_and(execute)
}

/// The program of this name.
fn find(name: &OsStr) -> Option<PathBuf> {
    folders().map(|folder| folder.join(name)).find(|file| is_program(file))
}

/// The laboratory as it is installed.
struct Laboratory {
    program: PathBuf,
    /// Its commands with what they do.
    commands: BTreeMap<String, String>,
}

/// The laboratory, if it is installed and answers.
fn laboratory() -> Option<Laboratory> {
    let program = find(LABORATORY.as_ref())?;
    let output = Command::new(&program).arg(LIST).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let row = |line: &str| {
        let (name, purpose) = line.split_once('\t')?;
        Some((name.to_owned(), purpose.to_owned()))
    };
    let commands = text.lines().map(row).collect::<Option<_>>()?;
    Some(Laboratory { program, commands })
}

/// Runs `words`, a command that this program does not have, in place of this process.
///
/// # Errors
/// When no program has that command, or it cannot be started.
pub fn run(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let [name, arguments @ ..] = words else { unreachable!("clap hands over the name") };
    let own = [OsStr::new(PREFIX), name].into_iter().collect::<OsString>();
    let plain = !name.as_encoded_bytes().contains(&b'/');
    if let Some(program) = find(&own).filter(|_| plain) {
        return Err(replace(&program, arguments).into());
    }
    let laboratory = laboratory();
    let has = |of: &&Laboratory| name.to_str().is_some_and(|name| of.commands.contains_key(name));
    if let Some(laboratory) = laboratory.as_ref().filter(has) {
        return Err(replace(&laboratory.program, words).into());
    }
    Err(unknown(name, laboratory.as_ref()).into())
}

/// Makes this process that program. Comes back only if that fails.
fn replace(program: &Path, arguments: &[OsString]) -> CannotRun {
    let error = Command::new(program).args(arguments).env(RUN_BY, "polypath").exec();
    CannotRun { program: program.to_owned(), error }
}

/// A program was found and cannot be run.
#[derive(Debug, thiserror::Error)]
#[error("cannot run {}: {error}", program.display())]
struct CannotRun {
    program: PathBuf,
    error: io::Error,
}

fn unknown(name: &OsStr, laboratory: Option<&Laboratory>) -> UnknownCommand {
    let own = crate::command::Cli::command();
    let own = own.get_subcommands().map(|command| command.get_name().to_owned());
    let others = laboratory.into_iter().flat_map(|laboratory| laboratory.commands.keys().cloned());
    let known: Vec<_> = own.chain(others).collect();
    let hint = if laboratory.is_none() { NOT_INSTALLED } else { "" };
    UnknownCommand { given: name.to_string_lossy().into(), known: known.join(", "), hint }
}

/// Where further commands come from.
const NOT_INSTALLED: &str = "; simulation, models, comparisons and the emulator are in the \
     laboratory, which is not installed: `cargo install --path crates/polypath-lab` from the \
     sources puts it beside polypath";

/// What help says of commands that are not of this program.
pub fn help() -> String {
    let mut text = String::new();
    match laboratory() {
        Some(Laboratory { commands, .. }) => {
            let width = commands.keys().map(|name| name.chars().count()).max().unwrap_or(0);
            text.push_str("Laboratory (polypath-lab):\n");
            for (name, purpose) in commands {
                // Writing to a `String` cannot fail.
                let _ = writeln!(text, "  {name:width$}  {purpose}");
            }
        }
        None => {
            let sentence = NOT_INSTALLED.trim_start_matches("; ");
            let _ = writeln!(text, "Further commands: {sentence}.");
        }
    }
    let others = others();
    if !others.is_empty() {
        let _ = writeln!(text, "\nOther programs: {}", others.join(", "));
    }
    text.trim_end().to_owned()
}

/// The commands that are programs of their own.
fn others() -> Vec<String> {
    let entries = folders().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| name != LABORATORY)?;
        let command = name.strip_prefix(PREFIX)?.to_owned();
        let is_command = |c: char| c.is_ascii_alphanumeric() || c == '-';
        (command.chars().all(is_command) && is_program(&entry.path())).then_some(command)
    };
    let mut names: Vec<_> = entries.filter_map(name).collect();
    names.sort();
    names.dedup();
    names
}

//! Removing namespaces, with what runs in them.

use super::error::{CleanError, IpError};
use super::process::{Held, Process};
use super::state::{Locked, State, StateDirectory};
use super::{ip, namespace_path};
use crate::plan::Prefix;

/// How often a namespace is looked through for processes: those that end may have started others.
const ROUNDS: u32 = 20;

/// What was found of an emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// It had ended: what was left has been removed.
    Removed {
        /// Its prefix.
        prefix: Prefix,
        /// The namespaces that were still there.
        namespaces: Vec<String>,
        /// The processes that were still running in them.
        ended: Vec<u32>,
    },
    /// It runs, and was left alone.
    Running {
        /// Its prefix.
        prefix: Prefix,
        /// Its process.
        pid: u32,
    },
}

/// Removes what emulators that were killed have left: namespaces, with their devices, processes in
/// them, and state files. Of all prefixes, or of one. Emulators that run are left alone.
///
/// # Errors
/// At the first thing that cannot be removed.
pub fn clean(prefix: Option<&Prefix>) -> Result<Vec<Cleaned>, CleanError> {
    StateDirectory::default().clean(prefix)
}

impl StateDirectory {
    /// [`clean()`], for the emulators with state files in this directory.
    ///
    /// # Errors
    /// At the first thing that cannot be removed.
    pub fn clean(&self, prefix: Option<&Prefix>) -> Result<Vec<Cleaned>, CleanError> {
        if !self.path().exists() {
            return Ok(Vec::new());
        }
        super::must_be_root().map_err(|user| CleanError::NotRoot { user })?;
        let locked = self.lock()?;
        let wanted = |known: &Prefix| prefix.is_none_or(|wanted| wanted == known);
        let prefixes = locked.prefixes()?.into_iter().filter(wanted);
        prefixes.map(|prefix| clean_one(&locked, prefix)).collect()
    }
}

fn clean_one(locked: &Locked<'_>, prefix: Prefix) -> Result<Cleaned, CleanError> {
    let Some(state) = locked.read(&prefix)? else {
        // Killed before it had made anything.
        locked.remove(&prefix)?;
        return Ok(Cleaned::Removed { prefix, namespaces: Vec::new(), ended: Vec::new() });
    };
    let pid = state.owner.pid;
    let runs = state.owner.runs().map_err(|error| CleanError::Signal { pid, error })?;
    if runs {
        return Ok(Cleaned::Running { prefix, pid });
    }
    let (namespaces, ended) = remove_all(locked, &state)?;
    Ok(Cleaned::Removed { prefix, namespaces, ended })
}

/// Ends what runs in the namespaces of a state but this process, removes them and the file. Returns
/// the namespaces that there were, and the processes.
pub(super) fn remove_all(
    locked: &Locked<'_>,
    state: &State,
) -> Result<(Vec<String>, Vec<u32>), CleanError> {
    let mut ended = end_children(&state.children)?;
    let there = state.namespaces.iter().filter(|name| namespace_path(name).exists());
    let there: Vec<String> = there.cloned().collect();
    for namespace in &there {
        ended.extend(end_processes(namespace)?);
    }
    for namespace in &there {
        delete(namespace, locked)?;
    }
    locked.remove(&state.prefix)?;
    Ok((there, ended))
}

/// Ends processes that an emulator has started, wherever they are by now.
fn end_children(children: &[Process]) -> Result<Vec<u32>, CleanError> {
    let mut ended = Vec::new();
    for child in children {
        let pid = child.pid;
        let Some(held) = Held::open(pid)? else { continue };
        // Looked at only now: what is held cannot be replaced by another of the same number.
        if child.runs().map_err(|error| CleanError::Signal { pid, error })? {
            held.end()?;
            ended.push(pid);
        }
    }
    Ok(ended)
}

/// Ends all processes in a namespace but this one.
fn end_processes(namespace: &str) -> Result<Vec<u32>, CleanError> {
    let mut ended = Vec::new();
    for _ in 0..ROUNDS {
        let found = held(namespace)?;
        if found.is_empty() {
            return Ok(ended);
        }
        for process in found {
            let pid = process.pid();
            if !process.end()? {
                return Err(CleanError::Process { namespace: namespace.to_owned(), pid });
            }
            ended.push(pid);
        }
    }
    // They start faster than they are ended.
    let Some(process) = held(namespace)?.pop() else { return Ok(ended) };
    Err(CleanError::Process { namespace: namespace.to_owned(), pid: process.pid() })
}

/// The processes in a namespace but this one.
fn held(namespace: &str) -> Result<Vec<Held>, CleanError> {
    let mut held = Vec::new();
    for pid in pids(namespace)? {
        held.extend(Held::open(pid)?);
    }
    // One may have ended before it was held, and its number be another's. Who is there now is the
    // one that is held, or ended long ago.
    let still = pids(namespace)?;
    held.retain(|process| still.contains(&process.pid()));
    Ok(held)
}

fn pids(namespace: &str) -> Result<Vec<u32>, CleanError> {
    let listed = ip::run(&["netns", "pids", namespace], None).map_err(|e| failed(namespace, e))?;
    let pids = listed.split_whitespace().filter_map(|pid| pid.parse().ok());
    Ok(pids.filter(|&pid| pid != std::process::id()).collect())
}

fn delete(namespace: &str, locked: &Locked<'_>) -> Result<(), CleanError> {
    let deleted = ip::run(&["netns", "delete", namespace], Some(locked.lock()));
    // Of one that was half made the file goes, though there is nothing to unmount.
    match deleted {
        Err(error) if namespace_path(namespace).exists() => Err(failed(namespace, error)),
        _ => Ok(()),
    }
}

fn failed(namespace: &str, error: IpError) -> CleanError {
    CleanError::Ip { namespace: namespace.to_owned(), error }
}

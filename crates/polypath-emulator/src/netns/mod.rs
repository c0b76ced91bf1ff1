//! Namespaces as a plan has them: made, entered, used and removed.
//!
//! An emulator writes what it is about to make into a [state file](StateDirectory) first. If it is
//! killed, [`clean()`] removes what it has left, at whatever moment that was.

mod clean;
mod error;
mod ip;
mod process;
mod state;
mod sysctl;

pub use clean::{Cleaned, clean};
pub use error::{CleanError, IpError, NetnsError, StateError};
pub use process::Process;
pub use state::StateDirectory;

use crate::plan::{NetworkPlan, NodePlan, Step};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use state::{Locked, State};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// The command that removes what an emulator has left; the prefix follows.
pub const CLEAN_COMMAND: &str = "polypath emulate --clean";

/// The namespaces of a network. They are removed with this, together with what runs in them but
/// threads of this process: those that have entered one keep it, without a name, until they end.
#[derive(Debug)]
pub struct Namespaces {
    plan: NetworkPlan,
    directory: StateDirectory,
    state: State,
    /// Whether they have been removed.
    removed: bool,
}

impl Namespaces {
    /// Makes the namespaces of a plan, with the state file in `/run/polypath`.
    ///
    /// # Errors
    /// If this is not root, the prefix is in use or was not cleaned up, a namespace is there
    /// already, or anything cannot be made. What has been made is removed then.
    pub fn build(plan: NetworkPlan) -> Result<Self, NetnsError> {
        Self::build_in(&StateDirectory::default(), plan)
    }

    /// [`Namespaces::build`] with the state file in another directory.
    ///
    /// # Errors
    /// As there.
    pub fn build_in(directory: &StateDirectory, plan: NetworkPlan) -> Result<Self, NetnsError> {
        must_be_root().map_err(|user| NetnsError::NotRoot { user })?;
        let locked = directory.lock()?;
        let state = claim(&locked, &plan)?;
        let directory = directory.clone();
        // From here on dropping removes.
        let namespaces = Self { plan, directory: directory.clone(), state, removed: false };
        let added = namespaces.add(&locked);
        drop(locked);
        added?;
        namespaces.take(&namespaces.plan.steps())?;
        Ok(namespaces)
    }

    /// The empty namespaces.
    fn add(&self, locked: &Locked<'_>) -> Result<(), NetnsError> {
        for name in &self.state.namespaces {
            let added = ip::run(&["netns", "add", name], Some(locked.lock()));
            added.map_err(|error| failed(name, error))?;
        }
        Ok(())
    }

    /// What was planned.
    pub fn plan(&self) -> &NetworkPlan {
        &self.plan
    }

    /// Does more in the namespaces than was planned.
    ///
    /// # Errors
    /// At the first parameter or command that is refused.
    pub fn take(&self, steps: &[Step]) -> Result<(), NetnsError> {
        steps.iter().try_for_each(take)
    }

    /// Moves the calling thread into the namespace of a node.
    ///
    /// # Errors
    /// If there is no such node, or the thread may not.
    pub fn enter(&self, node: &str) -> Result<(), NetnsError> {
        enter_as(&self.node(node)?.namespace)
    }

    /// The addresses of a node, link by link, IPv4 first.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn addresses(&self, node: &str) -> Result<Vec<IpAddr>, NetnsError> {
        Ok(self.node(node)?.addresses().collect())
    }

    /// A command that runs a program in a node, with the node's `/sys` (`ip netns exec`).
    ///
    /// # Errors
    /// If there is no such node.
    pub fn command(&self, node: &str, program: impl AsRef<OsStr>) -> Result<Command, NetnsError> {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.node(node)?.namespace]).arg(program);
        Ok(command)
    }

    /// Starts a [command](Self::command) and writes it into the state file, so that it is ended
    /// with the network even if it leaves its namespace.
    ///
    /// # Errors
    /// If it cannot be started, or the file not be written; it is ended then.
    pub fn spawn(&mut self, command: &mut Command) -> Result<Child, NetnsError> {
        let spawned = command.spawn().map_err(|error| {
            let program = format!("{command:?}");
            NetnsError::Spawn { program, error }
        });
        let mut child = spawned?;
        if let Err(error) = self.record(child.id()) {
            // It has ended, or is ended here; the first error is what the caller hears.
            let _ = child.kill().and_then(|()| child.wait());
            return Err(error);
        }
        Ok(child)
    }

    fn record(&mut self, pid: u32) -> Result<(), NetnsError> {
        let look = |error| NetnsError::Process { pid, error };
        let Some(process) = Process::of(pid).map_err(look)? else { return Ok(()) };
        self.state.children.retain(|child| child.runs().unwrap_or(true));
        self.state.children.push(process);
        self.directory.lock()?.write(&self.state)?;
        Ok(())
    }

    /// Removes the namespaces, and ends what runs in them.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn remove(mut self) -> Result<(), CleanError> {
        self.remove_once()
    }

    fn remove_once(&mut self) -> Result<(), CleanError> {
        if self.removed {
            return Ok(());
        }
        self.removed = true;
        let locked = self.directory.lock()?;
        clean::remove_all(&locked, &self.state).map(drop)
    }

    fn node(&self, node: &str) -> Result<&NodePlan, NetnsError> {
        self.plan.node(node).ok_or_else(|| NetnsError::UnknownNode {
            node: node.to_owned(),
            nodes: self.plan.nodes.iter().map(|node| node.name.clone()).collect(),
        })
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        if let Err(error) = self.remove_once() {
            let prefix = &self.plan.prefix;
            tracing::error!("{error}; `{CLEAN_COMMAND} {prefix}` removes what is left");
        }
    }
}

/// Moves the calling thread into a namespace that `ip netns` knows.
///
/// # Errors
/// If there is no such namespace, or the thread may not.
pub fn enter(namespace: &str) -> io::Result<()> {
    let file = File::open(namespace_path(namespace))?;
    Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?)
}

fn enter_as(namespace: &str) -> Result<(), NetnsError> {
    enter(namespace).map_err(|error| NetnsError::Enter { namespace: namespace.to_owned(), error })
}

/// Where `ip netns` keeps a namespace.
fn namespace_path(namespace: &str) -> PathBuf {
    Path::new("/run/netns").join(namespace)
}

/// The user if it is another.
fn must_be_root() -> Result<(), u32> {
    let user = rustix::process::geteuid();
    if user.is_root() { Ok(()) } else { Err(user.as_raw()) }
}

/// Writes the state of a network that is about to be made, if its prefix is free.
fn claim(locked: &Locked<'_>, plan: &NetworkPlan) -> Result<State, NetnsError> {
    let prefix = plan.prefix.clone();
    if let Some(State { owner, .. }) = locked.read(&prefix)? {
        let pid = owner.pid;
        let runs = owner.runs().map_err(|error| NetnsError::Process { pid, error })?;
        return Err(if runs {
            NetnsError::InUse { prefix, pid }
        } else {
            NetnsError::Stale { prefix, pid }
        });
    }
    if let Some(namespace) = plan.namespaces().find(|name| namespace_path(name).exists()) {
        return Err(NetnsError::Exists { namespace: namespace.to_owned() });
    }
    let pid = std::process::id();
    let owner = Process::current().map_err(|error| NetnsError::Process { pid, error })?;
    let namespaces = plan.namespaces().map(str::to_owned).collect();
    let state = State { prefix, owner, namespaces, children: Vec::new() };
    locked.write(&state)?;
    Ok(state)
}

fn take(step: &Step) -> Result<(), NetnsError> {
    sysctl::set_all(&step.namespace, &step.sysctls)?;
    let commands = ip::batch(&step.namespace, &[], &step.commands);
    let done = commands.and_then(|()| ip::batch(&step.namespace, &["-6"], &step.ipv6_commands));
    done.map_err(|error| failed(&step.namespace, error))
}

fn failed(namespace: &str, error: IpError) -> NetnsError {
    NetnsError::Ip { namespace: namespace.to_owned(), error }
}

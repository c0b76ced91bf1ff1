//! Runtimes and threads in network namespaces.

use std::fs::File;
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::namespace::Namespace;

/// Against hanging only.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Does something in the network namespace of this thread, with a runtime of this thread alone.
pub(crate) fn run<T>(act: impl AsyncFnOnce() -> T) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let bounded = async { tokio::time::timeout(PATIENCE, act()).await };
    runtime.block_on(bounded).expect("nothing hangs")
}

/// [`run`] in a network namespace.
pub(crate) fn within<T: Send>(namespace: &Namespace, act: impl AsyncFnOnce() -> T + Send) -> T {
    namespace.within(|| run(act))
}

/// Moves this thread into the network namespace of a process.
pub(crate) fn enter(process: u32) {
    let namespace = File::open(format!("/proc/{process}/ns/net")).unwrap();
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}

/// Does something beside this thread, in the network namespace of a process.
pub(crate) fn beside<T: Send + 'static>(
    process: u32,
    act: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    thread::spawn(move || {
        enter(process);
        act()
    })
}

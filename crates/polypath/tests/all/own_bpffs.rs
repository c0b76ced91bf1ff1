//! Tests that load congestion controls into the kernel.

use std::env;
use std::fs::File;
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use polypath_kernel::{CONGESTION, Pins};

/// Runs a test in a thread whose mounts no other process sees, with an empty bpffs: what is pinned
/// there is gone with the test. Where that is not allowed, says that it is skipped.
///
/// The names of congestion controls belong to the whole machine: there is one such test at a time,
/// of all processes.
#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
pub(crate) fn with_own_bpffs(test: &str, run: impl FnOnce() + Send) {
    let names = File::create(env::temp_dir().join("polypath-kernel-tests.lock")).unwrap();
    names.lock().unwrap();
    let within = || {
        if unshare(CloneFlags::CLONE_NEWNS).is_err() {
            println!("skipped: {test}: no permission to unshare");
            return;
        }
        let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount(None::<&str>, "/", None::<&str>, private, None::<&str>).unwrap();
        let flags = MsFlags::empty();
        mount(Some("bpf"), "/sys/fs/bpf", Some("bpf"), flags, None::<&str>).unwrap();
        let _pins = Unpin;
        run();
    };
    thread::scope(|scope| scope.spawn(within).join()).unwrap_or_else(|panic| {
        std::panic::resume_unwind(panic);
    });
}

/// Unloads what is left at the end, also of a test that has failed: with the mount alone it would
/// be gone only later, and in the way of the next test.
struct Unpin;

impl Drop for Unpin {
    fn drop(&mut self) {
        for row in CONGESTION {
            // What is in use is by a process of a test that has failed.
            let _ = Pins::default().unload(row.kind);
        }
    }
}

//! The settings of glibc's allocator in a hub.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The variable that glibc reads when a program starts, and at no other time.
const VARIABLE: &str = "GLIBC_TUNABLES";

/// No caches for each thread, which pin a few small blocks wherever a flood of strangers has left
/// them, and one arena, whose end is given back (`docs/decisions/0015-strangers.md`).
const SETTINGS: &str = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1:\
                        glibc.malloc.trim_threshold=131072:glibc.malloc.mmap_threshold=131072";

/// Begins this program anew, as the same process, with an allocator that gives back nearly all that
/// a flood has taken; not where the user has set it in another way. To be called before there are
/// threads.
pub(crate) fn settle() {
    if cfg!(target_env = "gnu") && env::var_os(VARIABLE).is_none() {
        let error = begin_anew();
        tracing::warn!(%error, "memory that strangers take may stay: the allocator cannot be set");
    }
}

/// Returns only if that fails.
fn begin_anew() -> io::Error {
    let program = match env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let mut words = env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    command.args(words).env(VARIABLE, SETTINGS).exec()
}

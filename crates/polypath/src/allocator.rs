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
/// threads, and before anything is read that cannot be read again.
///
/// # Errors
/// Why the program cannot begin anew: it goes on as it is.
pub(crate) fn settle() -> io::Result<()> {
    if !cfg!(target_env = "gnu") || env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    let mut words = env::args_os();
    let mut command = Command::new(env::current_exe()?);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    Err(command.args(words).env(VARIABLE, SETTINGS).exec())
}

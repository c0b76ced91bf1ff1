//! Giving memory back to the operating system.

use std::convert::Infallible;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// Whoever looks at a host a minute after a load sees what is needed now. A pass takes milliseconds
/// for each 100 MB that are free.
const INTERVAL: Duration = Duration::from_secs(20);

/// Gives the memory that is free back to the operating system every 20 s, until it is dropped.
///
/// The allocator of glibc keeps what was freed wherever anything above it is still in use, so that
/// a process which has once held much, for many connections or a flood of strangers, would hold it
/// for ever. Other C libraries have no such call.
pub async fn give_back_free_memory() -> Infallible {
    loop {
        sleep(INTERVAL).await;
        // It holds the locks of the allocator, and is no work for a thread that carries packets.
        if spawn_blocking(trim).await.is_err() {
            tracing::warn!("free memory could not be given back");
        }
    }
}

#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "no crate of the product has a safe form of this call")]
fn trim() {
    // SAFETY: the call takes no pointer, and any thread may make it at any time (malloc_trim(3)).
    unsafe { nix::libc::malloc_trim(0) };
}

#[cfg(not(target_env = "gnu"))]
fn trim() {}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    /// Bytes of this process that are in RAM.
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
    }

    /// Of 64 MB in blocks of 1 kB each thousandth stays in use: they pin 64 pages. Other tests may
    /// take some of what is given back.
    #[test]
    fn what_was_freed_between_blocks_in_use_is_given_back() {
        let blocks: Vec<_> = (0..64_000).map(|n| vec![n as u8; 1_000]).collect();
        let kept: Vec<_> = blocks.into_iter().step_by(1_000).collect();
        let before = resident();
        trim();
        let given = before.saturating_sub(resident());
        assert!(given > 32_000_000, "{given} bytes with {} blocks in use", kept.len());
    }
}

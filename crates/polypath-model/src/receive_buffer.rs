//! What a shared receive buffer lets paths carry.
//!
//! ```text
//! Thr(S) = min(sum of x_i, RcvBuf / max RTT_i)        of the paths S
//! ```
//!
//! Source: Oh and Lee, IEEE/ACM ToN 24(6), 2016 (buffer blocking protection). What is sent while
//! the slowest path's segment is under way must wait in the buffer.

use super::error::{ModelError, positive};
use polypath_core::scheduler::carried::Carried as Set;

/// A path and what its congestion control lets it carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarryingPath {
    /// In bytes/s.
    pub bytes_per_sec: f64,
    /// How long a hole that it causes stands: its round-trip time, in seconds.
    pub rtt_secs: f64,
}

/// What some paths carry through a receive buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// In bytes/s.
    pub bytes_per_sec: f64,
    /// The paths, by their positions in what was given.
    pub paths: Vec<usize>,
    /// Whether the buffer is what limits them.
    pub buffer_limited: bool,
}

/// What all of these paths together carry through a buffer of so many bytes: the bound where a
/// scheduler uses every path that has room.
///
/// # Errors
/// No path, a rate, an RTT or a buffer that is not above 0.
pub fn all_paths(paths: &[CarryingPath], buffer: f64) -> Result<Carried, ModelError> {
    check(paths, buffer)?;
    Ok(carried(paths, (0..paths.len()).collect(), buffer))
}

/// What the best of the prefixes of the paths in the order of their RTTs carries, the smaller of
/// equals: the bound where a scheduler leaves out paths that would make the others wait.
///
/// # Errors
/// As [`all_paths`].
pub fn best_prefix(paths: &[CarryingPath], buffer: f64) -> Result<Carried, ModelError> {
    check(paths, buffer)?;
    let mut ranked: Vec<usize> = (0..paths.len()).collect();
    ranked.sort_by(|&a, &b| paths[a].rtt_secs.total_cmp(&paths[b].rtt_secs));
    let first = carried(paths, ranked[..1].to_vec(), buffer);
    let prefixes = (2..=ranked.len()).map(|count| carried(paths, ranked[..count].to_vec(), buffer));
    let more = |best: Carried, next: Carried| match next.bytes_per_sec > best.bytes_per_sec {
        true => next,
        false => best,
    };
    Ok(prefixes.fold(first, more))
}

fn carried(paths: &[CarryingPath], chosen: Vec<usize>, buffer: f64) -> Carried {
    let one =
        |&index: &usize| Set { rate: paths[index].bytes_per_sec, hole: paths[index].rtt_secs };
    let set = chosen.iter().map(one).fold(Set::default(), Set::with);
    let bytes_per_sec = set.goodput(buffer);
    Carried { bytes_per_sec, paths: chosen, buffer_limited: bytes_per_sec < set.rate }
}

fn check(paths: &[CarryingPath], buffer: f64) -> Result<(), ModelError> {
    if paths.is_empty() {
        return Err(ModelError::NoLink { most: usize::MAX });
    }
    positive("the receive buffer in bytes", buffer)?;
    for path in paths {
        positive("the rate of a path in bytes/s", path.bytes_per_sec)?;
        positive("the RTT in seconds", path.rtt_secs)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of S3: Wi-Fi and LTE.
    const PATHS: [CarryingPath; 2] = [
        CarryingPath { bytes_per_sec: 18.03e6, rtt_secs: 24.16e-3 },
        CarryingPath { bytes_per_sec: 64.72e6, rtt_secs: 6.65e-3 },
    ];

    #[test]
    fn t_bbp_1() {
        let small = best_prefix(&PATHS, 300e3).unwrap();
        assert_eq!((small.paths, small.buffer_limited), (vec![1], true));
        assert!((small.bytes_per_sec - 45.11e6).abs() < 0.01e6);
        let both = all_paths(&PATHS, 300e3).unwrap();
        assert!((both.bytes_per_sec - 12.42e6).abs() < 0.01e6);
        let large = best_prefix(&PATHS, 4e6).unwrap();
        assert_eq!((large.paths, large.buffer_limited), (vec![1, 0], false));
        assert!((large.bytes_per_sec - 82.75e6).abs() < 1.0);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(best_prefix(&[], 1.0).is_err());
        assert!(all_paths(&PATHS, 0.0).is_err());
        assert!(all_paths(&[CarryingPath { rtt_secs: 0.0, ..PATHS[0] }], 1.0).is_err());
    }
}

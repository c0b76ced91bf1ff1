//! What EDPF carries. It sends ahead on slower paths and leaves out those that cost more than they
//! bring; [`stops`](polypath_core::scheduler::stops) is the rule by which it admits paths itself.
//! It never carries less than the best path alone.

use super::USED_OF_WINDOW;
use polypath_core::scheduler::stops::{Lossy, Used, Window};

/// The share of the receive buffer that EDPF uses over several paths: a stream may have fifteen
/// sixteenths, of which it keeps a margin for holes. Fitted to the 42 sets of links of
/// `docs/advise.md`.
const USED_BY_SEVERAL: f64 = 0.85;

/// A path and what its congestion control takes of it; bytes/s and seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AheadPath {
    pub(crate) rate: f64,
    pub(crate) loss: f64,
    pub(crate) rtt: f64,
}

/// What these paths carry through a receive buffer with segments of this size, and which of them
/// are used.
pub(crate) fn ahead(paths: &[AheadPath], buffer: f64, segment: f64) -> Used {
    let shortest = paths.iter().map(|path| path.rtt).fold(f64::INFINITY, f64::min);
    let beside =
        |path: &AheadPath, shortest| Lossy::ahead(path.rate, path.loss, path.rtt, shortest);
    let several: Vec<_> = paths.iter().map(|path| beside(path, shortest)).collect();
    let together = Window { bytes: USED_BY_SEVERAL * buffer, segment }.used(&several);
    let whole = Window { bytes: USED_OF_WINDOW * buffer, segment };
    let alone = |path: &AheadPath| whole.carried(&[beside(path, path.rtt)]);
    let each = paths.iter().map(alone).enumerate();
    match each.max_by(|(_, a), (_, b)| a.total_cmp(b)) {
        Some((index, bytes_per_sec)) if bytes_per_sec > together.bytes_per_sec => {
            Used { paths: vec![index], bytes_per_sec }
        }
        _ => together,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(mbit_s: f64, rtt_ms: f64, loss: f64) -> AheadPath {
        AheadPath { rate: mbit_s * 125e3, loss, rtt: rtt_ms * 1e-3 }
    }

    /// A segment of the slower path is in the window for 60 ms, in which 0.85 of 1 MB pass.
    #[test]
    fn a_slower_path_takes_the_window_for_half_of_both_round_trips() {
        let used = ahead(&[path(90.0, 20.0, 0.0), path(30.0, 100.0, 0.0)], 1e6, 1_400.0);
        assert_eq!(used.paths, [0, 1]);
        assert!((used.bytes_per_sec / (0.85e6 / 0.060) - 1.0).abs() < 1e-9, "{used:?}");
    }

    /// 0.85 of 300 kB pass in 60 ms, which is slower than 0.9 of it in 24 ms over the fast path
    /// alone.
    #[test]
    fn the_best_path_alone_is_the_least() {
        let used = ahead(&[path(30.0, 100.0, 0.0), path(90.0, 20.0, 0.0)], 300e3, 1_400.0);
        assert_eq!(used.paths, [1]);
        assert!((used.bytes_per_sec / 11.25e6 - 1.0).abs() < 1e-9, "{used:?}");
    }
}

//! Where the coupled congestion controls of Multipath TCP settle.
//!
//! Windows `w` in segments, rates `x = w / rtt` in segments/s, per-segment loss `p`. In equilibrium
//! growth is what losses take: `p w / 2` for each ACK, and the best single path is that of the
//! largest `sqrt(2 / p) / rtt`.
//!
//! ```text
//! reno   1 / w = p w / 2                                        on each path alone
//! lia    w = min(k / p, sqrt(2 / p)),  k = 2 max(w / rtt^2) / (sum x)^2     (RFC 6356 section 3)
//! olia   sum x = best single path; only best paths carry data   (Khalili et al., CoNEXT 2012)
//! balia  (1 + a)(4 + a) / 5 min(a, 1.5) = p rtt^2 (sum x)^2,  a = max x / x  (draft-walid, 3)
//! ```
//!
//! Losses are given: on a shared bottleneck the caller must find those with which the rates fit.

use super::error::{ModelError, loss, positive};
use polypath_core::congestion::CongestionKind;
use std::time::Duration;

/// A path as a connection sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossyPath {
    /// The share of segments that are lost, above 0 and below 1.
    pub loss: f64,
    /// The round-trip time.
    pub rtt: Duration,
}

/// The window of each path in segments, where a connection with this control settles.
///
/// # Errors
/// A control whose equilibrium is not known, no path, a loss or an RTT that is not in its range.
pub fn equilibrium(control: CongestionKind, paths: &[LossyPath]) -> Result<Vec<f64>, ModelError> {
    let paths = paths.iter().map(checked).collect::<Result<Vec<_>, _>>()?;
    if paths.is_empty() {
        return Err(ModelError::NoLink { most: usize::from(u8::MAX) + 1 });
    }
    match control {
        CongestionKind::Reno => Ok(paths.iter().map(Path::alone).collect()),
        CongestionKind::Lia => Ok(lia(&paths)),
        CongestionKind::Olia => Ok(olia(&paths)),
        CongestionKind::Balia => Ok(balia(&paths)),
        other => Err(ModelError::of_congestion(other)),
    }
}

#[derive(Clone, Copy, Debug)]
struct Path {
    loss: f64,
    rtt: f64,
}

impl Path {
    /// The window of a Reno TCP.
    fn alone(&self) -> f64 {
        (2.0 / self.loss).sqrt()
    }

    /// Its rate.
    fn rate_alone(&self) -> f64 {
        self.alone() / self.rtt
    }
}

fn checked(path: &LossyPath) -> Result<Path, ModelError> {
    positive("the loss", loss(path.loss)?)?;
    let rtt = positive("the RTT in seconds", path.rtt.as_secs_f64())?;
    Ok(Path { loss: path.loss, rtt })
}

fn best_rate(paths: &[Path]) -> f64 {
    paths.iter().map(Path::rate_alone).fold(0.0, f64::max)
}

fn lia(paths: &[Path]) -> Vec<f64> {
    let windows = |k: f64| paths.iter().map(move |path| (k / path.loss).min(path.alone()));
    // The `k` that follows from the windows that `k` gives, over `k`: this ratio never grows with
    // `k`.
    let excess = |k: f64| {
        let of = |(w, path): (f64, &Path)| [w / path.rtt, w / (path.rtt * path.rtt)];
        let [rate, most] = windows(k)
            .zip(paths)
            .map(of)
            .fold([0.0; 2], |[sum, most], [x, y]| [sum + x, f64::max(most, y)]);
        2.0 * most / (rate * rate * k)
    };
    // At the lower end no window is at its limit, at the upper one all are.
    let limit = |path: &Path| (2.0 * path.loss).sqrt();
    let mut high = paths.iter().map(limit).fold(0.0, f64::max);
    let mut low = high * 1e-12;
    while high > low * (1.0 + 1e-14) {
        let middle = (low * high).sqrt();
        if middle <= low || middle >= high {
            break;
        }
        match excess(middle) > 1.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    windows(high).collect()
}

fn olia(paths: &[Path]) -> Vec<f64> {
    /// The share of the best rate from which on a rate counts as equal to it.
    const EQUAL: f64 = 1.0 - 1e-9;
    let best = best_rate(paths);
    let is_best = |path: &&Path| path.rate_alone() >= best * EQUAL;
    // The term alpha of OLIA makes the windows of best paths equal.
    let window = best / paths.iter().filter(is_best).map(|path| 1.0 / path.rtt).sum::<f64>();
    paths.iter().map(|path| if is_best(&path) { window } else { 0.0 }).collect()
}

fn balia(paths: &[Path]) -> Vec<f64> {
    let best = best_rate(paths);
    // The best path has a = 1; of the others, (1 + a)(4 + a) = 15 / 2 * p rtt^2 (sum x)^2.
    let ratio = |path: &Path| {
        let cost = (best / path.rate_alone()).powi(2);
        if cost <= 1.0 + 1e-9 { 1.0 } else { ((9.0 + 60.0 * cost).sqrt() - 5.0) / 2.0 }
    };
    let shares = paths.iter().map(|path| 1.0 / ratio(path)).sum::<f64>();
    paths.iter().map(|path| best / shares / ratio(path) * path.rtt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [CongestionKind; 3] =
        [CongestionKind::Lia, CongestionKind::Olia, CongestionKind::Balia];

    fn path(loss: f64, ms: u64) -> LossyPath {
        LossyPath { loss, rtt: Duration::from_millis(ms) }
    }

    fn rate(windows: &[f64], paths: &[LossyPath]) -> f64 {
        windows.iter().zip(paths).map(|(w, path)| w / path.rtt.as_secs_f64()).sum()
    }

    #[test]
    fn one_path_is_a_reno() {
        let single = [path(0.01, 50)];
        for control in ALL.into_iter().chain([CongestionKind::Reno]) {
            let windows = equilibrium(control, &single).unwrap();
            assert!((windows[0] - 200_f64.sqrt()).abs() < 1e-9, "{control}: {windows:?}");
        }
    }

    #[test]
    fn together_they_have_what_the_best_path_has_alone() {
        let cases = [
            [path(0.01, 50), path(0.01, 50)],
            [path(0.001, 100), path(0.02, 30)],
            [path(0.003, 20), path(0.0005, 200)],
        ];
        for paths in cases {
            let alone = equilibrium(CongestionKind::Reno, &paths).unwrap();
            let best = alone.iter().zip(&paths).map(|(w, p)| w / p.rtt.as_secs_f64());
            let best = best.fold(0.0, f64::max);
            for control in ALL {
                let windows = equilibrium(control, &paths).unwrap();
                let ratio = rate(&windows, &paths) / best;
                // A window of LIA is never larger than a Reno's, which only lowers the sum.
                let (low, high) = (if control == CongestionKind::Lia { 0.5 } else { 1.0 }, 1.0);
                assert!(
                    ratio >= low - 1e-9 && ratio <= high + 1e-9,
                    "{control} {paths:?}: {ratio}"
                );
            }
            let uncoupled = rate(&alone, &paths);
            assert!(uncoupled > best);
        }
    }

    /// RFC 6356: windows are proportional to `1 / p` where none is at its limit.
    #[test]
    fn congested_paths_are_used_less() {
        let paths = [path(0.01, 50), path(0.02, 50)];
        let share = |control| {
            let windows = equilibrium(control, &paths).unwrap();
            windows[1] / windows[0]
        };
        assert!((share(CongestionKind::Lia) - 0.5).abs() < 1e-9);
        assert_eq!(share(CongestionKind::Olia), 0.0);
        // cost = 2: a = (sqrt(129) - 5) / 2 = 3.179.
        assert!((share(CongestionKind::Balia) - 1.0 / 3.178_908).abs() < 1e-6);
        assert!((share(CongestionKind::Reno) - 0.5_f64.sqrt()).abs() < 1e-9);
    }

    /// Of paths of equal RTT, of which one loses `k` times as much.
    #[test]
    fn balia_solves_its_equation() {
        for k in [1.2, 2.0, 4.0, 9.58] {
            let paths = [path(0.001, 50), path(0.001 * k, 50)];
            let windows = equilibrium(CongestionKind::Balia, &paths).unwrap();
            let a = windows[0] / windows[1];
            let off = (1.0 + a) * (4.0 + a) - 10.0 * k * a.min(1.5);
            assert!(a >= 1.5 && off.abs() < 1e-9, "{k}: {a}");
        }
    }

    /// In equilibrium an ACK grows the window of LIA by what losses take: RFC 6356's formula.
    #[test]
    fn growth_and_losses_are_equal() {
        let paths = [path(0.001, 100), path(0.02, 30), path(0.0001, 300)];
        let windows = equilibrium(CongestionKind::Lia, &paths).unwrap();
        let total: f64 = windows.iter().sum();
        let most = windows.iter().zip(&paths).map(|(w, p)| w / p.rtt.as_secs_f64().powi(2));
        let alpha = total * most.fold(0.0, f64::max) / rate(&windows, &paths).powi(2);
        for (w, path) in windows.iter().zip(&paths) {
            let (growth, decrease) = ((alpha / total).min(1.0 / w), path.loss * w / 2.0);
            assert!((growth / decrease - 1.0).abs() < 1e-6, "{w}: {growth} and {decrease}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let problem = |control, paths: &[_]| equilibrium(control, paths).unwrap_err().to_string();
        assert!(problem(CongestionKind::Lia, &[]).starts_with("no link"));
        assert_eq!(
            problem(CongestionKind::Lia, &[path(0.0, 1)]),
            "the loss is 0; allowed: above 0"
        );
        assert!(problem(CongestionKind::Lia, &[path(2.0, 1)]).starts_with("the loss is 2"));
        assert!(problem(CongestionKind::Bbr, &[path(0.1, 1)]).contains("bbr"));
    }
}

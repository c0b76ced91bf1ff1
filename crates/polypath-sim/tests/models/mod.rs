//! What theory says a TCP sends, in packets/s, and windows in packets.

/// Mathis et al. 1997, equation 3: `sqrt(3 / 2bp) / RTT`, with `b` packets for each ACK that
/// opens the window by `1 / W`.
pub(crate) fn mathis(p: f64, rtt: f64, b: f64) -> f64 {
    (1.5 / (b * p)).sqrt() / rtt
}

/// The full model of Padhye et al. 2000 (PFTK), equation 32, with a window that is not limited.
/// `p` is the rate of loss indications, `t0` the first timeout.
pub(crate) fn pftk(p: f64, rtt: f64, b: f64, t0: f64) -> f64 {
    let (q, w) = (1.0 - p, pftk_window(p, b));
    let timeouts = (1.0 - q.powi(3)) * (1.0 + q.powi(3) * (1.0 - q.powf(w - 3.0)));
    pftk_with_timeouts(p, rtt, b, t0, (timeouts / (1.0 - q.powf(w))).min(1.0))
}

/// The same with this share of timeouts among the loss indications, for which PFTK has a formula
/// (equation 24) that assumes that after a loss all later packets of its round are lost.
pub(crate) fn pftk_with_timeouts(p: f64, rtt: f64, b: f64, t0: f64, timeouts: f64) -> f64 {
    let (q, w) = (1.0 - p, pftk_window(p, b));
    let backoff = 1.0 + (0..6).map(|n| 2_f64.powi(n) * p.powi(n + 1)).sum::<f64>();
    (q / p + w + timeouts / q) / (rtt * (b / 2.0 * w + 1.0) + timeouts * t0 * backoff / q)
}

/// The window at the end of a cycle: PFTK's equation 13.
fn pftk_window(p: f64, b: f64) -> f64 {
    let k = (2.0 + b) / (3.0 * b);
    k + (8.0 * (1.0 - p) / (3.0 * b * p) + k * k).sqrt()
}

/// The mean window of CUBIC with one loss in each `1 / p` packets: RFC 9438 figure 6 with
/// `beta` = 0.7 and `C` = 0.4, or where that is larger, figure 7: the window of a Reno-friendly
/// flow.
pub(crate) fn cubic_window(p: f64, rtt: f64) -> f64 {
    let (c, beta) = (0.4_f64, 0.7_f64);
    let cubic = (c * (3.0 + beta) / (4.0 * (1.0 - beta))).powf(0.25) * (rtt / p).powf(0.75);
    cubic.max(reno_window(p))
}

/// The mean window of a Reno-friendly flow.
pub(crate) fn reno_window(p: f64) -> f64 {
    (1.5 / p).sqrt()
}

#[test]
fn t_mathis_1() {
    assert!((mathis(0.01, 0.1, 1.0) - 122.4745).abs() < 1e-4);
    assert!((mathis(0.01, 0.1, 2.0) - 86.6025).abs() < 1e-4);
}

#[test]
fn t_pftk_1() {
    assert!((pftk(0.01, 0.1, 2.0, 0.4) - 77.846_455).abs() < 1e-6);
}

#[test]
fn t_cubrf_1() {
    assert!((cubic_window(1e-4, 0.1) - 187.40).abs() < 0.005);
    assert!((cubic_window(1e-5, 0.01) - reno_window(1e-5)).abs() < 1e-9, "the Reno region");
}

//! The goodput of BBR, and of `polypath`, which has its model, on one path in steady state.
//!
//! ```text
//! goodput = (1 - p) 0.99 b (1 - t (1 - 4 MSS / (b RTT)) / 10 s),   t = max(200 ms, RTT)
//! ```
//!
//! BBR v1 paces at 0.99 of the largest rate of ten rounds; the gains of a cycle (1.25, 0.75 and six
//! of 1) have a mean of 1. Once in 10 s it sends four segments a round for 200 ms, or a round
//! (ProbeRTT). Random loss takes only what is lost, as long as the round that probes with 1.25
//! delivers the estimated rate: above a loss of `1 - 1 / 1.25` the estimate falls to nothing.
//!
//! Source: Cardwell et al., "BBR: Congestion-Based Congestion Control", CACM 60(2), 2017; Linux
//! `tcp_bbr.c`. Assumes a path of its own with a queue of 1.25 BDP or more.

use super::error::{ModelError, loss, positive};
use polypath_core::congestion::Polypath;
use std::time::Duration;

/// The share of the estimated rate that is sent.
const MARGIN: f64 = 0.99;
/// The gain that probes for more.
const PROBE: f64 = 1.25;
/// How often, and how long at least, ProbeRTT drains the path, in seconds.
const DRAINED_EVERY: f64 = 10.0;
const DRAINED_FOR: f64 = 0.2;
/// Its window in segments, which is the smallest.
const SMALLEST: f64 = 4.0;

/// The goodput in packets/s of BBR alone on a path that carries `rate` packets/s.
///
/// # Errors
/// A rate or RTT that is not above 0, a loss that is not from 0 to below 1.
pub fn bbr_rate(rate: f64, rtt: Duration, loss_rate: f64) -> Result<f64, ModelError> {
    let rate = positive("the rate in packets/s", rate)?;
    let rtt = positive("the RTT in seconds", rtt.as_secs_f64())?;
    let arrives = 1.0 - loss(loss_rate)?;
    let least = (SMALLEST / rtt).min(rate);
    if PROBE * arrives < 1.0 {
        return Ok(least * arrives);
    }
    let drained = (DRAINED_FOR.max(rtt) / DRAINED_EVERY).min(1.0);
    Ok(arrives * (MARGIN * rate * (1.0 - drained) + drained * least).min(rate))
}

/// The share of packets that `polypath` may lose before its window may shrink with what it
/// delivers: up to here quanta and the allowance for ACK aggregation make up for it on paths up to
/// 200 ms.
const BEARABLE_LOSS: f64 = 0.09;

/// The goodput in packets/s of `polypath` alone on a path that carries `rate` packets/s.
///
/// ```text
/// goodput = (1 - p) b (1 - RTT / 4 / 10 s)
/// ```
///
/// Its window keeps the path busy; once in 10 s a round has three quarters of a BDP. Where more
/// than 9 % is lost, the smallest window is assumed; on short paths it bears more.
///
/// Source: [`Polypath`]. Assumes a queue of a tenth of a BDP or more.
///
/// # Errors
/// As [`bbr_rate`].
pub fn polypath_rate(rate: f64, rtt: Duration, loss_rate: f64) -> Result<f64, ModelError> {
    let rate = positive("the rate in packets/s", rate)?;
    let rtt = positive("the RTT in seconds", rtt.as_secs_f64())?;
    let arrives = 1.0 - loss(loss_rate)?;
    if 1.0 - arrives > BEARABLE_LOSS {
        return Ok((SMALLEST / rtt).min(rate) * arrives);
    }
    let measuring = (rtt / DRAINED_EVERY).min(1.0);
    let idle = 1.0 - Polypath::PROBE_RTT_GAIN;
    Ok(arrives * rate * (1.0 - measuring * idle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polypath_loses_a_quarter_of_a_round_in_ten_seconds_and_what_is_lost() {
        let at = |loss| polypath_rate(1_000.0, Duration::from_millis(40), loss).unwrap();
        assert!((at(0.0) - 999.0).abs() < 1e-9);
        assert!((at(0.02) / at(0.0) - 0.98).abs() < 1e-12);
        assert_eq!(at(0.1), 90.0, "four segments in 40 ms, of which a tenth is lost");
        assert!(polypath_rate(0.0, Duration::from_millis(40), 0.0).is_err());
    }

    #[test]
    fn a_clean_path_gives_all_but_the_margin_and_the_probes() {
        // 1000 packets/s at 40 ms: 980 ms in each second 990 packets/s, 20 ms 100 packets/s.
        let rate = bbr_rate(1_000.0, Duration::from_millis(40), 0.0).unwrap();
        assert!((rate - (0.98 * 990.0 + 0.02 * 100.0)).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn random_loss_takes_its_share_until_probing_no_longer_finds_the_rate() {
        let at = |loss| bbr_rate(1_000.0, Duration::from_millis(40), loss).unwrap();
        assert!((at(0.1) / at(0.0) - 0.9).abs() < 1e-12);
        assert!(at(0.199) > 700.0);
        assert_eq!(at(0.21), 100.0 * 0.79);
    }

    #[test]
    fn a_path_of_less_than_four_segments_is_never_drained() {
        let rate = bbr_rate(50.0, Duration::from_millis(40), 0.0).unwrap();
        assert!(rate > 49.0 && rate <= 50.0, "{rate}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(bbr_rate(0.0, Duration::from_millis(40), 0.0).is_err());
        assert!(bbr_rate(1.0, Duration::ZERO, 0.0).is_err());
        assert!(bbr_rate(1.0, Duration::from_millis(40), 2.0).is_err());
    }
}

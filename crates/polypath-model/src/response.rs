//! What a TCP of one path sends at a given loss and RTT.
//!
//! Rates in packets/s, windows in packets. `b` is the number of packets for each ACK that opens
//! the window: 1 where every packet is acknowledged or bytes are counted, 2 with delayed ACKs.
//!
//! ```text
//! Mathis   X = sqrt(3 / 2bp) / RTT
//! PFTK     X = ((1-p)/p + E[W] + Q/(1-p)) / (RTT (b/2 E[W] + 1) + Q T0 f(p) / (1-p))
//! CUBIC    W = (C (3 + beta) / 4 (1 - beta))^(1/4) (RTT / p)^(3/4), or Reno's if that is larger
//! ```
//!
//! Sources: Mathis, Semke, Mahdavi, Ott 1997, equation 3; Padhye, Firoiu, Towsley, Kurose 2000,
//! equations 13, 24, 32, 33; RFC 9438 figures 6 and 7. All formulas: `docs/algorithms/models.md`.

use super::error::{ModelError, loss, positive};
use std::time::Duration;

/// The rate of a TCP that halves its window at each loss, in packets/s; infinite without loss.
///
/// # Errors
/// A loss that is not from 0 to below 1, an RTT or `packets_per_ack` that is not above 0.
pub fn mathis(loss_rate: f64, rtt: Duration, packets_per_ack: f64) -> Result<f64, ModelError> {
    let rtt = positive("the RTT in seconds", rtt.as_secs_f64())?;
    let b = positive("the number of packets for each ACK", packets_per_ack)?;
    Ok((1.5 / (b * loss(loss_rate)?)).sqrt() / rtt)
}

/// The model of Padhye et al. of a Reno TCP, timeouts included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pftk {
    /// The rate of loss indications, from 0 to below 1.
    pub loss: f64,
    /// The round-trip time.
    pub rtt: Duration,
    /// Packets for each ACK.
    pub packets_per_ack: f64,
    /// The first timeout.
    pub first_timeout: Duration,
    /// The largest window, in packets; infinite for none.
    pub window_limit: f64,
}

impl Pftk {
    /// The rate in packets/s: the full model (equation 32). Without loss it is that of the largest
    /// window.
    ///
    /// # Errors
    /// What is not in its range.
    pub fn rate(&self) -> Result<f64, ModelError> {
        let checked = self.checked()?;
        Ok(checked.with_timeouts(checked.timeout_share()))
    }

    /// The same if this share of the loss indications are timeouts, for which the model itself has
    /// a formula (equation 24) that assumes that after a loss the rest of its round is lost.
    ///
    /// # Errors
    /// What is not in its range.
    pub fn rate_with_timeouts(&self, share: f64) -> Result<f64, ModelError> {
        let (what, allowed) = ("the share of timeouts", "from 0 to 1");
        match (0.0..=1.0).contains(&share) {
            true => Ok(self.checked()?.with_timeouts(share)),
            false => Err(ModelError::Number { what, given: share, allowed }),
        }
    }

    /// The rate in packets/s by the approximation (equation 33).
    ///
    /// # Errors
    /// What is not in its range.
    pub fn approximate_rate(&self) -> Result<f64, ModelError> {
        let Self { loss: p, packets_per_ack: b, .. } = self.checked()?;
        let (rtt, t0) = (self.rtt.as_secs_f64(), self.first_timeout.as_secs_f64());
        let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
        let lossy = 1.0 / (rtt * (2.0 * b * p / 3.0).sqrt() + t0 * timeouts);
        Ok(lossy.min(self.window_limit / rtt))
    }

    /// The window at the end of a cycle between two losses (equation 13).
    fn window(&self) -> f64 {
        let (p, b) = (self.loss, self.packets_per_ack);
        let k = (2.0 + b) / (3.0 * b);
        k + (8.0 * (1.0 - p) / (3.0 * b * p) + k * k).sqrt()
    }

    /// The share of loss indications that are timeouts (equation 24).
    fn timeout_share(&self) -> f64 {
        let w = self.window().min(self.window_limit);
        // 1 - (1 - p)^n, also where p is tiny.
        let lost = |n: f64| -libm::expm1(n * libm::log1p(-self.loss));
        if w <= 3.0 || self.loss == 0.0 {
            return 1.0;
        }
        (lost(3.0) * (1.0 + (1.0 - lost(3.0)) * lost(w - 3.0)) / lost(w)).min(1.0)
    }

    fn with_timeouts(&self, share: f64) -> f64 {
        let Self { loss: p, packets_per_ack: b, window_limit: most, .. } = *self;
        let (rtt, q) = (self.rtt.as_secs_f64(), 1.0 - p);
        if p == 0.0 {
            return most / rtt;
        }
        let (w, cycle) = match self.window() {
            w if w < most => (w, b / 2.0 * w + 1.0),
            _ => (most, b / 8.0 * most + q / (p * most) + 2.0),
        };
        let backoff = 1.0 + (0..6).map(|n| 2_f64.powi(n) * p.powi(n + 1)).sum::<f64>();
        let waiting = share * self.first_timeout.as_secs_f64() * backoff / q;
        (q / p + w + share / q) / (rtt * cycle + waiting)
    }

    fn checked(&self) -> Result<Self, ModelError> {
        loss(self.loss)?;
        positive("the RTT in seconds", self.rtt.as_secs_f64())?;
        positive("the number of packets for each ACK", self.packets_per_ack)?;
        match self.window_limit >= 1.0 {
            true => Ok(*self),
            false => Err(ModelError::Number {
                what: "the largest window in packets",
                given: self.window_limit,
                allowed: "from 1",
            }),
        }
    }
}

/// The mean window of CUBIC with one loss in each `1 / loss` packets, in packets, with `beta` =
/// 0.7 and `C` = 0.4; infinite without loss.
///
/// # Errors
/// A loss that is not from 0 to below 1, an RTT that is not above 0.
pub fn cubic_window(loss_rate: f64, rtt: Duration) -> Result<f64, ModelError> {
    let (c, beta) = (0.4_f64, 0.7_f64);
    let rtt = positive("the RTT in seconds", rtt.as_secs_f64())?;
    let cubic = (c * (3.0 + beta) / (4.0 * (1.0 - beta))).powf(0.25);
    Ok((cubic * (rtt / loss(loss_rate)?).powf(0.75)).max(reno_window(loss_rate)?))
}

/// The mean window of a Reno-friendly flow with one loss in each `1 / loss` packets, in packets;
/// infinite without loss.
///
/// # Errors
/// A loss that is not from 0 to below 1.
pub fn reno_window(loss_rate: f64) -> Result<f64, ModelError> {
    Ok((1.5 / loss(loss_rate)?).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn pftk(loss: f64) -> Pftk {
        Pftk {
            loss,
            rtt: RTT,
            packets_per_ack: 2.0,
            first_timeout: Duration::from_millis(400),
            window_limit: f64::INFINITY,
        }
    }

    #[test]
    fn t_mathis_1() {
        assert!((mathis(0.01, RTT, 1.0).unwrap() - 122.4745).abs() < 1e-4);
        assert!((mathis(0.01, RTT, 2.0).unwrap() - 86.6025).abs() < 1e-4);
    }

    #[test]
    fn t_pftk_1() {
        let model = pftk(0.01);
        assert!((model.approximate_rate().unwrap() - 79.430_885).abs() < 1e-6);
        assert!((model.window() - 12.175_117_7).abs() < 1e-7);
        assert!((model.timeout_share() - 0.279_921_6).abs() < 1e-7);
        assert!((model.rate().unwrap() - 77.846_455).abs() < 1e-6);
    }

    #[test]
    fn t_cubrf_1() {
        assert!((cubic_window(1e-4, RTT).unwrap() - 187.40).abs() < 0.005);
        let (short, reno) = (cubic_window(1e-5, RTT / 10), reno_window(1e-5));
        assert_eq!(short, reno, "the Reno region");
        // 387.3 by sqrt(1.5 / p); RFC 9438 rounds to 1.2 / sqrt(p), which is 379.5.
        assert!((reno.unwrap() - 387.298).abs() < 0.001);
    }

    #[test]
    fn a_limited_window_limits() {
        let limited = |loss, window_limit| Pftk { window_limit, ..pftk(loss) }.rate().unwrap();
        assert_eq!(limited(0.0, 20.0), 200.0);
        assert!(limited(1e-12, 20.0) > 199.9 && limited(1e-12, 20.0) <= 200.0);
        assert!(limited(0.01, 6.0) < limited(0.01, 10.0));
        assert_eq!(limited(0.01, 1e3), pftk(0.01).rate().unwrap());
        assert_eq!(pftk(0.0).rate(), Ok(f64::INFINITY));
    }

    #[test]
    fn tiny_losses_keep_their_digits() {
        // Without timeouts and at tiny losses PFTK is Mathis.
        for p in [1e-6, 1e-9, 1e-12] {
            let ratio = pftk(p).rate().unwrap() / mathis(p, RTT, 2.0).unwrap();
            assert!((ratio - 1.0).abs() < 4.0 * p.sqrt() + 1e-6, "{p}: {ratio}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(mathis(2.0, RTT, 1.0).is_err());
        assert!(mathis(0.01, Duration::ZERO, 1.0).is_err());
        assert!(pftk(-0.1).rate().is_err());
        assert!(Pftk { window_limit: 0.0, ..pftk(0.01) }.rate().is_err());
        assert!(pftk(0.01).rate_with_timeouts(1.5).is_err());
        assert!(cubic_window(1.0, RTT).is_err());
    }
}

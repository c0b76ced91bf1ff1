//! From the signal-to-noise ratio to a rate.

use super::error::{Model, RadioError};
use polypath_units::Bandwidth;

/// The efficiency of 64-QAM at the highest code rate, in bit/s/Hz (TS 36.213 table 7.2.3-1 and
/// TS 38.214 table 5.2.2.1-2, CQI 15).
pub const EFFICIENCY_64_QAM: f64 = 5.5547;
/// The same of 256-QAM (TS 38.214 table 5.2.2.1-3, CQI 15).
pub const EFFICIENCY_256_QAM: f64 = 7.4063;

/// The attenuated and truncated Shannon bound of TR 36.942 annex A.2, for several MIMO layers.
///
/// With r layers, each at 1/r of the power, the rate at a signal-to-noise ratio S is
/// `bandwidth x time_share x (1 - overhead) x r x min(cap, alpha log2(1 + S/r))`, without the
/// layers whose S/r is below the least. The number of layers is the best one up to
/// [`max_layers`](Self::max_layers).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateMap {
    /// What an implementation reaches of Shannon's bound: 0.6 downlink, 0.4 uplink (TR 36.942
    /// annex A.2).
    pub alpha: f64,
    /// Below this ratio nothing is received: -10 dB (TR 36.942 annex A.2).
    pub least_snr_db: f64,
    /// The most that a layer carries, in bit/s/Hz: that of the highest modulation and code rate.
    pub efficiency_cap: f64,
    /// The most MIMO layers, 1 to 8.
    pub max_layers: u8,
    /// The share of time for this direction: 1 with FDD.
    pub time_share: f64,
    /// The share of resources for control and reference signals.
    pub overhead: f64,
}

impl RateMap {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first parameter outside its range.
    pub fn check(&self) -> Result<(), RadioError> {
        const SHARE: &str = "more than 0 and at most 1 is allowed";
        let model = Model("rate map");
        let share = |value: f64| value > 0.0 && value <= 1.0;
        model.require(share(self.alpha), "alpha", &self.alpha, SHARE)?;
        let least = self.least_snr_db;
        let fits = (-50.0..=50.0).contains(&least);
        model.require(fits, "least_snr_db", &least, "-50 to 50 dB is allowed")?;
        let cap = self.efficiency_cap;
        let fits = cap > 0.0 && cap <= 20.0;
        let allowed = "more than 0 and at most 20 bit/s/Hz is allowed";
        model.require(fits, "efficiency_cap", &cap, allowed)?;
        let fits = (1..=8).contains(&self.max_layers);
        model.require(fits, "max_layers", &self.max_layers, "1 to 8 is allowed")?;
        model.require(share(self.time_share), "time_share", &self.time_share, SHARE)?;
        let fits = (0.0..1.0).contains(&self.overhead);
        model.require(fits, "overhead", &self.overhead, "from 0 and below 1 is allowed")
    }

    /// What all layers carry together, in bit/s/Hz, without overhead.
    pub fn efficiency(&self, snr_db: f64) -> f64 {
        let with = |layers: u8| f64::from(layers) * self.of_layer(snr_db, f64::from(layers));
        (1..=self.max_layers).map(with).fold(0.0, f64::max)
    }

    /// The rate in a bandwidth at a signal-to-noise ratio.
    pub fn rate(&self, bandwidth_hz: f64, snr_db: f64) -> Bandwidth {
        let usable = bandwidth_hz * self.time_share * (1.0 - self.overhead);
        Bandwidth::from_bytes_per_sec(usable * self.efficiency(snr_db) / 8.0)
    }

    fn of_layer(&self, snr_db: f64, layers: f64) -> f64 {
        let snr_db = snr_db - 10.0 * libm::log10(layers);
        if snr_db < self.least_snr_db {
            return 0.0;
        }
        let snr = libm::pow(10.0, snr_db / 10.0);
        (self.alpha * libm::log2(1.0 + snr)).min(self.efficiency_cap)
    }
}

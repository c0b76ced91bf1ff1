//! The air between a base station and a user: distance to loss to rate.

use super::error::{Model, RadioError};
use super::path_loss::{PathLoss, Sight};
use super::rate_map::{EFFICIENCY_64_QAM, EFFICIENCY_256_QAM, RateMap};
use polypath_units::Bandwidth;

/// Thermal noise at 290 K in dBm/Hz.
pub const THERMAL_NOISE_DBM_PER_HZ: f64 = -174.0;

/// Power and noise of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkBudget {
    /// The bandwidth that carries signal, in Hz.
    pub bandwidth_hz: f64,
    /// The power of the transmitter over that bandwidth, in dBm.
    pub transmit_power_dbm: f64,
    /// The gain of both antennas with beamforming, less losses in cables and bodies, in dB.
    pub antenna_gain_db: f64,
    /// The noise figure of the receiver in dB.
    pub noise_figure_db: f64,
    /// By how much the interference of other cells raises the noise, in dB.
    pub interference_margin_db: f64,
}

impl LinkBudget {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first parameter outside its range.
    pub fn check(&self) -> Result<(), RadioError> {
        let model = Model("link budget");
        let bandwidth = self.bandwidth_hz;
        let fits = (1e3..=1e10).contains(&bandwidth);
        model.require(fits, "bandwidth_hz", &bandwidth, "1 kHz to 10 GHz is allowed")?;
        let power = self.transmit_power_dbm;
        let fits = (-50.0..=100.0).contains(&power);
        model.require(fits, "transmit_power_dbm", &power, "-50 to 100 dBm is allowed")?;
        let gain = self.antenna_gain_db;
        let fits = (-50.0..=100.0).contains(&gain);
        model.require(fits, "antenna_gain_db", &gain, "-50 to 100 dB is allowed")?;
        for (parameter, value) in [
            ("noise_figure_db", self.noise_figure_db),
            ("interference_margin_db", self.interference_margin_db),
        ] {
            let fits = (0.0..=50.0).contains(&value);
            model.require(fits, parameter, &value, "0 to 50 dB is allowed")?;
        }
        Ok(())
    }

    /// The power received over the whole bandwidth, in dBm. The RSRP of TS 38.215 is that of one
    /// subcarrier: lower by 10 log10 of their number.
    pub fn received_dbm(&self, loss_db: f64) -> f64 {
        self.transmit_power_dbm + self.antenna_gain_db - loss_db
    }

    /// Noise and interference in dBm.
    pub fn noise_dbm(&self) -> f64 {
        THERMAL_NOISE_DBM_PER_HZ
            + 10.0 * libm::log10(self.bandwidth_hz)
            + self.noise_figure_db
            + self.interference_margin_db
    }

    /// The signal-to-noise ratio in dB.
    pub fn snr_db(&self, loss_db: f64) -> f64 {
        self.received_dbm(loss_db) - self.noise_dbm()
    }
}

/// All that turns a distance into a rate, in one direction of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Distance to loss.
    pub path_loss: PathLoss,
    /// Loss to signal-to-noise ratio.
    pub budget: LinkBudget,
    /// Signal-to-noise ratio to rate.
    pub rate_map: RateMap,
}

/// \[A\]: a margin for interference in a loaded network.
const INTERFERENCE_MARGIN_DB: f64 = 6.0;

/// TR 36.942 annex A.2.
const DOWNLINK: RateMap = RateMap {
    alpha: 0.6,
    least_snr_db: -10.0,
    efficiency_cap: EFFICIENCY_64_QAM,
    max_layers: 2,
    time_share: 1.0,
    overhead: 0.0,
};

impl Air {
    /// The downlink of an LTE macro cell at 1.8 GHz: 20 MHz (100 resource blocks) FDD, two
    /// layers, 64-QAM, 46 dBm; a peak of 150 Mbit/s, that of UE category 4.
    ///
    /// Overhead, gain, noise figure and margin are \[A\].
    pub fn lte() -> Self {
        Self {
            path_loss: PathLoss::uma(1.8),
            budget: LinkBudget {
                bandwidth_hz: 100.0 * 180e3,
                transmit_power_dbm: 46.0,
                antenna_gain_db: 12.0,
                noise_figure_db: 9.0,
                interference_margin_db: INTERFERENCE_MARGIN_DB,
            },
            rate_map: RateMap { overhead: 0.25, ..DOWNLINK },
        }
    }

    /// The downlink of a 5G street cell at 3.5 GHz: 100 MHz (273 resource blocks of 30 kHz
    /// carriers, TS 38.101-1 table 5.3.2-1), four layers, 256-QAM, overhead 0.14 (TS 38.306
    /// section 4.1.2, FR1 downlink).
    ///
    /// Power, gain, noise figure, margin, and three quarters of the time (DDDSU) are \[A\].
    pub fn nr_mid_band() -> Self {
        Self {
            path_loss: PathLoss::umi(3.5),
            budget: LinkBudget {
                bandwidth_hz: 273.0 * 12.0 * 30e3,
                transmit_power_dbm: 44.0,
                antenna_gain_db: 8.0,
                noise_figure_db: 9.0,
                interference_margin_db: INTERFERENCE_MARGIN_DB,
            },
            rate_map: RateMap {
                efficiency_cap: EFFICIENCY_256_QAM,
                max_layers: 4,
                time_share: 0.75,
                overhead: 0.14,
                ..DOWNLINK
            },
        }
    }

    /// The downlink of a 5G street cell at 28 GHz: 400 MHz (264 resource blocks of 120 kHz
    /// carriers, TS 38.101-2 table 5.3.2-1), one layer, 64-QAM, overhead 0.18 (TS 38.306 section
    /// 4.1.2, FR2 downlink), 30 dBm as in the ns-3 mmWave module.
    ///
    /// Gain, noise figure, and three quarters of the time (DDDSU) are \[A\]; beams keep
    /// interference away.
    pub fn nr_mm_wave() -> Self {
        Self {
            path_loss: PathLoss::umi(28.0),
            budget: LinkBudget {
                bandwidth_hz: 264.0 * 12.0 * 120e3,
                transmit_power_dbm: 30.0,
                antenna_gain_db: 12.0,
                noise_figure_db: 10.0,
                interference_margin_db: 0.0,
            },
            rate_map: RateMap { max_layers: 1, time_share: 0.75, overhead: 0.18, ..DOWNLINK },
        }
    }

    /// Checks the parts.
    ///
    /// # Errors
    /// The first parameter outside its range.
    pub fn check(&self) -> Result<(), RadioError> {
        self.path_loss.check()?;
        self.budget.check()?;
        self.rate_map.check()
    }

    /// The rate at a distance on the ground, with `extra_db` of loss beyond the mean: shadow
    /// fading, a body in the way.
    pub fn rate(&self, distance_m: f64, sight: Sight, extra_db: f64) -> Bandwidth {
        let loss_db = self.path_loss.loss_db(distance_m, sight) + extra_db;
        self.rate_at(self.budget.snr_db(loss_db))
    }

    /// The rate at a signal-to-noise ratio.
    pub fn rate_at(&self, snr_db: f64) -> Bandwidth {
        self.rate_map.rate(self.budget.bandwidth_hz, snr_db)
    }
}

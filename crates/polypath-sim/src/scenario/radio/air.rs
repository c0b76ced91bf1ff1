//! The keys of a cell.

use super::units::{Dbm, Decibels, Hertz, Metres};
use crate::scenario::declare::{Probability, choices, keys};
use polypath_link::radio::{Air, LinkBudget, PathLoss, RateMap};

choices! {
    /// A cell that others are told by their differences from.
    pub(in crate::scenario) enum Cell {
        /// LTE: urban macro at 1.8 GHz, 20 MHz, two layers, 64-QAM, up to 150 Mbit/s.
        Lte = "lte",
        /// 5G in the street at 3.5 GHz: urban micro, 100 MHz, four layers, 256-QAM, up to
        /// 1.9 Gbit/s.
        NrMidBand = "nr_mid_band",
        /// 5G in the street at 28 GHz: urban micro, 400 MHz, one layer, 64-QAM, up to 1.3 Gbit/s.
        NrMmWave = "nr_mm_wave",
    }
}

choices! {
    /// Where base stations and users are.
    pub(in crate::scenario) enum Surroundings {
        /// Urban micro, street canyon: base stations below the roofs, at 10 m if not said.
        Umi = "umi",
        /// Urban macro: base stations above the roofs, at 25 m if not said.
        Uma = "uma",
    }
}

keys! {
    /// A cell; what is not given is as `cell` has it.
    #[derive(Clone)]
    pub(in crate::scenario) struct AirKeys {
        /// What the cell is like.
        cell: Cell;
        /// The environment of the path loss (TR 38.901).
        environment: Option<Surroundings>;
        /// The carrier.
        carrier: Option<Hertz> where "0.5 GHz" to "100 GHz";
        /// The height of the base station's antenna.
        base_height: Option<Metres> where "1.5 m" to "150 m";
        /// The height of the user's antenna; up to 13 m with `uma`.
        user_height: Option<Metres> where "1.5 m" to "22.5 m";
        /// The bandwidth that carries signal.
        bandwidth: Option<Hertz> where "1 kHz" to "10 GHz";
        /// The power of the transmitter over that bandwidth.
        transmit_power: Option<Dbm> where "-50 dBm" to "100 dBm";
        /// The gain of both antennas, less losses in cables and bodies.
        antenna_gain: Option<Decibels> where "-50 dB" to "100 dB";
        /// The noise figure of the receiver.
        noise_figure: Option<Decibels> where "0 dB" to "50 dB";
        /// By how much other cells raise the noise.
        interference_margin: Option<Decibels> where "0 dB" to "50 dB";
        /// What an implementation reaches of Shannon's bound: 0.6 down, 0.4 up (TR 36.942).
        alpha: Option<f64> where 0.001 to 1.0;
        /// Nothing is received below this signal-to-noise ratio.
        least_snr: Option<Decibels> where "-50 dB" to "50 dB";
        /// The most that a layer carries, in bit/s/Hz.
        efficiency_cap: Option<f64> where 0.001 to 20.0;
        /// The most MIMO layers.
        max_layers: Option<u8> where 1 to 8;
        /// The share of time for this direction: 1 with FDD.
        time_share: Option<f64> where 0.001 to 1.0;
        /// The share of resources for control and reference signals, below 1.
        overhead: Option<Probability>;
    }
}

impl Cell {
    fn air(self) -> Air {
        match self {
            Self::Lte => Air::lte(),
            Self::NrMidBand => Air::nr_mid_band(),
            Self::NrMmWave => Air::nr_mm_wave(),
        }
    }
}

impl AirKeys {
    pub(super) fn air(&self) -> Air {
        let Air { path_loss, budget, rate_map } = self.cell.air();
        Air {
            path_loss: self.path_loss(path_loss),
            budget: LinkBudget {
                bandwidth_hz: self.bandwidth.map_or(budget.bandwidth_hz, |given| given.0),
                transmit_power_dbm: self
                    .transmit_power
                    .map_or(budget.transmit_power_dbm, |given| given.0),
                antenna_gain_db: self.antenna_gain.map_or(budget.antenna_gain_db, |given| given.0),
                noise_figure_db: self.noise_figure.map_or(budget.noise_figure_db, |given| given.0),
                interference_margin_db: self
                    .interference_margin
                    .map_or(budget.interference_margin_db, |given| given.0),
            },
            rate_map: RateMap {
                alpha: self.alpha.unwrap_or(rate_map.alpha),
                least_snr_db: self.least_snr.map_or(rate_map.least_snr_db, |given| given.0),
                efficiency_cap: self.efficiency_cap.unwrap_or(rate_map.efficiency_cap),
                max_layers: self.max_layers.unwrap_or(rate_map.max_layers),
                time_share: self.time_share.unwrap_or(rate_map.time_share),
                overhead: self.overhead.map_or(rate_map.overhead, |given| given.0),
            },
        }
    }

    /// Another environment has heights of its own.
    fn path_loss(&self, of_cell: PathLoss) -> PathLoss {
        let carrier_ghz = self.carrier.map_or(of_cell.carrier_ghz, |given| given.0 / 1e9);
        let base = match self.environment {
            Some(Surroundings::Umi) => PathLoss::umi(carrier_ghz),
            Some(Surroundings::Uma) => PathLoss::uma(carrier_ghz),
            None => PathLoss { carrier_ghz, ..of_cell },
        };
        PathLoss {
            base_height_m: self.base_height.map_or(base.base_height_m, |given| given.0),
            user_height_m: self.user_height.map_or(base.user_height_m, |given| given.0),
            ..base
        }
    }
}

//! Path loss and the probability of line of sight, by 3GPP TR 38.901 section 7.4.

use super::error::{Model, RadioError};

/// Where a base station and its users are (TR 38.901 section 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// Urban micro, street canyon: the base station is below the roofs.
    UmiStreetCanyon,
    /// Urban macro: the base station is above the roofs.
    Uma,
}

/// Whether the base station can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Line of sight.
    Los,
    /// None: a building is in the way.
    Nlos,
}

/// The mean path loss as a function of distance (TR 38.901 table 7.4.1-1), for users outdoors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathLoss {
    /// The environment.
    pub environment: Environment,
    /// The carrier in GHz, 0.5 to 100.
    pub carrier_ghz: f64,
    /// The height of the base station's antenna in m. The model was fitted for 10 m (UMi) and
    /// 25 m (UMa).
    pub base_height_m: f64,
    /// The height of the user's antenna in m: 1.5 to 22.5 (UMi), 1.5 to 13 (UMa: above, the
    /// effective environment height is random, which is not modelled).
    pub user_height_m: f64,
}

/// In m/s, as note 1 of the table has it.
const SPEED_OF_LIGHT: f64 = 3.0e8;
/// h_E in m: 1 in UMi, and in UMa for users below 13 m (note 1 of the table).
const ENVIRONMENT_HEIGHT_M: f64 = 1.0;
/// Nearer users count as this far away: the table begins here.
const NEAREST_M: f64 = 10.0;
/// Up to here there always is line of sight (table 7.4.2-1).
const ALWAYS_LOS_M: f64 = 18.0;

/// The numbers of an environment. Losses are `intercept + slope log10(d / m) + carrier
/// log10(f / GHz)` in dB.
struct Table {
    los_intercept_db: f64,
    near_slope: f64,
    /// Of log10(d_BP^2 + (h_BS - h_UT)^2) beyond the breakpoint, where the slope is 40.
    breakpoint_slope: f64,
    nlos_intercept_db: f64,
    nlos_slope: f64,
    nlos_carrier: f64,
    /// Less loss for each metre of the user's height above 1.5 m.
    nlos_per_metre_db: f64,
    /// Line of sight, none.
    shadow_sigma_db: [f64; 2],
    /// Table 7.5-6.
    shadow_correlation_m: [f64; 2],
    /// How fast line of sight gets rare (table 7.4.2-1).
    los_decay_m: f64,
    highest_user_m: f64,
}

const FAR_SLOPE: f64 = 40.0;
const LOS_CARRIER: f64 = 20.0;

const UMI: Table = Table {
    los_intercept_db: 32.4,
    near_slope: 21.0,
    breakpoint_slope: 9.5,
    nlos_intercept_db: 22.4,
    nlos_slope: 35.3,
    nlos_carrier: 21.3,
    nlos_per_metre_db: 0.3,
    shadow_sigma_db: [4.0, 7.82],
    shadow_correlation_m: [10.0, 13.0],
    los_decay_m: 36.0,
    highest_user_m: 22.5,
};

const UMA: Table = Table {
    los_intercept_db: 28.0,
    near_slope: 22.0,
    breakpoint_slope: 9.0,
    nlos_intercept_db: 13.54,
    nlos_slope: 39.08,
    nlos_carrier: 20.0,
    nlos_per_metre_db: 0.6,
    shadow_sigma_db: [4.0, 6.0],
    shadow_correlation_m: [37.0, 50.0],
    los_decay_m: 63.0,
    highest_user_m: 13.0,
};

impl PathLoss {
    /// Street canyon with the heights of the model's definition: 10 m and 1.5 m.
    pub const fn umi(carrier_ghz: f64) -> Self {
        let environment = Environment::UmiStreetCanyon;
        Self { environment, carrier_ghz, base_height_m: 10.0, user_height_m: 1.5 }
    }

    /// Urban macro with the heights of the model's definition: 25 m and 1.5 m.
    pub const fn uma(carrier_ghz: f64) -> Self {
        let environment = Environment::Uma;
        Self { environment, carrier_ghz, base_height_m: 25.0, user_height_m: 1.5 }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// The first parameter outside its range.
    pub fn check(&self) -> Result<(), RadioError> {
        let model = Model("path loss");
        let Self { carrier_ghz, base_height_m, user_height_m, .. } = *self;
        let fits = (0.5..=100.0).contains(&carrier_ghz);
        model.require(fits, "carrier_ghz", &carrier_ghz, "0.5 to 100 GHz is allowed")?;
        let fits = (1.5..=self.table().highest_user_m).contains(&user_height_m);
        let allowed = "1.5 to 22.5 m (UMi) or 13 m (UMa) is allowed";
        model.require(fits, "user_height_m", &user_height_m, allowed)?;
        let fits = base_height_m >= user_height_m && base_height_m <= 150.0;
        let allowed = "from the user's height to 150 m is allowed";
        model.require(fits, "base_height_m", &base_height_m, allowed)
    }

    /// d'_BP in m: beyond this distance on the ground, the loss with line of sight grows with the
    /// fourth power of the distance.
    pub fn breakpoint_m(&self) -> f64 {
        let base = self.base_height_m - ENVIRONMENT_HEIGHT_M;
        let user = self.user_height_m - ENVIRONMENT_HEIGHT_M;
        4.0 * base * user * self.carrier_ghz * 1e9 / SPEED_OF_LIGHT
    }

    /// The mean loss in dB at a distance on the ground (d_2D). Distances below 10 m count as
    /// 10 m; beyond 5 km the formula is continued outside its range.
    pub fn loss_db(&self, distance_m: f64, sight: Sight) -> f64 {
        let distance_m = distance_m.max(NEAREST_M);
        let los = self.los_db(distance_m);
        match sight {
            Sight::Los => los,
            Sight::Nlos => los.max(self.nlos_db(distance_m)),
        }
    }

    /// The standard deviation of shadow fading in dB (table 7.4.1-1).
    pub fn shadow_sigma_db(&self, sight: Sight) -> f64 {
        self.table().shadow_sigma_db[sight as usize]
    }

    /// The distance in m over which shadow fading loses its correlation, to 1/e (table 7.5-6).
    pub fn shadow_correlation_m(&self, sight: Sight) -> f64 {
        self.table().shadow_correlation_m[sight as usize]
    }

    /// The probability of line of sight at a distance on the ground (table 7.4.2-1, users
    /// outdoors and up to 13 m high in UMa).
    pub fn los_probability(&self, distance_m: f64) -> f64 {
        if distance_m <= ALWAYS_LOS_M {
            return 1.0;
        }
        let near = ALWAYS_LOS_M / distance_m;
        near + libm::exp(-distance_m / self.table().los_decay_m) * (1.0 - near)
    }

    fn table(&self) -> &'static Table {
        match self.environment {
            Environment::UmiStreetCanyon => &UMI,
            Environment::Uma => &UMA,
        }
    }

    /// PL1 and PL2.
    fn los_db(&self, distance_m: f64) -> f64 {
        let table = self.table();
        let carrier_db = LOS_CARRIER * libm::log10(self.carrier_ghz);
        let at_one_metre = table.los_intercept_db + carrier_db;
        let log_distance = libm::log10(self.in_space(distance_m));
        let breakpoint_m = self.breakpoint_m();
        if distance_m <= breakpoint_m {
            return at_one_metre + table.near_slope * log_distance;
        }
        // log10 of a square.
        let log_breakpoint = 2.0 * libm::log10(self.in_space(breakpoint_m));
        at_one_metre + FAR_SLOPE * log_distance - table.breakpoint_slope * log_breakpoint
    }

    /// PL'.
    fn nlos_db(&self, distance_m: f64) -> f64 {
        let table = self.table();
        table.nlos_intercept_db
            + table.nlos_slope * libm::log10(self.in_space(distance_m))
            + table.nlos_carrier * libm::log10(self.carrier_ghz)
            - table.nlos_per_metre_db * (self.user_height_m - 1.5)
    }

    /// d_3D in m.
    fn in_space(&self, distance_m: f64) -> f64 {
        libm::hypot(distance_m, self.base_height_m - self.user_height_m)
    }
}

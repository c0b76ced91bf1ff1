//! Models with names.

use super::fading::Fading;
use super::interruption::Interruption;
use super::model::Model;
use polypath_units::Bandwidth;
use std::time::Duration;

/// A model with a name. `train` and `drive` are fitted to recordings; the parameters of the others
/// are assumptions (`[A]` at each), made so that they order as experience says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// A user who does not move.
    Static,
    /// A user on foot.
    Walk,
    /// A bus or car in a city, fitted to a bus line of NYU-METS.
    Drive,
    /// An underground train, fitted to two lines of NYU-METS.
    Train,
    /// Millimetre waves in a street: high rates, which bodies, vehicles and corners block.
    MmwaveUrban,
}

const STEP: Duration = Duration::from_millis(100);

const fn fading(components: u32, correlation_ms: u64) -> Fading {
    Fading { components, correlation: Duration::from_millis(correlation_ms) }
}

const fn interruption(clear_ms: u64, interrupted_ms: u64, remaining: f64) -> Interruption {
    let mean_clear = Duration::from_millis(clear_ms);
    Interruption { mean_clear, mean_interrupted: Duration::from_millis(interrupted_ms), remaining }
}

impl Preset {
    /// Its parameters.
    pub fn model(self) -> Model {
        let (slow, fast, interruptions) = match self {
            // [A] Load of the cell over a minute, CoV 0.14; scheduling, CoV 0.1. No outages.
            Self::Static => (fading(100, 60_000), fading(200, 1_000), vec![]),
            // [A] Shadowing over 28 m at 1.4 m/s, CoV 0.35; a corner every five minutes.
            Self::Walk => {
                (fading(16, 20_000), fading(60, 500), vec![interruption(300_000, 1_500, 0.05)])
            }
            // Fitted to bus B57: CoV, autocorrelation, outages below 0.5 Mbit/s.
            // docs/links/traces.md
            Self::Drive => {
                (fading(7, 45_000), fading(50, 500), vec![interruption(120_000, 3_000, 0.02)])
            }
            // Fitted to subway lines 7 and Q together, likewise.
            Self::Train => {
                (fading(4, 45_000), fading(60, 500), vec![interruption(50_000, 3_500, 0.01)])
            }
            // [A] CoV 0.41 over 10 s and 0.32 over 0.2 s; blocked a quarter of the time, by
            // passers-by and vehicles, to an eighth; out of reach 1.5 s in a minute.
            Self::MmwaveUrban => {
                let interruptions =
                    vec![interruption(9_000, 3_000, 0.12), interruption(60_000, 1_500, 0.0)];
                (fading(12, 10_000), fading(20, 200), interruptions)
            }
        };
        Model { step: STEP, slow, fast, interruptions }
    }

    /// A usual mean rate: of `train` and `drive` that of the recordings, of the others `[A]`.
    pub fn usual_mean(self) -> Bandwidth {
        Bandwidth::from_mbit_per_sec(match self {
            Self::Static => 50.0,
            Self::Walk => 30.0,
            Self::Drive => 7.2,
            Self::Train => 7.6,
            Self::MmwaveUrban => 400.0,
        })
    }
}

polypath_units::named!(Preset, "is no model of rates", {
    Static => "static",
    Walk => "walk",
    Drive => "drive",
    Train => "train",
    MmwaveUrban => "mmwave_urban",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for preset in Preset::ALL {
            assert_eq!(preset.to_string().parse(), Ok(preset));
        }
        assert!("Train".parse::<Preset>().is_err());
    }
}

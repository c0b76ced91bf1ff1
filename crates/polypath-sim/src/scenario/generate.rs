//! The keys of generated traces.

use super::declare::{Choice, Located, Readable, Shape, keys};
use super::read::Reader;
use super::seed::SeedKeys;
use polypath_config::{DocumentError, Value};
use polypath_link::Rate;
use polypath_link::trace::generate::Preset;
use polypath_units::Bandwidth;
use std::sync::Arc;
use std::time::Duration;

keys! {
    /// A trace from the seeded generator, as `polypath trace generate` makes it; it repeats.
    #[derive(Clone)]
    pub(super) struct GenerateKeys {
        /// Where the user is.
        preset: Preset;
        /// The mean rate; if not given, 50 Mbit/s for `static`, 30 Mbit/s for `walk`, 7.2 Mbit/s
        /// for `drive`, 7.6 Mbit/s for `train`, 400 Mbit/s for `mmwave_urban`.
        mean: Option<Bandwidth> where "1 kbit/s" to "100 Gbit/s";
        /// How long it is until it repeats; if not given, the `duration` of the scenario, or
        /// 10 min.
        duration: Option<Duration> where "1 s" to "24 h";
        ..seed: SeedKeys;
    }
}

/// How long a trace is if nothing tells.
const WITHOUT_DURATION: Duration = Duration::from_secs(600);

impl GenerateKeys {
    /// The trace.
    pub(super) fn rate(
        keys: &Located<Self>,
        default_seed: u64,
        reader: &Reader<'_>,
    ) -> Result<Rate, DocumentError> {
        let Self { preset, mean, duration, seed } = keys.value;
        let mean = mean.unwrap_or_else(|| preset.usual_mean());
        let duration = duration.or(reader.duration).unwrap_or(WITHOUT_DURATION);
        let rates = preset.model().generate(mean, duration, seed.or(default_seed));
        let rates = rates.map_err(|problem| keys.wrong(problem))?;
        let trace = rates.to_trace().map_err(|problem| {
            keys.wrong(format_args!("{problem}; a shorter `duration` repeats"))
        })?;
        Ok(Rate::Trace { trace: Arc::new(trace), repeat: true })
    }
}

impl Readable for Preset {
    fn shape() -> Shape {
        let choices = Self::ALL.into_iter().map(|preset| {
            let purpose = match preset {
                Self::Static => "A user who does not move.",
                Self::Walk => "A user on foot.",
                Self::Drive => "A bus or car in a city; fitted to recordings.",
                Self::Train => "An underground train; fitted to recordings.",
                Self::MmwaveUrban => {
                    "Millimetre waves in a street, which bodies and corners block."
                }
            };
            Choice { name: preset.name(), purpose: purpose.to_owned() }
        });
        Shape::Choice(choices.collect())
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        let names = || Self::ALL.map(Self::name);
        value.text()?.parse().map_err(|_| value.is_none_of(&names()))
    }
}

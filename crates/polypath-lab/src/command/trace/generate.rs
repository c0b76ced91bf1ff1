//! `polypath trace generate`.

use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use polypath_link::trace::generate::Preset;
use polypath_units::{Bandwidth, parse_duration};

use super::{Format, Target};
use polypath::config::UsageError;

/// Generate a trace from a stochastic model; equal seeds give equal traces
#[derive(Clone, Debug, PartialEq, Args)]
pub(super) struct GenerateOptions {
    /// The model
    #[arg(value_name = "MODEL", value_parser = preset())]
    model: Preset,
    /// The mean rate of the model, such as "40 Mbit/s" [default: one that is usual for the model]
    #[arg(long, value_name = "RATE")]
    mean: Option<Bandwidth>,
    /// How long the trace is
    #[arg(long, value_name = "DURATION", default_value = "10 min", value_parser = parse_duration)]
    duration: Duration,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "mahimahi")]
    to: Format,
    #[command(flatten)]
    target: Target,
}

/// The names of the models, for help and completion too.
fn preset() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.map(Preset::name)).try_map(|name| name.parse::<Preset>())
}

pub(super) fn run(options: &GenerateOptions) -> anyhow::Result<()> {
    let mean = options.mean.unwrap_or(options.model.usual_mean());
    let rates = options.model.model().generate(mean, options.duration, options.seed);
    let rates = rates.map_err(|error| UsageError::new(error.to_string()))?;
    options.target.write_rates(&rates, options.to)
}

//! `polypath model`: what theory says that links give, without a simulation.

mod link;
mod prediction;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use polypath_model::AdviceQuestion;
use polypath_sim::run::Plan;
use polypath_sim::scenario::Scenario;
use polypath_units::ByteCount;

pub use link::{ModelLink, ParseModelLinkError};
use polypath::output;
use prediction::{Outlook, Question};

/// Predict the throughput of links, alone and together, without a simulation
#[derive(Clone, Debug, PartialEq, Args)]
#[command(group(ArgGroup::new("links").required(true).args(["file", "link"])))]
pub struct ModelOptions {
    /// A scenario (TOML): the paths of its first connection
    #[arg(value_name = "SCENARIO")]
    file: Option<PathBuf>,
    /// A link: its rate, its delay one way and the share of packets that it loses, such as
    /// 35.9Mbit/s,40ms,0.1%; once for each link
    #[arg(long, value_name = "RATE,DELAY[,LOSS]")]
    link: Vec<ModelLink>,
    /// Override a value of the scenario, such as path.lte.delay=50ms
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "link")]
    set: Vec<String>,
    /// The receive buffer
    #[arg(long, value_name = "SIZE", default_value = "16 MiB", value_parser = receive_buffer)]
    receive_buffer: ByteCount,
    /// The transfer that TCP through a tunnel is predicted for
    #[arg(long, value_name = "SIZE", default_value = "10 MB")]
    bytes: ByteCount,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints what is to be expected.
///
/// # Errors
/// When the scenario or a number is wrong, or standard output cannot be written.
pub fn run(options: &ModelOptions) -> anyhow::Result<ExitCode> {
    let question = Question {
        links: options.links()?,
        receive_buffer: options.receive_buffer,
        bytes: options.bytes,
    };
    let outlook = Outlook::of(question)?;
    output::print(&match options.json {
        true => serde_json::to_string_pretty(&outlook)? + "\n",
        false => outlook.table(),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A size that a bond's receive buffer can have.
pub(in crate::command) fn receive_buffer(text: &str) -> Result<ByteCount, String> {
    let least = AdviceQuestion::LEAST_RECEIVE_BUFFER;
    let size: ByteCount = text.parse().map_err(|error| format!("{error}"))?;
    match size.get() >= least {
        true => Ok(size),
        false => Err(format!("{size} is below what bonds have at least; allowed: from {least} B")),
    }
}

impl ModelOptions {
    fn links(&self) -> anyhow::Result<Vec<ModelLink>> {
        let Some(file) = &self.file else { return Ok(self.link.clone()) };
        let plan = Plan::new(Scenario::load_with(file, &self.set)?)?;
        Ok(ModelLink::of_scenario(&plan))
    }
}

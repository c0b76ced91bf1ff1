//! `polypath advise`: which links to use, and how.

mod check;
mod cost;
mod live;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use polypath_model::{AdviceError, AdviceLink, AdviceQuestion, Goal, added, advise};
use polypath_sim::run::Plan;
use polypath_sim::scenario::Scenario;
use polypath_units::ByteCount;

use super::model::{ModelLink, receive_buffer};
use super::runs::Finished;
pub use cost::{LinkCost, ParseLinkCostError};
use polypath::config::UsageError;
use polypath::output;
use polypath::service::INTERRUPTED;
use report::Report;

/// What `--cost` calls a link of `--add`.
const ADDED: &str = "added";

/// Advise which links to use, with which algorithms, and what one more link would bring
#[derive(Clone, Debug, PartialEq, Args)]
#[command(group(ArgGroup::new("advised").required(true).args(["file", "link", "live"])))]
pub struct AdviseOptions {
    /// A scenario (TOML): the paths of its first connection
    #[arg(value_name = "SCENARIO")]
    file: Option<PathBuf>,
    /// A link: its rate, its delay one way and the share of packets that it loses, such as
    /// 35.9Mbit/s,40ms,0.1%; once for each link
    #[arg(long, value_name = "RATE,DELAY[,LOSS]")]
    link: Vec<ModelLink>,
    /// The paths of a running edge as it has measured them, by its control socket
    #[arg(long, value_name = "SOCKET")]
    live: Option<Option<PathBuf>>,
    /// Override a value of the scenario, such as path.lte.delay=50ms
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["link", "live"])]
    set: Vec<String>,
    /// What is wanted most: throughput, latency, reliability or cost
    #[arg(long, value_name = "GOAL", default_value_t)]
    goal: Goal,
    /// What a GB over a link costs, by its name or its number from 1, such as lte=8; `added` is the
    /// link of --add
    #[arg(long, value_name = "LINK=COST")]
    cost: Vec<LinkCost>,
    /// The most that a GB may cost in the mean
    #[arg(long, value_name = "COST", allow_negative_numbers = true)]
    cap: Option<f64>,
    /// The largest receive buffer that may be
    #[arg(long, value_name = "SIZE", default_value = "16 MiB", value_parser = receive_buffer)]
    receive_buffer: ByteCount,
    /// Say what this link more would bring; several are looked at one by one
    #[arg(long, value_name = "RATE,DELAY[,LOSS]")]
    add: Vec<ModelLink>,
    /// Simulate the choice, the runner-up and the like; for throughput the best of them is advised
    #[arg(long)]
    check: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the advice.
///
/// # Errors
/// When the scenario, a number or a name is wrong, no edge answers, or standard output cannot be
/// written.
pub fn run(options: &AdviseOptions) -> anyhow::Result<ExitCode> {
    let links = options.links()?;
    let question = options.question(&links)?;
    let usage = |error: &dyn core::fmt::Display| UsageError::new(error.to_string());
    let advice = advise(&question).map_err(|error| usage(&error))?;
    let more = options.add.iter().map(|link| Ok((link, added(&question, &options.added(link))?)));
    let more = more.collect::<Result<Vec<_>, AdviceError>>().map_err(|error| usage(&error))?;
    let checked = match options.check.then(|| check::run(&advice, &question)).transpose()? {
        Some(Finished::Interrupted { done, of }) => {
            output::tell(&super::runs::interrupted(None, done, of));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        Some(Finished::All(results)) => Some(results.into_iter().map(|(_, rate)| rate).collect()),
        None => None,
    };
    let report = Report::new(&links, &question, &advice, &more, checked);
    output::print(&match options.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => report.text(),
    })?;
    Ok(ExitCode::SUCCESS)
}

impl AdviseOptions {
    fn links(&self) -> anyhow::Result<Vec<ModelLink>> {
        if let Some(file) = &self.file {
            let plan = Plan::new(Scenario::load_with(file, &self.set)?)?;
            return Ok(ModelLink::of_scenario(&plan));
        }
        if let Some(socket) = &self.live {
            return live::links(socket.as_deref());
        }
        let named = |(number, link): (usize, &ModelLink)| {
            let mut link = link.clone();
            link.name = format!("link {number}");
            link
        };
        Ok((1..).zip(&self.link).map(named).collect())
    }

    fn question(&self, links: &[ModelLink]) -> anyhow::Result<AdviceQuestion> {
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let other = (!self.add.is_empty()).then_some(ADDED);
        if other.is_some_and(|other| names.contains(&other)) {
            let message =
                format!("a path is called {ADDED}, as links of --add are; allowed: any other name");
            return Err(UsageError::new(message).into());
        }
        let costs = cost::of_links(&self.cost, &names, other)?;
        let link = |(link, cost_per_gb): (&ModelLink, Option<f64>)| AdviceLink {
            name: link.name.clone(),
            path: link.path(),
            cost_per_gb,
        };
        Ok(AdviceQuestion {
            links: links.iter().zip(costs).map(link).collect(),
            receive_buffer: self.receive_buffer.get(),
            goal: self.goal,
            cap_per_gb: self.cap,
        })
    }

    fn added(&self, link: &ModelLink) -> AdviceLink {
        let cost = self.cost.iter().rev().find(|cost| cost.link == ADDED);
        AdviceLink {
            name: link.name.clone(),
            path: link.path(),
            cost_per_gb: cost.map(|cost| cost.per_gb),
        }
    }
}

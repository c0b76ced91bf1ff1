//! `polypath reproduce --live`: what was simulated, held against the product and the kernel.

mod kernel;
mod kernel_text;
mod options;
mod tunnel;
mod tunnel_text;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use polypath_emulator::validate::gateway::Interrupt;
use serde::Serialize;

use super::ReproduceOptions;
use crate::command::runs::on_signal;
use crate::command::validate::kernel_version;
use crate::experiment::{self, EXPERIMENTS, Effort, Experiment, KernelReport, Live, Study};
pub(super) use options::LiveOptions;
use polypath::config::UsageError;
use polypath::service::{self, INTERRUPTED, LogFormat, QUIET_LOG};

/// What `--json` prints.
#[derive(Serialize)]
struct Results {
    quick: bool,
    kernel: String,
    /// With the product.
    #[serde(flatten)]
    tunnel: Option<tunnel::Results>,
    /// By the kernel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_kernel: Vec<KernelReport>,
}

/// Runs the experiments live, then model and simulator, and prints what came out.
///
/// # Errors
/// When an experiment cannot be run live, or the first run fails.
pub(super) fn run(options: &ReproduceOptions) -> anyhow::Result<ExitCode> {
    let experiments = selected(&options.experiments)?;
    service::start_log(LogFormat::Text, QUIET_LOG)?;
    let (interrupt, stopped) = (Interrupt::default(), Arc::new(AtomicBool::new(false)));
    let (ends, stops) = (interrupt.clone(), stopped.clone());
    // From here on a signal leaves nothing behind.
    on_signal(move || {
        stops.store(true, Ordering::Relaxed);
        ends.set();
    });
    let (mut in_tunnel, mut by_kernel) = (Vec::new(), Vec::new());
    for experiment in experiments {
        match experiment.live {
            Some(Live::Tunnel(rows)) => in_tunnel.push((experiment, rows)),
            Some(Live::Kernel(live)) => by_kernel.push((experiment, live)),
            None => {}
        }
    }
    let mut tunnel = None;
    if !in_tunnel.is_empty() {
        let settings = options.live.settings(interrupt)?;
        tunnel = tunnel::measured(&in_tunnel, &settings, options)?;
        if tunnel.is_none() {
            return Ok(INTERRUPTED.into());
        }
    }
    let Some(by_kernel) = kernel::measured(&by_kernel, options, &stopped)? else {
        return Ok(INTERRUPTED.into());
    };
    let results = Results { quick: options.quick, kernel: kernel_version()?, tunnel, by_kernel };
    options.runs.print(&results, || text(&results))?;
    Ok(if results.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Results {
    /// Whether everything was measured that can be.
    fn is_complete(&self) -> bool {
        self.tunnel.as_ref().is_none_or(|tunnel| tunnel.missing.is_empty())
            && self.by_kernel.iter().all(|report| report.failed == 0)
    }
}

fn text(results: &Results) -> String {
    let tunnel = results.tunnel.as_ref();
    let tunnel = tunnel.map(|tunnel| tunnel_text::render(tunnel, &results.kernel));
    let by_kernel = (!results.by_kernel.is_empty())
        .then(|| kernel_text::render(&results.by_kernel, &results.kernel));
    tunnel.into_iter().chain(by_kernel).collect::<Vec<_>>().join("\n")
}

/// Those that are named, or all that can be run live.
fn selected(names: &[String]) -> anyhow::Result<Vec<&'static Experiment>> {
    let all = || EXPERIMENTS.iter().filter(|experiment| experiment.live.is_some());
    if names.is_empty() {
        return Ok(all().collect());
    }
    let allowed = || all().map(|known| known.folder.to_uppercase()).collect::<Vec<_>>().join(", ");
    let is_live = |name: &&String| all().any(|of| of.folder.eq_ignore_ascii_case(name));
    if let Some(name) = names.iter().find(|name| !is_live(name)) {
        let problem = format!("--live: {name:?} cannot be run live; allowed: {}", allowed());
        return Err(UsageError::new(problem).into());
    }
    Ok(experiment::select(names)?)
}

/// A live run has the points of a quick one. Where there is but one, it lasts its whole time.
fn study(experiment: &'static Experiment, quick: bool) -> anyhow::Result<Study> {
    let whole = Study::new(experiment, Effort::Full)?;
    Ok(match whole.plan().axis.is_empty() && !quick {
        true => whole,
        false => Study::new(experiment, Effort::Quick)?,
    })
}

//! A bond over a few links for some seconds: what predictions and advice are held against.

use core::fmt::Write;
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_model::{AdviceQuestion, Choice, ModelPath};
use polypath_sim::run::{Keep, Plan, RunError};
use polypath_sim::scenario::Scenario;
use polypath_units::Timestamp;
use std::io::ErrorKind;
use std::path::Path;

/// A bond on light carriers, one bulk flow, links alike in both directions. What is not named here
/// is as the bond ships.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The links.
    pub links: Vec<ModelPath>,
    /// Congestion control of each path.
    pub congestion: CongestionKind,
    /// Which path the next segment takes.
    pub scheduler: SchedulerKind,
    /// In bytes.
    pub receive_buffer: u64,
    /// Simulated seconds before anything is measured.
    pub warm_up_secs: u64,
    /// Simulated seconds that are measured.
    pub measured_secs: u64,
}

impl Trial {
    /// Simulated seconds before what is advised is measured, and for which it is, if RTTs are not
    /// long.
    const WARM_UP_SECS: u64 = 5;
    const MEASURED_SECS: u64 = 10;
    /// So many of the longest RTT at least: start-up is over, and what comes after it fills some
    /// rounds.
    const WARM_UP_ROUNDS: u32 = 12;
    const MEASURED_ROUNDS: u32 = 5;

    /// Seconds of warm-up and of measurement for all choices of a question.
    pub fn times_of(question: &AdviceQuestion) -> [u64; 2] {
        let longest = question.links.iter().map(|link| link.path.rtt).max().unwrap_or_default();
        let secs = |rounds: u32| longest.saturating_mul(rounds).as_secs_f64().ceil() as u64;
        [
            secs(Self::WARM_UP_ROUNDS).max(Self::WARM_UP_SECS),
            secs(Self::MEASURED_ROUNDS).max(Self::MEASURED_SECS),
        ]
    }

    /// What is advised to a question, or not.
    pub fn of(choice: &Choice, question: &AdviceQuestion) -> Self {
        let [warm_up_secs, measured_secs] = Self::times_of(question);
        Self {
            links: choice.links.iter().map(|&link| question.links[link].path).collect(),
            congestion: choice.congestion,
            scheduler: choice.scheduler,
            receive_buffer: choice.receive_buffer,
            warm_up_secs,
            measured_secs,
        }
    }

    /// The scenario that is run.
    pub fn scenario(&self) -> String {
        let (warm_up, end) = (self.warm_up_secs, self.warm_up_secs + self.measured_secs);
        let mut text = format!("duration = \"{end} s\"\nwarm_up = \"{warm_up} s\"\n");
        for (index, link) in self.links.iter().enumerate() {
            // Writing to a `String` cannot fail.
            let _ = write!(
                text,
                "[[path]]\nname = \"l{index}\"\nrate = \"{} bit/s\"\ndelay = \"{} ns\"\n\
                 loss = {}\nqueue = \"{} B\"\n",
                link.rate.bits_per_sec(),
                (link.rtt / 2).as_nanos(),
                link.loss,
                link.queue_bytes as u64,
            );
        }
        let Self { congestion, scheduler, receive_buffer, .. } = self;
        text + &format!(
            "[connection]\ntransport = \"bond\"\ncarrier = \"light\"\n\
             congestion = \"{congestion}\"\nscheduler = \"{scheduler}\"\n\
             receive_buffer = \"{receive_buffer} B\"\n[[flow]]\nkind = \"bulk\"\n"
        )
    }

    /// Its goodput in Mbit/s after the warm-up. `watch` is told the simulated time now and then.
    ///
    /// # Errors
    /// What cannot be simulated: no link, a rate of 0, a queue of more bytes than can be said.
    pub fn run(&self, seed: u64, watch: &mut dyn FnMut(Timestamp)) -> Result<f64, RunError> {
        // No link follows a trace.
        let open = &mut |_: &Path| Err(ErrorKind::NotFound.into());
        let scenario = Scenario::parse(&self.scenario(), Path::new("trial"), open)?;
        let report = Plan::new(scenario)?.run(seed, Keep::default(), watch)?.report;
        Ok(report.connections.first().map_or(0.0, |bond| bond.goodput_mbit_s))
    }
}

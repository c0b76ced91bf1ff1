//! From a scenario to results: everything that a run of it consists of.
//!
//! A [`Plan`] is a scenario that has been checked, with its routes found. Each run of it has a seed
//! of its own; equal seeds give equal reports, whatever runs beside them.

mod attach;
mod datagrams;
mod events;
mod flows;
mod inside;
mod measure;
mod network;
mod own;
mod plan;
mod recording;
mod report;
mod settings;

pub use datagrams::DatagramFlow;
pub use events::Timetable;
pub use flows::{FlowTotals, Observed, Spread};
pub use plan::{Plan, Planned, RunError};
pub use polypath_steering::{RuleCounts, RuleUse};
pub use recording::{Keep, KeepError};
pub use report::{ConnectionReport, Dropped, LinkReport, PathTotals, RunReport};
pub use settings::bond_config;

use crate::application::ApplicationId;
use crate::record::Subject;
use crate::record::delay::PathDelay;
use crate::record::events::EventRecord;
use crate::record::series::Recording;
use crate::simulator::Simulator;
use attach::Attached;
use measure::Baseline;
use polypath_link::RunSeed;
use polypath_steering::CountedRules;
use polypath_units::Timestamp;
use recording::{Keeper, Kept};
use std::sync::Arc;
use std::time::Duration;

/// A run without a duration ends at the latest then.
const LONGEST: Timestamp = Timestamp::from_millis(24 * 3_600 * 1_000);
/// How often a run looks whether its flows have ended.
const LOOK: Duration = Duration::from_millis(10);
/// How often a run tells how far it is if there is nothing to look for.
const TELL: Duration = Duration::from_millis(200);

/// A run under way.
#[derive(Debug)]
pub struct Run<'a> {
    plan: &'a Plan,
    seed: u64,
    simulator: Simulator,
    /// The connections, in the order of the plan.
    subjects: Vec<Subject>,
    /// The flows of each connection.
    flows: Vec<Vec<RunningFlow>>,
    /// The rules of each connection that is a gateway.
    rules: Vec<Option<Arc<CountedRules>>>,
    timetable: Timetable,
    baseline: Option<Baseline>,
    keeper: Keeper<'a>,
}

/// A flow of a run.
#[derive(Debug)]
enum RunningFlow {
    /// An application of the connection.
    Application(ApplicationId),
    /// Over UDP.
    Datagrams(DatagramFlow),
}

/// What a run leaves.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The results.
    pub report: RunReport,
    /// The time series that the scenario asks for.
    pub recording: Recording,
    /// The events, if the scenario asks for them; connections are places in [`Plan::connections`].
    pub events: Vec<EventRecord>,
    /// The delays of the connections' packets, if they were to be measured.
    pub delays: Vec<PathDelay>,
}

impl Plan {
    /// Runs the scenario once. `watch` is told the time now and then.
    ///
    /// # Errors
    /// See [`Run::new`], [`Run::advance`] and [`Run::finish`].
    pub fn run(
        &self,
        seed: u64,
        keep: Keep<'_>,
        watch: &mut dyn FnMut(Timestamp),
    ) -> Result<Outcome, RunError> {
        let mut run = Run::new(self, seed, keep)?;
        while run.advance()? {
            watch(run.now());
        }
        run.finish()
    }
}

impl<'a> Run<'a> {
    /// A run at time zero.
    ///
    /// # Errors
    /// When a node of a bond cannot be set up, or a file of a recording cannot be made.
    pub fn new(plan: &'a Plan, seed: u64, keep: Keep<'a>) -> Result<Self, RunError> {
        let run_seed = RunSeed::new(seed, 0);
        let mut simulator = Simulator::new(plan.topology(), run_seed)?;
        if let Some(feedback) = &plan.scenario().feedback {
            simulator.add_switches(plan.topology(), &feedback.on(plan.topology()))?;
        }
        let attached = plan.attach_all(&mut simulator, run_seed)?;
        let names = plan.connections().iter().map(|planned| planned.name.clone());
        let subject = |(name, attached): (String, &Attached)| Subject { name, ends: attached.ends };
        let subjects: Vec<_> = names.zip(&attached).map(subject).collect();
        let (flows, rules) =
            attached.into_iter().map(|attached| (attached.flows, attached.rules)).unzip();
        let record = &plan.scenario().record;
        let topology = plan.topology();
        let keeper = Keeper::attach(record, keep, seed, &mut simulator, topology, &subjects)?;
        let timetable = Timetable::new(&plan.scenario().events, topology);
        Ok(Self {
            plan,
            seed,
            simulator,
            subjects,
            flows,
            rules,
            timetable,
            baseline: None,
            keeper,
        })
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.simulator.now()
    }

    /// Goes on for a while. Returns false once the run is over.
    ///
    /// # Errors
    /// When a scripted change makes no sense for its link.
    pub fn advance(&mut self) -> Result<bool, RunError> {
        if self.now() >= self.end() || self.is_over() {
            return Ok(false);
        }
        let now = self.now();
        self.timetable.apply(now, &mut self.simulator)?;
        if self.baseline.is_none() && now >= self.warm_up() {
            self.baseline = Some(Baseline::take(&self.simulator, &self.subjects));
        }
        self.simulator.run_until(self.next_stop());
        if self.keeper.next_due() <= self.now() {
            self.keeper.sample(&self.simulator);
        }
        Ok(true)
    }

    /// The simulation.
    pub const fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// What has come out so far.
    pub fn report(&self) -> RunReport {
        measure::report(self)
    }

    /// Ends the run where it is.
    ///
    /// # Errors
    /// When something that was recorded cannot be written.
    pub fn finish(mut self) -> Result<Outcome, RunError> {
        let report = self.report();
        let Kept { recording, events, delays } =
            self.keeper.finish(&mut self.simulator, &self.subjects)?;
        Ok(Outcome { report, recording, events, delays })
    }

    /// Where something has to be done or looked at.
    fn next_stop(&self) -> Timestamp {
        let now = self.now();
        let step = if self.plan.ends_by_itself() { LOOK } else { TELL };
        let warm_up = if self.baseline.is_none() { self.warm_up() } else { Timestamp::MAX };
        let ahead = |at: &Timestamp| *at > now;
        [now + step, warm_up, self.timetable.next(), self.keeper.next_due(), self.end()]
            .into_iter()
            .filter(ahead)
            .min()
            .unwrap_or(now)
    }

    /// When averages begin.
    fn warm_up(&self) -> Timestamp {
        Timestamp::ZERO + self.plan.scenario().warm_up
    }

    fn end(&self) -> Timestamp {
        self.plan.scenario().duration.map_or(LONGEST, |duration| Timestamp::ZERO + duration)
    }

    /// Whether all flows have ended, if they do.
    fn is_over(&self) -> bool {
        self.plan.ends_by_itself()
            && self.flows.iter().flatten().all(|flow| self.finished(flow).is_some())
    }

    /// When a flow ended and all that it had sent was there.
    fn finished(&self, flow: &RunningFlow) -> Option<Timestamp> {
        match flow {
            RunningFlow::Application(application) => self.simulator.finished(*application),
            RunningFlow::Datagrams(flow) => flow.finished(&self.simulator),
        }
    }
}

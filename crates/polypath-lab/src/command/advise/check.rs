//! The simulator's word on what is advised.

use crate::store::Label;
use crate::trial::Trial;
use polypath_model::{Advice, AdviceQuestion};

use crate::command::runs::{self, Finished, Work};

/// What decides losses.
const SEED: u32 = 1;

/// A choice that is simulated.
pub(super) struct Check(Trial);

impl Work for Check {
    /// Mbit/s.
    type Measured = f64;

    fn label(&self) -> Label {
        let Trial { scheduler, congestion, .. } = self.0;
        Label {
            key: self.0.scenario(),
            scenario: "advice".to_owned(),
            sender: format!("{congestion}+{scheduler}"),
            seed: SEED,
        }
    }

    fn run(&self) -> anyhow::Result<f64> {
        Ok(self.0.run(SEED.into(), &mut |_| {})?)
    }
}

/// Simulates the choice, the others and the fastest link alone, in this order.
pub(super) fn run(advice: &Advice, question: &AdviceQuestion) -> anyhow::Result<Finished<Check>> {
    let choices = [&advice.choice].into_iter().chain(&advice.others).chain([&advice.alone]);
    let jobs = choices.map(|choice| Check(Trial::of(choice, question))).collect();
    runs::run(jobs, None, runs::one_for_each_core())
}

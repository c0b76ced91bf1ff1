//! Advice for people and for programs.

use crate::trial::Trial;
use polypath_model::{Added, Advice, AdviceQuestion, Choice, Goal};
use polypath_units::millis;
use serde::Serialize;

use crate::command::model::ModelLink;
use polypath::output;

/// Everything that is said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Report {
    links: Vec<AdvisedLink>,
    goal: &'static str,
    cap_per_gb: Option<f64>,
    receive_buffer_bytes: u64,
    /// What is advised, by simulation if there was one and throughput is the goal.
    advised: ChoiceReport,
    /// What the model takes for the best, then the runner-up and the like.
    choices: Vec<ChoiceReport>,
    /// The fastest link alone.
    alone: ChoiceReport,
    explanation: String,
    /// What the simulation says of it, if there was one.
    verdict: Option<String>,
    /// What each link of `--add` would bring.
    added: Vec<AddedReport>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct AdvisedLink {
    #[serde(flatten)]
    link: ModelLink,
    cost_per_gb: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ChoiceReport {
    /// Numbers from 1.
    links: Vec<usize>,
    names: Vec<String>,
    scheduler: &'static str,
    congestion: &'static str,
    receive_buffer_bytes: u64,
    mbit_s: f64,
    /// None where nothing was simulated.
    from_mbit_s: Option<f64>,
    to_mbit_s: Option<f64>,
    limit: &'static str,
    delay_ms: f64,
    surviving_mbit_s: f64,
    cost_per_gb: Option<f64>,
    /// Those of the links that add nothing; numbers from 1.
    spare: Vec<usize>,
    /// What the simulator gave.
    simulated_mbit_s: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct AddedReport {
    link: String,
    used: bool,
    gain_mbit_s: f64,
    choice: ChoiceReport,
    explanation: String,
}

impl Report {
    /// `simulated` is in Mbit/s, of the choice, the others and the fastest link alone.
    pub(super) fn new(
        links: &[ModelLink],
        question: &AdviceQuestion,
        advice: &Advice,
        added: &[(&ModelLink, Added)],
        simulated: Option<Vec<f64>>,
    ) -> Self {
        let name = |link: usize| links.get(link).map(|link| link.name.clone());
        let report = |choice: &Choice| ChoiceReport::new(choice, |link| links[link].name.clone());
        let mut choices: Vec<_> =
            [&advice.choice].into_iter().chain(&advice.others).map(report).collect();
        let mut alone = report(&advice.alone);
        let all = choices.iter_mut().chain([&mut alone]);
        for (choice, rate) in all.zip(simulated.into_iter().flatten()) {
            choice.simulated_mbit_s = Some(rate);
        }
        let cost = |(link, asked): (&ModelLink, Option<f64>)| AdvisedLink {
            link: link.clone(),
            cost_per_gb: asked,
        };
        let costs = question.links.iter().map(|link| link.cost_per_gb);
        let advised = advised(question.goal, &choices);
        Self {
            verdict: verdict(question, &advised, &choices),
            links: links.iter().zip(costs).map(cost).collect(),
            goal: question.goal.name(),
            cap_per_gb: question.cap_per_gb,
            receive_buffer_bytes: question.receive_buffer,
            advised,
            choices,
            alone,
            explanation: advice.explanation.clone(),
            added: added.iter().map(|(link, added)| AddedReport::new(link, added, name)).collect(),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = "Links:\n".to_owned();
        for (number, AdvisedLink { link, cost_per_gb }) in (1..).zip(&self.links) {
            let cost = cost_per_gb.map_or_else(String::new, |cost| format!(", {cost} per GB"));
            text += &format!("  {number}  {}{cost}\n", link.describe());
        }
        text += &format!("\n{}\n\n{}", self.explanation, self.table());
        if let Some(verdict) = &self.verdict {
            text += &format!("\n{verdict}\n");
        }
        for added in &self.added {
            text += &format!("\n{}\n", added.explanation);
        }
        text
    }

    fn table(&self) -> String {
        let head =
            ["", "links", "scheduler", "congestion", "Mbit/s", "from", "to", "simulated", "limit"];
        let titles = ["choice", "runner-up"].into_iter().chain(core::iter::repeat(""));
        let rows = titles.zip(&self.choices).chain([("alone", &self.alone)]);
        let rows: Vec<_> = [head.map(str::to_owned)]
            .into_iter()
            .chain(rows.map(|(title, row)| row.cells(title)))
            .collect();
        output::columns(&rows, 4)
    }
}

/// What the simulation changes. It measures goodput: nothing for other goals.
fn verdict(
    question: &AdviceQuestion,
    advised: &ChoiceReport,
    choices: &[ChoiceReport],
) -> Option<String> {
    let rate = advised.simulated_mbit_s?;
    let [before, counts] = Trial::times_of(question);
    let how = format!("Simulated for {} s, the last {counts} s count.", before + counts);
    let ChoiceReport { names, scheduler, congestion, receive_buffer_bytes, .. } = advised;
    let goal = question.goal;
    Some(match (goal, choices.first() == Some(advised)) {
        (Goal::Throughput, true) => format!("{how} The choice stands, with {rate:.1} Mbit/s."),
        (Goal::Throughput, false) => format!(
            "{how} Better than the choice is {} with {scheduler}, {congestion} and {:.1} MB, {rate:.1} Mbit/s: \
             use that.",
            names.join(" + "),
            *receive_buffer_bytes as f64 / 1e6
        ),
        _ => format!("{how} The choice has {rate:.1} Mbit/s; its {goal} was not measured."),
    })
}

/// A simulation must give so many times what the choice has, to be better: one run tells no more.
const CLEARLY: f64 = 1.005;

/// The choice of the model, or for throughput the one that was the fastest in simulation.
fn advised(goal: Goal, choices: &[ChoiceReport]) -> ChoiceReport {
    let rate = |choice: &ChoiceReport| choice.simulated_mbit_s.unwrap_or(0.0);
    let faster = |best: usize, next: usize| match rate(&choices[next]) > rate(&choices[best]) {
        true => next,
        false => best,
    };
    let fastest = match goal {
        Goal::Throughput => (1..choices.len()).fold(0, faster),
        Goal::Latency | Goal::Reliability | Goal::Cost => 0,
    };
    let is_clear = rate(&choices[fastest]) > CLEARLY * rate(&choices[0]);
    let best = if is_clear { fastest } else { 0 };
    choices[best].clone()
}

impl ChoiceReport {
    fn new(choice: &Choice, name: impl Fn(usize) -> String) -> Self {
        let mbit_s = |bytes_per_sec: f64| bytes_per_sec * 8e-6;
        Self {
            links: choice.links.iter().map(|link| link + 1).collect(),
            names: choice.links.iter().map(|&link| name(link)).collect(),
            scheduler: choice.scheduler.name(),
            congestion: choice.congestion.name(),
            receive_buffer_bytes: choice.receive_buffer,
            mbit_s: mbit_s(choice.bytes_per_sec),
            from_mbit_s: choice.interval.map(|[from, _]| mbit_s(from)),
            to_mbit_s: choice.interval.map(|[_, to]| mbit_s(to)),
            limit: choice.limit.name(),
            delay_ms: millis(choice.delay),
            surviving_mbit_s: mbit_s(choice.surviving_bytes_per_sec),
            cost_per_gb: choice.cost_per_gb,
            spare: choice.spare.iter().map(|link| link + 1).collect(),
            simulated_mbit_s: None,
        }
    }

    fn cells(&self, title: &str) -> [String; 9] {
        let rate = |value: f64| format!("{value:.2}");
        let known = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), rate);
        let links: Vec<_> = self.links.iter().map(usize::to_string).collect();
        [
            title.to_owned(),
            links.join("+"),
            self.scheduler.to_owned(),
            self.congestion.to_owned(),
            rate(self.mbit_s),
            known(self.from_mbit_s),
            known(self.to_mbit_s),
            known(self.simulated_mbit_s),
            self.limit.to_owned(),
        ]
    }
}

impl AddedReport {
    fn new(link: &ModelLink, added: &Added, name: impl Fn(usize) -> Option<String>) -> Self {
        let name = |number| name(number).unwrap_or_else(|| link.name.clone());
        Self {
            link: link.name.clone(),
            used: added.used,
            gain_mbit_s: added.gain_bytes_per_sec * 8e-6,
            choice: ChoiceReport::new(&added.choice, name),
            explanation: added.explanation.clone(),
        }
    }
}

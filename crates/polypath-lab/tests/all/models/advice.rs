//! What advice is worth: the advised choice beside the best of many that were simulated.
//!
//! The 200 sets of the documentation take some hours of processor time: `HELD_OUT_SETS=all
//! UPDATE_GOLDEN=1 cargo test -p polypath-lab --test all held_out`. It goes on where it was
//! stopped; to begin anew, delete `golden/models_advice_held_out.txt`.

use super::sets::{Bonded, advised};
use crate::golden::{golden, golden_part};
use crate::parallel::parallel;
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_lab::trial::Trial;
use polypath_model::{Advice, AdviceLink, AdviceQuestion, Choice, Goal, ModelPath, advise};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The models were fitted to 42 sets of another draw, seed 102, and tried on seeds 103 and 7, and
/// on 23 sets of 20261122. EDPF and start-up were changed because of the 200 sets of 20261124;
/// acknowledgements, `polypath`'s window and the buffers that are advised because of 20261126; what
/// EDPF does with many losses at once because of 66 sets of 20261127.
const HELD_OUT: u64 = 20_261_128;
/// How many held-out sets there are.
const SETS: usize = 200;
/// Of them so many must reach [`NEAR`].
const MOST: f64 = 0.9;
/// What the advised choice must reach of the best one's goodput, and of the best link's alone.
const NEAR: f64 = 0.95;
/// The schedulers that other choices are simulated with.
const SCHEDULERS: [SchedulerKind; 3] =
    [SchedulerKind::Edpf, SchedulerKind::Fps, SchedulerKind::LowRtt];
/// What is measured in a few seconds may be above the bound of the steady state by so much: data
/// that was under way before. On the sets of development it was at most 1.10 times.
const SLACK: f64 = 1.15;

/// The seed with which every choice is simulated.
const FIRST_SEED: u64 = 1;
/// Those with which the contenders are simulated again: the best of many single runs owes some of
/// its lead to chance.
const OTHER_SEEDS: [u64; 2] = [2, 3];
/// So many of the best are contenders,
const CONTENDERS: usize = 3;
/// if they have this share of what is advised.
const CLOSE: f64 = 0.9;

/// Goodputs of a set in Mbit/s, of contenders the means over all seeds.
struct Outcome {
    /// Of what the model alone advises, and its prediction.
    advised: f64,
    predicted: f64,
    /// Of the best of what the model proposes to simulate.
    checked: f64,
    /// Of the best choice.
    best: f64,
    /// Of the best link alone; 0 if none could be better than what is advised.
    alone: f64,
}

/// One of the goodputs.
type Goodput = fn(&Outcome) -> f64;

/// What is advised, without and with `--check`.
const ADVICE: [(&str, Goodput); 2] =
    [("advised", |outcome| outcome.advised), ("checked", |outcome| outcome.checked)];

/// A choice that was simulated.
struct Tried {
    trial: Trial,
    /// With the first seed, in Mbit/s.
    goodput: f64,
}

impl Tried {
    fn new(trial: Trial) -> Self {
        let goodput = run(&trial, FIRST_SEED);
        Self { trial, goodput }
    }

    fn is_alone(&self) -> bool {
        self.trial.links.len() == 1
    }

    /// The mean over all seeds.
    fn again(&self) -> f64 {
        let others: f64 = OTHER_SEEDS.iter().map(|&seed| run(&self.trial, seed)).sum();
        (self.goodput + others) / (1 + OTHER_SEEDS.len()) as f64
    }
}

fn run(trial: &Trial, seed: u64) -> f64 {
    trial.run(seed, &mut |_| {}).expect("the set can be simulated")
}

fn question(set: &Bonded) -> AdviceQuestion {
    let link =
        |path: &ModelPath| AdviceLink { name: "link".to_owned(), path: *path, cost_per_gb: None };
    AdviceQuestion {
        links: set.paths.iter().map(link).collect(),
        receive_buffer: set.receive_buffer,
        goal: Goal::Throughput,
        cap_per_gb: None,
    }
}

/// Little's law: what is under way on all links together fits into the buffer.
fn bound(trial: &Trial) -> f64 {
    let mut links = trial.links.clone();
    links.sort_by_key(|link| link.rtt);
    let fill = |(sum, left): (f64, f64), link: &ModelPath| {
        let rtt = link.rtt.as_secs_f64();
        let rate = (link.rate.bytes_per_sec() * (1.0 - link.loss)).min(left / rtt);
        (sum + rate, left - rate * rtt)
    };
    links.iter().fold((0.0, trial.receive_buffer as f64), fill).0 * 8e-6 * SLACK
}

/// All links, each alone, and the first two, three and so on by RTT and by rate; several of them
/// with each scheduler.
fn choices(set: &Bonded) -> Vec<(Vec<usize>, SchedulerKind)> {
    let links = &set.paths;
    let mut by_rtt: Vec<usize> = (0..links.len()).collect();
    by_rtt.sort_by_key(|&link| links[link].rtt);
    let mut by_rate = by_rtt.clone();
    by_rate.sort_by_key(|&link| core::cmp::Reverse(links[link].rate));
    let prefixes = |order: &[usize]| {
        (2..=order.len()).map(|count| order[..count].to_vec()).collect::<Vec<_>>()
    };
    let mut sets = [prefixes(&by_rtt), prefixes(&by_rate)].concat();
    sets.iter_mut().for_each(|set| set.sort_unstable());
    sets.sort();
    sets.dedup();
    let alone = (0..links.len()).map(|link| (vec![link], SCHEDULERS[0]));
    let together = sets.iter().flat_map(|set| SCHEDULERS.map(|scheduler| (set.clone(), scheduler)));
    alone.chain(together).collect()
}

/// What is advised, `others` that `--check` simulates, and all that may be better, with the first
/// seed.
fn try_all(
    set: &Bonded,
    question: &AdviceQuestion,
    choice: &Choice,
    others: &[Choice],
) -> Vec<Tried> {
    let proposed = || core::iter::once(choice).chain(others);
    let mut tried: Vec<_> =
        proposed().map(|choice| Tried::new(Trial::of(choice, question))).collect();
    let advised = tried[0].goodput;
    let mut best = tried.iter().map(|tried| tried.goodput).fold(0.0, f64::max);
    for (links, scheduler) in choices(set) {
        let alone = links.len() == 1;
        // Of one link all schedulers make the same.
        let is_known =
            |known: &Choice| known.links == links && (alone || known.scheduler == scheduler);
        if proposed().any(is_known) {
            continue;
        }
        let other = Choice {
            links,
            scheduler,
            congestion: CongestionKind::Polypath,
            receive_buffer: set.receive_buffer,
            ..choice.clone()
        };
        let trial = Trial::of(&other, question);
        if bound(&trial) >= if alone { advised } else { best } {
            let next = Tried::new(trial);
            best = best.max(next.goodput);
            tried.push(next);
        }
    }
    tried
}

/// The place of the best of `tried` with the first seed.
fn first<'t>(tried: impl IntoIterator<Item = (usize, &'t Tried)>) -> Option<usize> {
    let best = tried.into_iter().max_by(|(_, a), (_, b)| a.goodput.total_cmp(&b.goodput));
    best.map(|(place, _)| place)
}

/// The places of what is simulated again: what is advised, `checked`, the best link `alone`, and
/// the best of all; but for those that are not close to what is advised.
fn contenders(tried: &[Tried], checked: usize, alone: Option<usize>) -> Vec<usize> {
    let mut ranked: Vec<usize> = (1..tried.len()).collect();
    ranked.sort_by(|&a, &b| tried[b].goodput.total_cmp(&tried[a].goodput));
    ranked.truncate(CONTENDERS);
    ranked.extend(alone.into_iter().chain([0, checked]));
    ranked.retain(|&place| tried[place].goodput >= CLOSE * tried[0].goodput);
    ranked.sort_unstable();
    ranked.dedup();
    ranked
}

fn outcome(set: &Bonded) -> Outcome {
    let question = question(set);
    let Advice { choice, others, .. } = advise(&question).expect("the set is sound");
    let tried = try_all(set, &question, &choice, &others);
    let places = || tried.iter().enumerate();
    let checked = first(places().take(1 + others.len())).expect("a choice is advised");
    let alone = first(places().filter(|(_, tried)| tried.is_alone()));
    let contenders = contenders(&tried, checked, alone);
    let mut goodputs: Vec<f64> = tried.iter().map(|tried| tried.goodput).collect();
    if contenders.len() > 1 {
        contenders.iter().for_each(|&place| goodputs[place] = tried[place].again());
    }
    Outcome {
        advised: goodputs[0],
        predicted: choice.bytes_per_sec * 8e-6,
        checked: goodputs[checked],
        best: contenders.iter().map(|&place| goodputs[place]).fold(0.0, f64::max),
        alone: alone.map_or(0.0, |place| goodputs[place]),
    }
}

fn line(outcome: &Outcome) -> String {
    let Outcome { advised, predicted, checked, best, alone } = outcome;
    format!("{advised:7.2}  {predicted:9.2}  {checked:7.2}  {best:7.2}  {alone:7.2}")
}

fn share(outcomes: &[Outcome], is: impl Fn(&Outcome) -> bool) -> f64 {
    outcomes.iter().filter(|outcome| is(outcome)).count() as f64 / outcomes.len() as f64
}

fn near(outcomes: &[Outcome], of: Goodput) -> f64 {
    share(outcomes, |outcome| of(outcome) >= NEAR * outcome.best)
}

fn not_below_a_link(outcomes: &[Outcome], of: Goodput) -> f64 {
    share(outcomes, |outcome| of(outcome) >= NEAR * outcome.alone)
}

fn quantile(mut values: Vec<f64>, at: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() as f64 * at) as usize]
}

/// Of measured over predicted.
fn ratio(outcomes: &[Outcome], at: f64) -> f64 {
    quantile(outcomes.iter().map(|one| one.advised / one.predicted).collect(), at)
}

fn table(outcomes: &[Outcome]) -> String {
    let mut text =
        "goodputs in Mbit/s\nadvised  predicted  checked  best     best alone\n".to_owned();
    outcomes.iter().for_each(|outcome| text += &(line(outcome) + "\n"));
    text + &summary(outcomes)
}

fn summary(outcomes: &[Outcome]) -> String {
    let mut text = format!("{} sets\n", outcomes.len());
    for (name, of) in ADVICE {
        let shares = |at| quantile(outcomes.iter().map(|one| of(one) / one.best).collect(), at);
        let _ = writeln!(
            text,
            "{name}: {:.3} of the sets reach 0.95 of the best, {:.3} 0.95 of the best alone; of the \
             best: least {:.3}, 10th {:.3}, 50th {:.3}",
            near(outcomes, of),
            not_below_a_link(outcomes, of),
            shares(0.0),
            shares(0.1),
            shares(0.5),
        );
    }
    let [low, middle, high] = [0.1, 0.5, 0.9].map(|at| ratio(outcomes, at));
    let _ =
        writeln!(text, "measured over predicted: 10th {low:.3}, 50th {middle:.3}, 90th {high:.3}");
    text
}

/// The first of the sets of slower links.
#[test]
fn advice_for_a_set() {
    let outcome = outcome(&advised(7, 1, 40.0)[0]);
    golden_part("models_advice.txt", &(line(&outcome) + "\n"));
    assert!(ADVICE.iter().all(|(_, of)| of(&outcome) >= NEAR * outcome.best));
}

mod experiments {
    use super::*;

    /// Of slower links, which cost less. Of the 200 sets 0.925 reach the mark; of eight that is one
    /// which does not, as the golden file shows.
    const MOST_OF_EIGHT: f64 = 7.0 / 8.0;

    #[test]
    fn advice_for_a_few_sets() {
        let outcomes = parallel(&advised(7, 8, 40.0), outcome);
        golden("models_advice.txt", &table(&outcomes));
        let reached = ADVICE.map(|(_, of)| near(&outcomes, of));
        assert!(reached.iter().all(|&share| share >= MOST_OF_EIGHT), "{reached:?}");
        assert_eq!(not_below_a_link(&outcomes, |outcome| outcome.advised), 1.0);
    }
}

/// Goes on with the sets that are not in the file yet, and keeps each at once: the file shows how
/// far it is.
fn go_on() {
    let sets = advised(HELD_OUT, SETS, 500.0);
    let known = known();
    let left: Vec<usize> = (0..SETS).filter(|index| !known.contains_key(index)).collect();
    let found = Mutex::new(known);
    parallel(&left, |&index| {
        let outcome = outcome(&sets[index]);
        let mut found = found.lock().expect("no set fails");
        found.insert(index, outcome);
        fs::write(file(), numbered(&found)).expect("the file can be written");
    });
}

/// What of them was found, together, must reach the mark of the best choice with and without
/// `--check`, that of the best link with it: what the model alone misses there is in the file
/// (docs/advise.md).
#[test]
fn the_held_out_sets_so_far() {
    if std::env::var_os("HELD_OUT_SETS").is_some() {
        go_on();
    }
    let outcomes: Vec<_> = known().into_values().collect();
    golden("models_advice_held_out_summary.txt", &summary(&outcomes));
    let reached = ADVICE.map(|(_, of)| near(&outcomes, of));
    assert!(reached.iter().all(|&share| share >= MOST), "{reached:?}");
    assert_eq!(not_below_a_link(&outcomes, |outcome| outcome.checked), 1.0);
    assert_eq!(told(), [0.1, 0.9].map(|at| in_hundredths(ratio(&outcomes, at))));
}

/// The interval that the advice with EDPF for these sets comes with, as factors of what is
/// predicted, where what links can carry is more, and no link holds so few packets that less is
/// told to be possible.
fn told() -> [f64; 2] {
    let advice = |set: &Bonded| advise(&question(set)).expect("the set is possible").choice;
    let highest = |[from, to]: [f64; 2], choice: &Choice| {
        let [low, high] = choice.interval.expect("what is advised was simulated");
        [from.max(low / choice.bytes_per_sec), to.max(high / choice.bytes_per_sec)]
    };
    let choices = advised(HELD_OUT, SETS, 500.0).iter().map(advice).collect::<Vec<_>>();
    let edpf = choices.iter().filter(|choice| choice.scheduler == SchedulerKind::Edpf);
    edpf.fold([0.0, 0.0], highest).map(in_hundredths)
}

fn in_hundredths(ratio: f64) -> f64 {
    (ratio * 100.0).round() / 100.0
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/models_advice_held_out.txt")
}

/// By the number of the set, in the order in which they are drawn.
fn known() -> BTreeMap<usize, Outcome> {
    let text = fs::read_to_string(file()).unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

fn numbered(outcomes: &BTreeMap<usize, Outcome>) -> String {
    let head = "set  advised  predicted  checked  best     best alone\n".to_owned();
    let lines = outcomes.iter().map(|(index, outcome)| format!("{index:3}  {}\n", line(outcome)));
    lines.fold(head, |text, line| text + &line)
}

fn parse(line: &str) -> Option<(usize, Outcome)> {
    let (index, numbers) = line.trim().split_once(' ')?;
    let numbers = numbers.split_whitespace().map(|number| number.parse().ok());
    let [advised, predicted, checked, best, alone] =
        numbers.collect::<Option<Vec<f64>>>()?.try_into().ok()?;
    Some((index.parse().ok()?, Outcome { advised, predicted, checked, best, alone }))
}

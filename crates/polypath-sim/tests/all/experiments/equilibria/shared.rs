//! One link that two subflows and a TCP share: scenarios/equilibria/shared.toml.
//!
//! Where every packet is lost with the probability `p`, a window of Reno stands where the growth of
//! 1 / w for each packet that arrives makes up for half of it with each one lost: `w^2 = 2 / p`.
//! LIA, OLIA and BALIA of equal round-trip times and windows all grow by `w_i / (sum w)^2`, and
//! halve: `(sum w)^2 = 2 / p`. So both subflows together have the window of the TCP beside them,
//! and two subflows of Reno have twice that.

use super::runs::{Setting, run_all};
use super::table::Table;

/// How far from theory the ratio to TCP may be, by issue: 0.8 to 1.25 times 1, and of two TCPs as
/// much.
///
/// Chance alone gives less. Of 83,000 packets in 100 s at 10 Mbit/s the TCP has a third to a half,
/// and its window of about 20 means a loss in each 200 of them, 140 to 210 in all. The mean
/// distance of losses is then known to 1 / sqrt(140) = 8.5 %, the rate, which goes with its root,
/// to 4.2 %, the ratio of two rates to 6 %, and the median of five to 1.25 * 6 % / sqrt(5) = 3.4 %.
const TOLERANCE: [f64; 2] = [0.8, 1.25];

/// Each with its ratio to TCP in theory.
pub(crate) const CONTROLS: [(&str, f64); 4] =
    [("lia", 1.0), ("olia", 1.0), ("balia", 1.0), ("reno", 2.0)];

/// A queue, by what is not as in the file.
pub(crate) type Queue = (&'static str, &'static [&'static str]);

/// The one of the file, where every packet is as likely to be lost; and a drop-tail queue of one
/// BDP, where losses come in bursts that may miss who has few packets there.
pub(crate) const QUEUES: [Queue; 2] = [("red", &[]), ("1 bdp", &DROP_TAIL)];
const DROP_TAIL: [&str; 2] =
    ["network.bottleneck.queue=1 bdp", "network.bottleneck.queue_rtt=40 ms"];

#[test]
fn coupled_subflows_take_the_share_of_one_tcp() {
    measure(&QUEUES, &CONTROLS).finish("shared");
}

/// The table of these controls behind these queues.
pub(crate) fn measure(queues: &[Queue], controls: &[(&'static str, f64)]) -> Table {
    let with_each = |&queue| controls.iter().map(move |&control| (queue, control));
    let cases: Vec<(Queue, (&str, f64))> = queues.iter().flat_map(with_each).collect();
    let setting = |&((_, queue), (control, _)): &(Queue, (&str, f64))| {
        let control = format!("connection.multipath.congestion={control}");
        Setting::new("shared", &[queue, &[control.as_str()]].concat())
    };
    let runs = run_all(&cases.iter().map(setting).collect::<Vec<_>>());
    let mut table = Table::new("queue  control  theory  ratio to TCP");
    for (((queue, _), (control, theory)), runs) in cases.iter().zip(&runs) {
        let ratio = runs.spread(|run| run.goodput("multipath") / run.goodput("single"));
        let [low, high] = TOLERANCE.map(|factor| factor * theory);
        let line = format!("{queue:6} {control:8} {theory:6.2}  {ratio}");
        table.line(&line, (low..=high).contains(&ratio.median));
    }
    table
}

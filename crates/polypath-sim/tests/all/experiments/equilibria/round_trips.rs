//! Round trips of 20 and 100 ms at one link: scenarios/equilibria/round_trips.toml, S4's figure 9.
//!
//! Controls that a loss halves favour the short round trip, in which they grow more often. BBR
//! keeps two BDPs in flight of what it takes to be its rate, so that the longer one has more in the
//! queue, and by that a larger rate. Switches that tell rates tell everybody the same.

use super::runs::{Setting, run_all};
use super::table::Table;

/// What a switch gives each of two flows of a link of 20 Mbit/s: half of 97 % of what the 5 % of
/// UDP leave; IPv4, TCP, timestamps and routing feedback take 56 of 1,500 bytes.
const EQUAL: f64 = 20.0 * 0.95 * 0.97 / 2.0 * 1_444.0 / 1_500.0;
/// By issue, a rate is what was allotted within 2 %. Two of them are then at most a factor r of
/// 1.02 / 0.98 apart, and Jain's index is at least (1 + r)^2 / (2 (1 + r^2)).
const WITHIN: f64 = 0.02;
const LEAST_JAIN: f64 = 0.9996;

const SWITCH: [&str; 2] =
    ["node=[{ name = \"router\", brf = {} }]", "brf={ control_delay = \"2 ms\" }"];

/// Whom theory and S4 expect to have more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Favoured {
    Short,
    Long,
    Nobody,
}

pub(crate) const CONTROLS: [(&str, Favoured); 5] = [
    ("reno", Favoured::Short),
    ("cubic", Favoured::Short),
    ("bbr", Favoured::Long),
    ("bbr3", Favoured::Long),
    ("brf", Favoured::Nobody),
];

#[test]
fn who_is_favoured_by_his_round_trip() {
    measure(&CONTROLS).finish("round_trips");
}

/// The table of these controls.
pub(crate) fn measure(controls: &[(&str, Favoured)]) -> Table {
    let setting = |&(control, favoured): &(&str, Favoured)| {
        let both = ["short", "long"].map(|one| format!("connection.{one}.congestion={control}"));
        let both = both.each_ref().map(String::as_str);
        let switch: &[&str] = if favoured == Favoured::Nobody { &SWITCH } else { &[] };
        Setting::new("round_trips", &[&both[..], switch].concat())
    };
    let runs = run_all(&controls.iter().map(setting).collect::<Vec<_>>());
    let mut table = Table::new("control   20 ms  100 ms Mbit/s   share of 100 ms      Jain");
    for ((control, favoured), runs) in controls.iter().zip(&runs) {
        let [short, long] = ["short", "long"].map(|one| runs.median(|run| run.goodput(one)));
        let share = runs.spread(|run| {
            let [short, long] = ["short", "long"].map(|one| run.goodput(one));
            long / (short + long)
        });
        let jain = runs.median(|run| run.report.jain_index.expect("two connections"));
        let line = format!("{control:8} {short:6.2} {long:7.2}  {share:.3}  {jain:.4}");
        let near = |rate: f64| (rate / EQUAL - 1.0).abs() <= WITHIN;
        let holds = match favoured {
            Favoured::Short => share.median < 0.5,
            Favoured::Long => share.median > 0.5,
            Favoured::Nobody => near(short) && near(long) && jain >= LEAST_JAIN,
        };
        table.line(&line, holds);
    }
    table
}

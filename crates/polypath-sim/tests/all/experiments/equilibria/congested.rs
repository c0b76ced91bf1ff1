//! A congested and a free path: scenarios/equilibria/congested.toml; and two paths whose losses are
//! given, as theory has them: disjoint.toml.
//!
//! Packets are lost `k` times as often on the congested path, whose round-trip time is `r` times as
//! long. What theory says of `a`, the rate on the free path over that on the congested one, where
//! on each the growth makes up for the losses (`equilibrium`; OLIA cannot have less than a
//! segment):
//!
//! ```text
//! uncoupled   w_i = sqrt(2 / p_i)                                              a = r sqrt(k)
//! LIA         the same growth for each packet, halves                          a = r k
//! BALIA       growth x_i / (rtt_i (sum x)^2) (1 + a) (4 + a) / 10 on the
//!             slower one, which loses min(a, 1.5) / 2      (1 + a) (4 + a) = 10 k r^2 min(a, 1.5)
//! OLIA        all on the free path, but for one segment       a = r sqrt(2 / p)
//! ```

use super::runs::{Runs, Setting, run_all};
use super::table::Table;
use polypath_core::congestion::CongestionKind;
use polypath_model::{LossyPath, equilibrium};
use std::time::Duration;

const CONTROLS: [&str; 4] = ["reno", "lia", "balia", "olia"];
/// What theory, which knows neither timeouts nor whole segments, may be off by: a factor, as by
/// issue in its first line.
const FACTOR: f64 = 1.25;

/// What the two paths are like.
#[derive(Clone, Copy, Debug)]
struct Paths {
    /// The probability that a packet is lost, on the congested path and on the free one.
    loss: [f64; 2],
    /// The round-trip times, in seconds.
    rtt: [f64; 2],
}

impl Paths {
    /// The rate on the free path over that on the congested one.
    fn balance(&self, control: &str) -> f64 {
        let control = control.parse().expect("a registered control");
        if control == CongestionKind::Olia {
            return self.rtt[0] / self.rtt[1] * (2.0 / self.loss[1]).sqrt();
        }
        let path =
            |i: usize| LossyPath { loss: self.loss[i], rtt: Duration::from_secs_f64(self.rtt[i]) };
        let windows = equilibrium(control, &[path(0), path(1)]).expect("losses above 0");
        windows[1] / self.rtt[1] / (windows[0] / self.rtt[0])
    }
}

/// A line of the table; what the free path carries over what the congested one does.
fn line(
    table: &mut Table,
    control: &str,
    paths: Paths,
    [congested, free]: [f64; 2],
    holds: impl FnOnce(f64, f64) -> bool,
) -> f64 {
    let (theory, balance) = (paths.balance(control), free / congested);
    let [loss, other] = paths.loss.map(|loss| 100.0 * loss);
    let seen = format!("{loss:8.3}% {other:5.3}% {congested:12.2} {free:5.2}");
    let text = format!("{control:8} {seen} {theory:12.2} {balance:9.2}");
    table.line(&text, holds(balance, theory));
    balance
}

const HEADER: &str = "control  losses: much, little  Mbit/s there  ratio: theory  measured";

fn sent(runs: &Runs, connection: &str, paths: [&str; 2]) -> [f64; 2] {
    paths.map(|path| runs.median(|run| run.sent(connection, path)))
}

fn is_near(balance: f64, theory: f64) -> bool {
    (theory / FACTOR..=theory * FACTOR).contains(&balance)
}

/// With independent losses of given probability nothing but whole segments is between theory and
/// the control. OLIA finds the free path by what was carried between losses, in which the congested
/// one is ahead by chance at times: it must be at least as far from it as BALIA.
///
/// In 200 s LIA loses more than 100 packets on each path. Its windows go with 1 / p, so that their
/// ratio is known to sqrt(2) / 10 = 14 %, and the median of five to 1.25 * 14 % / sqrt(5) = 8 %.
#[test]
fn given_losses_are_balanced_as_in_theory() {
    let paths = Paths { loss: [0.004, 0.001_6], rtt: [0.04; 2] };
    let setting = |control: &str| {
        let control = format!("connection.congestion={control}");
        let loss = |path, p| format!("path.{path}.up.loss={p}");
        let [a, b] = [loss("a", paths.loss[0]), loss("b", paths.loss[1])];
        let wide = ["path.a.rate=200 Mbit/s", "path.b.rate=200 Mbit/s", "duration=215 s"];
        Setting::new("disjoint", &[&wide[..], &[&control, &a, &b]].concat())
    };
    let runs = run_all(&CONTROLS.map(setting));
    let mut table = Table::new(HEADER);
    for (control, runs) in CONTROLS.into_iter().zip(&runs) {
        let sent = sent(runs, "connection1", ["a", "b"]);
        line(&mut table, control, paths, sent, |balance, theory| match control {
            "olia" => balance >= paths.balance("balia") / FACTOR,
            _ => is_near(balance, theory),
        });
    }
    table.finish("given_losses");
}

/// Behind queues BALIA is further from the congested path than in theory, which is for independent
/// losses: those of RED are not, and BALIA gives up three quarters of the slower window at each.
/// Both it and OLIA must be at least as far as theory has BALIA.
#[test]
fn traffic_leaves_a_congested_path() {
    let setting = |control: &str| {
        Setting::new("congested", &[&format!("connection.multipath.congestion={control}")])
    };
    let runs = run_all(&CONTROLS.map(setting));
    let mut table = Table::new(HEADER);
    let balances = CONTROLS.iter().zip(&runs).map(|(&control, runs)| {
        let links = ["bottleneck1", "bottleneck2"];
        let paths = Paths {
            loss: links.map(|link| runs.median(|run| run.loss(link))),
            rtt: links.map(|link| 0.04 + runs.median(|run| run.sojourn(link))),
        };
        let sent = sent(runs, "multipath", ["congested", "free"]);
        line(&mut table, control, paths, sent, |balance, theory| match control {
            "balia" | "olia" => balance >= paths.balance("balia") / FACTOR,
            _ => is_near(balance, theory),
        })
    });
    let in_order = balances.collect::<Vec<_>>().is_sorted();
    table.check(in_order, "uncoupled, LIA, BALIA, OLIA move more and more away");
    table.finish("congested");
}

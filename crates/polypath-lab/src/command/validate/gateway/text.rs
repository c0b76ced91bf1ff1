//! The figures for people.

use core::fmt::Write as _;

use polypath_emulator::validate::death::Spread;
use polypath_emulator::validate::gateway::{FACTOR, GatewayProfile, GatewayRow};
use polypath_sim::Direction;

use super::Gateways;
use polypath::output::columns;

const HEADINGS: [&str; 5] = ["profile", "traffic", "figure", "value", "range"];

impl Gateways {
    fn title(&self) -> String {
        let Self { kernel, program, runs, seed, .. } = self;
        format!("Gateway by {program}: {kernel}, medians of {runs} runs from seed {seed} on")
    }

    pub(super) fn text(&self) -> String {
        let heading = HEADINGS.map(str::to_owned);
        let cells: Vec<_> = std::iter::once(heading).chain(self.rows.iter().map(cells)).collect();
        // Writing to a `String` cannot fail.
        let mut text = format!("{}\n{}", self.title(), columns(&cells, 3));
        if let Some(factors) = &self.factors {
            let Spread { median, least, runs, .. } = factors;
            let (median, least) = (number(*median), number(*least));
            let _ =
                writeln!(text, "quic, {FACTOR}: median {median}, least {least}, {runs} profiles");
        }
        for note in &self.missing {
            let _ = writeln!(text, "{note}");
        }
        text
    }
}

fn cells(row: &GatewayRow) -> [String; 5] {
    let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
    let (value, range) = match row.spread {
        None => ("never".to_owned(), String::new()),
        Some(spread) => {
            let range = format!("{} to {}", number(spread.least), number(spread.most));
            let range = match row.values.len() {
                1 => String::new(),
                runs if runs == spread.runs => range,
                runs => format!("{range}; in {} of {runs} runs", spread.runs),
            };
            (number(spread.median) + &unit, range)
        }
    };
    let (profile, figure) = (row.profile.clone(), row.figure.clone());
    [profile, row.traffic.name().to_owned(), figure, value, range]
}

/// Four digits or so.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.3}"),
    }
}

/// A line for each profile: its name, how many paths it has, and the sum of their rates.
pub(super) fn list(profiles: &[GatewayProfile]) -> String {
    let line = |profile: &GatewayProfile| {
        let [down, up] = [Direction::Down, Direction::Up].map(|way| number(profile.mbit_s(way)));
        let paths = profile.links().len() + usize::from(profile.unshaped());
        let paths = paths.to_string();
        [profile.name.clone(), paths, down, up]
    };
    let heading = ["profile", "paths", "Mbit/s down", "up"].map(str::to_owned);
    let cells: Vec<_> = std::iter::once(heading).chain(profiles.iter().map(line)).collect();
    columns(&cells, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::validate::gateway::profiles::Links;
    use polypath_emulator::validate::gateway::{Figure, Traffic};

    fn gateways() -> Gateways {
        let figure = |name: &str, unit, value| Figure { name: name.to_owned(), unit, value };
        let run = |rate, reuse| {
            vec![figure("1 down", "Mbit/s", Some(rate)), figure("reuse", "ms", reuse)]
        };
        let runs = [run(187.4, None), run(190.0, Some(20.25)), run(188.0, None)];
        let mut rows = GatewayRow::all("a", Traffic::Tcp, &runs);
        rows.extend(GatewayRow::all("a", Traffic::Ping, &[vec![figure("lost", "", Some(0.0))]]));
        rows.extend(GatewayRow::all("a", Traffic::Ping, &[vec![figure("rtt", "ms", None)]]));
        Gateways {
            kernel: "Linux 6.18".to_owned(),
            program: "/usr/bin/polypath".to_owned(),
            runs: 3,
            seed: 1,
            factors: Spread::of([1.5, 0.75, 1.25].into_iter()),
            rows,
            missing: vec!["b, udp: not measured: no root".to_owned()],
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_figure_and_what_is_missing() {
        insta::assert_snapshot!(gateways().text(), @r"
        Gateway by /usr/bin/polypath: Linux 6.18, medians of 3 runs from seed 1 on
        profile  traffic  figure       value                         range
        a        tcp      1 down  188 Mbit/s                    187 to 190
        a        tcp      reuse      20.2 ms  20.2 to 20.2; in 1 of 3 runs
        a        ping     lost             0
        a        ping     rtt          never
        quic, gateway, of the best path alone: median 1.250, least 0.750, 3 profiles
        b, udp: not measured: no root
        ");
    }

    #[test]
    fn json_has_every_run() {
        let json = serde_json::to_value(gateways()).unwrap();
        assert_eq!(json["rows"][0]["traffic"], "tcp");
        assert_eq!(json["rows"][0]["spread"]["median"], 188.0);
        assert_eq!(json["rows"][1]["values"][0], serde_json::Value::Null);
        assert_eq!(json["missing"][0], "b, udp: not measured: no root");
    }

    #[test]
    fn profiles_are_listed_with_their_rates() {
        let profile = "300Mbit/s,10ms+80Mbit/s,30ms".parse::<Links>().unwrap().profile();
        insta::assert_snapshot!(list(&[profile]), @r"
        profile                       paths  Mbit/s down   up
        300Mbit/s,10ms+80Mbit/s,30ms      2          380  380
        ");
    }
}

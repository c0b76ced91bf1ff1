//! `polypath validate cost`: what congestion controls in eBPF cost the processor.

use std::num::NonZeroU64;
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use polypath::output::{self, columns};
use polypath::service::{self, LogFormat, QUIET_LOG};
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::cost::{CONTROLS, CostRow, CostSettings, cost};
use polypath_emulator::validate::death::Spread;

use polypath_units::ByteCount;
use serde::Serialize;

use super::kernel_version;

/// Measure what congestion controls in eBPF cost the processor
///
/// A connection of the kernel's Multipath TCP carries a transfer over two pairs of veth as Linux
/// has them. Sender, receiver and all that the kernel does for them share one processor, the first
/// that this command may run on, and how long that was busy for the transfer is what it cost. Each
/// pair of transfers has one by the control and one by the kernel's own reno; what else runs on
/// that processor counts, too. As many further transfers have the kernel count how long the
/// programs of the control run. Takes root and a build with the feature `kernel`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(super) struct CostOptions {
    /// Only these controls [default: all]
    #[arg(value_name = "CONTROL", value_parser = PossibleValuesParser::new(CONTROLS.iter().map(|row| row.kind.name())))]
    controls: Vec<String>,
    /// How many pairs of transfers for each control, and transfers that are counted
    #[arg(long, value_name = "K", default_value = "10")]
    pairs: NonZeroU64,
    /// What one transfer carries
    #[arg(long, value_name = "SIZE", default_value = "8 GB")]
    transfer: ByteCount,
    /// What the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", default_value = "polypath_validate")]
    netns: Prefix,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// All that was measured; what `--json` prints.
#[derive(Clone, Debug, Serialize)]
struct Costs {
    kernel: String,
    transfer_bytes: u64,
    rows: Vec<CostRow>,
}

pub(super) fn run(options: &CostOptions) -> anyhow::Result<ExitCode> {
    service::start_log(LogFormat::Text, QUIET_LOG)?;
    let CostOptions { controls, pairs, transfer, netns, json } = options;
    let settings = CostSettings { prefix: netns.clone(), transfer: *transfer, pairs: *pairs };
    let is_chosen = |name| controls.is_empty() || controls.iter().any(|chosen| chosen == name);
    let chosen: Vec<_> = CONTROLS.iter().filter(|row| is_chosen(row.kind.name())).collect();
    let mut rows = Vec::new();
    for (number, control) in chosen.iter().enumerate() {
        output::tell(&format!("{} of {}: {}\n", number + 1, chosen.len(), control.kind.name()));
        rows.push(cost(control, &settings)?);
    }
    let costs = Costs { kernel: kernel_version()?, transfer_bytes: transfer.get(), rows };
    output::print(&match json {
        true => serde_json::to_string_pretty(&costs)? + "\n",
        false => costs.text(),
    })?;
    Ok(ExitCode::SUCCESS)
}

impl Costs {
    fn text(&self) -> String {
        let headings = [
            "control",
            "coupled",
            "more than reno, %",
            "in its programs, %",
            "ns a call",
            "Gbit/s",
            "pairs",
        ];
        let row = |row: &CostRow| {
            let coupled = if row.coupled { "yes" } else { "no" };
            [
                row.control.to_owned(),
                coupled.to_owned(),
                range(row.more_percent, 2),
                range(row.programs_percent, 2),
                range(row.call_ns, 0),
                range(row.gbit_s, 1),
                row.pairs.len().to_string(),
            ]
        };
        let headings = std::iter::once(headings.map(str::to_owned));
        let rows: Vec<_> = headings.chain(self.rows.iter().map(row)).collect();
        let Self { kernel, transfer_bytes, .. } = self;
        format!(
            "Processor time of transfers of {} GB on one processor: {kernel}, medians of pairs\n{}",
            *transfer_bytes as f64 / 1e9,
            columns(&rows, 1)
        )
    }
}

fn range(Spread { median, least, most, .. }: Spread, places: usize) -> String {
    format!("{median:.places$} ({least:.places$} to {most:.places$})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_emulator::validate::cost::{Cost, CostPair, CountedCost};

    #[test]
    fn the_table_has_medians_with_their_ranges() {
        let cost = |busy_s_per_gb| Cost { busy_s_per_gb, gbit_s: 8.0 / busy_s_per_gb };
        let pair = |control, reno| CostPair { control: cost(control), reno: cost(reno) };
        let pairs = vec![pair(0.404, 0.4), pair(0.8, 0.8), pair(0.408, 0.4)];
        let counted = |programs_s_per_gb| CountedCost {
            cost: cost(0.404),
            programs_s_per_gb,
            call_ns: programs_s_per_gb * 1e5,
        };
        let counted = vec![counted(0.004), counted(0.002)];
        let rows = vec![CostRow::new("lia", true, pairs, counted).unwrap()];
        let costs = Costs { kernel: "Linux 6.18".to_owned(), transfer_bytes: 8_000_000_000, rows };
        insta::assert_snapshot!(costs.text(), @r"
        Processor time of transfers of 8 GB on one processor: Linux 6.18, medians of pairs
        control  coupled    more than reno, %   in its programs, %         ns a call               Gbit/s  pairs
        lia          yes  1.00 (0.00 to 2.00)  0.75 (0.50 to 1.00)  300 (200 to 400)  19.6 (10.0 to 19.8)      3
        ");
    }
}

//! `polypath kernel list`: which congestion controls there are for the kernel.

use super::said;
use crate::command::kernel::actions::ListArgs;
use crate::output;
use polypath_kernel::{CONGESTION, KernelCongestion, Pinned, Pins};
use serde_json::json;
use std::process::ExitCode;

type Row = (&'static KernelCongestion, Option<Pinned>);

/// Prints the table.
pub(super) fn run(args: ListArgs) -> anyhow::Result<ExitCode> {
    let rows = rows(&Pins::default().loaded()?);
    output::print(&if args.json { to_json(&rows)? } else { text(&rows) })?;
    Ok(ExitCode::SUCCESS)
}

fn rows(loaded: &[Pinned]) -> Vec<Row> {
    let pinned =
        |row: &KernelCongestion| loaded.iter().find(|pinned| pinned.row.kind == row.kind).copied();
    CONGESTION.iter().map(|row| (row, pinned(row))).collect()
}

fn to_json(rows: &[Row]) -> serde_json::Result<String> {
    let row = |(row, pinned): &Row| {
        json!({
            "name": row.kind.name(),
            "kernel_name": row.kernel_name,
            "loaded": pinned.map(said::pinned_to_json),
        })
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    Ok(serde_json::to_string_pretty(&rows)? + "\n")
}

fn text(rows: &[Row]) -> String {
    let head = ["name", "in the kernel", "loaded"].map(str::to_owned);
    let row = |(row, pinned): &Row| {
        let loaded = pinned.map_or_else(|| "no".to_owned(), said::pinned);
        [row.kind.name().to_owned(), row.kernel_name.to_owned(), loaded]
    };
    let rows: Vec<_> = [head].into_iter().chain(rows.iter().map(row)).collect();
    output::columns(&rows, 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_core::slow_start::SlowStartKind;
    use polypath_kernel::Settings;

    #[test]
    fn what_is_loaded_is_told_with_how() {
        let slow_start = SlowStartKind::Css;
        let settings = Settings { slow_start, coupled: false, of_this_build: true };
        let rows = rows(&[Pinned { row: &CONGESTION[1], settings, cgroups: 1 }]);
        let text = text(&rows);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 1 + CONGESTION.len());
        assert_eq!(lines[0], "name           in the kernel    loaded");
        assert_eq!(lines[1], "balia          pp_balia         no");
        assert_eq!(
            lines[2],
            "cabe           pp_cabe          slow start css, uncoupled, for a cgroup"
        );
        let json: serde_json::Value = serde_json::from_str(&to_json(&rows).unwrap()).unwrap();
        assert_eq!(json[0]["loaded"], serde_json::Value::Null);
        assert_eq!(json[1]["loaded"]["slow_start"], "css");
        assert_eq!(json[1]["loaded"]["coupled"], false);
    }
}

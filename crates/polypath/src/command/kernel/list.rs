//! `polypath kernel list`: which congestion controls there are for the kernel.

use clap::Args;

/// List the congestion controls for the kernel
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct ListArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Prints the table.
///
/// # Errors
/// When standard output cannot be written.
#[cfg(feature = "kernel")]
pub(super) fn run(args: ListArgs) -> anyhow::Result<std::process::ExitCode> {
    use polypath_kernel::CONGESTION;
    let rows = CONGESTION.iter().map(|row| [row.kind.name(), row.kernel_name].map(str::to_owned));
    let rows: Vec<_> = rows.collect();
    let json = || {
        let rows = rows.iter().map(
            |[name, kernel_name]| serde_json::json!({ "name": name, "kernel_name": kernel_name }),
        );
        serde_json::to_string_pretty(&rows.collect::<Vec<_>>()).map(|text| text + "\n")
    };
    let text = if args.json { json()? } else { crate::output::columns(&rows, 2) };
    crate::output::print(&text)?;
    Ok(std::process::ExitCode::SUCCESS)
}

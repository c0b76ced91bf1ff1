//! The page of a run.

use polypath_sim::run::{ConnectionReport, FlowTotals, Outcome, Plan, RunReport};

use crate::report::Row;
use crate::report::simulation::{Application, PageInput, page};

/// The page of a run of a plan for which the series that it needs were recorded.
pub(super) fn render(scenario: &str, plan: &Plan, outcome: &Outcome) -> String {
    let Outcome { report, recording, delays, .. } = outcome;
    let title = format!("{scenario}, seed {}", report.seed);
    let applications = applications(report);
    page(&PageInput::new(title, rows(report), applications, plan.topology(), recording, delays))
}

fn applications(report: &RunReport) -> Vec<Application> {
    let of = |connection: &ConnectionReport, flow: &FlowTotals| Application {
        connection: connection.name.clone(),
        flow: flow.clone(),
    };
    let connections = report.connections.iter();
    connections.flat_map(|one| one.flows.iter().map(move |flow| of(one, flow))).collect()
}

fn rows(report: &RunReport) -> Vec<Row> {
    let mut rows = vec![Row::new("simulated time", format!("{:.2} s", report.sim_s), "")];
    for connection in &report.connections {
        let name = format!("{} ({})", connection.name, connection.transport);
        let remark = match connection.reinjected_bytes {
            0 => String::new(),
            bytes => format!("{bytes} B sent again on another path"),
        };
        rows.push(Row::new(name, format!("{:.2} Mbit/s", connection.goodput_mbit_s), remark));
        for path in connection.paths.iter().filter(|_| connection.paths.len() > 1) {
            let remark = format!("{} packets lost", path.lost);
            let name = format!("{} over {}", connection.name, path.name);
            rows.push(Row::new(name, format!("{:.2} Mbit/s", path.mbit_s), remark));
        }
    }
    if let Some(index) = report.jain_index.filter(|_| report.connections.len() > 1) {
        rows.push(Row::new("Jain's index", format!("{index:.3}"), "1 is an equal share for each"));
    }
    rows
}

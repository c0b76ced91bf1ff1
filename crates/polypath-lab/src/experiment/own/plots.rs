//! The plots of a plan of one's own.

use super::WrittenQuantity;
use crate::experiment::plan::{ExperimentPlan, Plot, PlotKind, SweepPlot, known};
use polypath_config::DocumentError;
use polypath_sim::scenario::declare::Located;

/// Checks the plots of a plan; one without plots gets one for each quantity over each axis.
pub(super) fn complete(
    plan: &mut ExperimentPlan,
    quantities: &[Located<WrittenQuantity>],
) -> Result<(), DocumentError> {
    let names: Vec<_> = quantities.iter().map(|quantity| quantity.value.name.as_str()).collect();
    for plot in &plan.plot {
        known(plot, "show", &plot.value.show, &names)?;
        known(plot, "kind", plot.value.kind.name(), &["sweep"])?;
    }
    if plan.plot.is_empty() {
        let axes = plan.axis.iter().map(|axis| axis.value.name.as_str());
        let plots =
            axes.flat_map(|axis| quantities.iter().map(move |quantity| plot(quantity, axis)));
        plan.plot = plots.collect();
    }
    Ok(())
}

fn plot(quantity: &Located<WrittenQuantity>, axis: &str) -> Located<Plot> {
    let over = axis.replace('_', " ");
    quantity.at_same_place(Plot {
        title: format!("{} over {over}", quantity.value.name.replace('_', " ")),
        show: quantity.value.name.clone(),
        label: quantity.value.label().to_owned(),
        at: Vec::new(),
        kind: PlotKind::Sweep(SweepPlot { over: axis.to_owned(), variants: Vec::new() }),
    })
}

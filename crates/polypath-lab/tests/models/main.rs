//! What the models of `polypath_model` are worth: their predictions beside what the simulator
//! measures (docs/models.md).

mod advice;
#[path = "../../../polypath-sim/tests/all/common/golden.rs"]
mod golden;
mod multipath;
#[path = "../../../polypath-sim/tests/all/common/parallel.rs"]
mod parallel;
mod sets;
mod striping;
mod tunnel;

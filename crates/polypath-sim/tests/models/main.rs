//! What the models of `polypath_core::model` are worth: their predictions beside what the simulator
//! measures (docs/models.md).

mod advice;
#[path = "../common/mod.rs"]
mod common;
mod multipath;
mod sets;
mod striping;
mod tunnel;

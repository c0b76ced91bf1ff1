//! What the models of `polypath_model` are worth: their predictions beside what the simulator
//! measures (docs/models.md).

mod advice;
mod multipath;
mod sets;
mod striping;
mod tunnel;

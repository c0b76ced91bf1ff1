//! The radio models against their closed forms.

mod blockage;
mod path_loss;
mod rate;
mod recovery;
mod walk;

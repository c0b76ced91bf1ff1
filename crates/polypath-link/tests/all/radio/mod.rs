//! The radio models against their closed forms.

mod blockage;
mod path_loss;
mod ping_pong;
mod rate;
mod recovery;
mod walk;

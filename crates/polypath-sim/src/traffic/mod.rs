//! What applications and sources of datagrams have in common: when they send, how they draw, what
//! they measure.

mod arrivals;
mod cadence;
mod delays;
mod periods;
mod random;

pub(crate) use arrivals::Arrivals;
pub(crate) use cadence::Cadence;
pub use delays::Delays;
pub(crate) use periods::Periods;
pub use random::Random;

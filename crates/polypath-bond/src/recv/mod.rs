//! The receiving half at the data level: reassembly, the shared buffer, acknowledgements.

mod ack;
mod fragment;
mod held;
mod live;
mod read_rate;
mod stream;
mod streams;
mod windows;

pub(crate) use ack::AckState;
pub(crate) use fragment::SHORT;
pub(crate) use streams::{Arriving, RecvStreams};

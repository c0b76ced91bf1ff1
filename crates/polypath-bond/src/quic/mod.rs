//! The QUIC carrier: one ordinary QUIC connection for each path.

mod connection;
#[cfg(test)]
mod end;
mod exchange;
mod long_header;
mod recorder;
mod settings;

pub(crate) use connection::QuicPath;
#[cfg(test)]
pub(crate) use end::{BATCH, End};
pub(crate) use exchange::Exchange;
pub(crate) use recorder::Recorder;
pub(crate) use settings::QuicSettings;

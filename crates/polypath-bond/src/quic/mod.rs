//! The QUIC carrier: one ordinary QUIC connection for each path.

mod connection;
mod exchange;
mod recorder;
mod settings;

pub(crate) use connection::QuicPath;
pub(crate) use exchange::Exchange;
pub(crate) use recorder::Recorder;
pub(crate) use settings::QuicSettings;

//! Datagrams that nobody acknowledges: cross traffic, and applications that keep their rate.

mod sink;
mod source;

pub(crate) use sink::Asking;
pub use sink::UdpSink;
pub use source::{UdpArrivals, UdpSource, UdpTraffic};

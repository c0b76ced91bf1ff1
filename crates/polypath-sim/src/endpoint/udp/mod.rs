//! Datagrams that nobody acknowledges: cross traffic, and applications that keep their rate.

mod sink;
mod source;

pub use sink::UdpSink;
pub use source::{UdpArrivals, UdpSource, UdpTraffic};

/// Bytes of IPv4 and UDP headers.
pub const UDP_HEADERS: u32 = 20 + 8;

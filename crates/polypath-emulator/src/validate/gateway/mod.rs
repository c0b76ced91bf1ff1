//! A gateway with its LAN, hub and server: the product's programs over emulated links, and what
//! traffic of others makes of them.
//!
//! For each run a network is made and removed: a host in a LAN that has nothing but the edge as its
//! default route, the edge with an uplink for each path, the hub, and a server behind it. All that
//! sends and receives is in this process, so that both ends share a clock.

mod datagrams;
mod dealt;
mod death;
mod error;
mod figure;
mod interrupt;
mod log;
mod outages;
mod ping;
mod profile;
mod program;
mod quic;
mod reception;
mod rig;
mod settings;
mod site;
mod steered;
mod tcp;
mod udp;
mod unread;

pub use datagrams::LEAST_BYTES as LEAST_PACKET_BYTES;
pub use dealt::{DealtOutcome, DealtTransfer};
pub use error::GatewayError;
pub use figure::{Figure, GatewayRow};
pub use interrupt::Interrupt;
pub use profile::{GatewayPaths, GatewayProfile};
pub use quic::FACTOR;
pub use settings::{Carrier, GatewaySettings, Traffic};

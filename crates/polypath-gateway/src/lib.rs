//! What gateway mode sets up on its host, and the TUN device that the traffic passes through.
//!
//! [`device`] makes a TUN device and carries whole IP packets to and from it in batches. [`plan`]
//! says what is to be set on a host for an edge or a hub, and [`host`] sets and removes it.
//!
//! All of it needs `CAP_NET_ADMIN` and Linux; other systems are told so when it is tried. What
//! becomes of the packets is decided elsewhere: nothing here looks into them.

pub mod device;
pub mod host;
mod interface_name;
mod listener;
mod mtu;
pub mod plan;

pub use interface_name::{InterfaceName, InterfaceNameError};
pub use listener::listen_transparently;
pub use mtu::{Mtu, MtuError};

//! Edge, hub and proxies on real sockets, over loopback.

mod bond_end_to_end;
mod common;
#[cfg(target_os = "linux")]
mod datagram_sizes;
mod gateway;
mod http_proxy;
mod hub_names;
#[cfg(target_os = "linux")]
mod mptcp_end_to_end;
#[cfg(target_os = "linux")]
mod own_addresses;
mod routing_feedback;
mod socks5;
mod spared;
mod tunnel_codec;
mod tunnel_end_to_end;
#[cfg(target_os = "linux")]
mod uplinks;

//! The real binary as hub, edge and sender, over loopback, with curl and iperf3 as the
//! applications, and its command line.

mod allowed;
mod backup;
mod command_line;
mod emulated;
mod external;
mod failover;
mod http;
mod iperf;
mod logs;
mod name_server;
mod no_route;
mod process;
mod proxy_password;
mod resuming;
mod service_user;
mod stalled_clients;
mod stopping;
mod strangers;
mod transfers;
mod udp_modes;
mod world;

/// The program that is tested.
fn program() -> &'static str {
    env!("CARGO_BIN_EXE_polypath")
}

//! The real binary as hub, edge and sender, over loopback, with curl and iperf3 as the
//! applications, and its command line.

use std::sync::LazyLock;

mod abuse;
mod allowed;
mod alone;
mod auto;
mod away;
mod backup;
mod busy_host;
mod command_line;
mod conversations;
mod disk;
mod emulated;
mod external;
mod failover;
mod gateway;
mod hog;
mod http;
mod iperf;
#[cfg(feature = "kernel")]
mod kernel;
mod kernel_agent;
mod logs;
mod metrics;
mod name_server;
mod namespace;
mod nat;
mod neighbours;
mod no_route;
#[cfg(feature = "kernel")]
mod own_bpffs;
mod package;
mod patience;
mod policies;
mod process;
mod proxy_password;
mod quotas;
mod resuming;
mod same_key;
mod service_manager;
mod service_user;
mod silence;
mod stalled_clients;
mod stopping;
mod strangers;
mod transfers;
mod udp_modes;
mod units;
mod world;

/// The program that is tested: that of `POLYPATH_PROGRAM`, or the one built with the tests.
fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let given = std::env::var("POLYPATH_PROGRAM");
        given.unwrap_or_else(|_| env!("CARGO_BIN_EXE_polypath").to_owned())
    });
    &PROGRAM
}

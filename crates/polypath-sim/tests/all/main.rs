//! The simulator's tests, and under [`experiments`] those that measure rather than test, which take
//! minutes: `cargo test -p polypath-sim --test all -- --skip experiments::` leaves them out.

mod applications;
mod backup;
mod bad_scenarios;
mod bond_switches;
mod busy_hosts;
mod common;
mod datagram_flows;
mod datagram_sizes;
mod equilibria;
mod events;
mod experiments;
mod failure;
mod gateway;
mod goodput;
mod grid;
mod hostile;
mod jitter;
mod light_bond;
mod longer_path;
mod mptcp;
mod mptcp_scripts;
mod network;
mod own_algorithms;
#[cfg(feature = "pcapng")]
mod pcapng;
#[cfg(feature = "qlog")]
mod qlog;
mod queueing;
mod quic;
mod random_scripts;
mod receive_window;
mod restart;
mod runs;
mod scenario;
mod scenario_content;
mod scenario_queues;
mod scenario_radio;
mod scenario_schema;
#[cfg(feature = "parquet")]
mod series;
mod short_transfers;
mod shorter_path;
mod stalled_streams;
mod steering;
mod streams_and_flows;
mod switched;
mod switches;
mod tcp_networks;
mod tcp_pipe;
mod tcp_random;
mod tcp_scripts;
mod tcp_subflow;
mod theory;
#[cfg(feature = "pcapng")]
mod tshark;
mod tunnel;
mod world;

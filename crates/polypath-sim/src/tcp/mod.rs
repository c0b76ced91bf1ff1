//! TCP as a modern Linux kernel speaks it, one packet at a time, without sockets or payload.
//!
//! # Interface
//!
//! - [`Segment`]: a TCP header as simulated, `Copy`, at most 128 bytes. Sequence numbers are `u64`
//!   from 0 (the SYN). [`Segment::wire_bytes`] is what a link is charged;
//!   [`Segment::set_mptcp`] adds an [`MptcpOption`].
//! - [`TcpEndpoint`]: one end. [`TcpEndpoint::connect`] or [`TcpEndpoint::listen`]; then
//!   [`TcpEndpoint::on_segment`], [`TcpEndpoint::on_timeout`], [`TcpEndpoint::write`],
//!   [`TcpEndpoint::read`], [`TcpEndpoint::close`] and [`TcpEndpoint::abort`] hand it events,
//!   [`TcpEndpoint::poll_transmit`] gives out segments until `None`, and
//!   [`TcpEndpoint::next_timeout`] names the next timer. Congestion control is passed in: several
//!   subflows may share one [`Congestion`](polypath_core::congestion::Congestion).
//! - For MPTCP, with [`TcpConfig::segment_reports`]: [`TcpEndpoint::can_send`],
//!   [`TcpEndpoint::send_new`] with a tag for each segment, and [`TcpEndpoint::poll_report`].
//! - [`TcpConnection`]: an endpoint with congestion control of its own, for plain TCP.
//! - [`TcpConfig`]: every assumption as a parameter; [`TcpConfig::LINUX`],
//!   [`TcpConfig::NEW_RENO`]. [`TcpStats`] counts; [`TcpEvent`]s are the log.
//!
//! # What is in it
//!
//! SACK scoreboard, RACK-TLP (RFC 8985) or RFC 6675 or NewReno without SACK (RFC 6582),
//! proportional rate reduction (RFC 9937), limited transmit (RFC 3042), RFC 6298 timeouts with
//! F-RTO (RFC 5682), undo by timestamps (RFC 4015) and DSACK (RFC 3708), window probes, ECN (RFC
//! 3168), pacing; delayed and quick ACKs, SACK and DSACK (RFC 2018, 2883), window tuning, GRO.
//!
//! # Deviations from Linux
//!
//! Timers have no ticks. Windows count payload, not kernel memory. A receiver never reneges on
//! what it SACKed, so that senders do not look for it. The delayed-ACK timer does not adapt, and
//! ACKs of reordered data are not compressed. A simultaneous open is not supported.

mod clock;
mod config;
mod connection;
mod endpoint;
mod feedback;
mod log;
mod mptcp_option;
mod pacer;
mod prr;
mod rack;
mod ranges;
mod receiver;
mod report;
mod sack_blocks;
mod scoreboard;
mod segment;
mod sender;
mod state;
mod stats;
mod undo;

pub use config::{LossDetection, Pacing, Reading, ReceiveBuffer, TcpConfig};
pub use connection::TcpConnection;
pub use endpoint::TcpEndpoint;
pub use feedback::Feedback;
pub(crate) use log::StateLog;
pub use log::{LogDetail, LossReason, PathMetrics, RttMetrics, TcpEvent, UndoReason};
pub use mptcp_option::{Dss, Mapping, MptcpOption};
pub(crate) use ranges::Ranges;
pub use report::Report;
pub use sack_blocks::SackBlocks;
pub use segment::{Flags, Segment, SynOptions, Timestamps};
pub use state::State;
pub use stats::TcpStats;

//! What a connection tells of itself.

use super::connection::Connection;
use super::log::PathEvent;
use crate::tcp::{State, TcpEvent, TcpStats};
use polypath_core::congestion::Congestion;
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

/// A subflow, for reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubflowStatus {
    /// Its path.
    pub path: PathId,
    /// Whether it carries data: established and not failed.
    pub active: bool,
    /// What its TCP counted.
    pub stats: TcpStats,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
}

/// What a subflow has written down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowLog<'a> {
    pub(crate) path: PathId,
    pub(crate) events: &'a [(Timestamp, TcpEvent)],
    pub(crate) states: &'a [(Timestamp, State)],
}

impl Connection {
    /// Payload bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.receiving.delivered()
    }

    /// Bytes received that wait for earlier ones.
    pub fn out_of_order(&self) -> u64 {
        self.receiving.out_of_order()
    }

    /// Whether the peer has finished and all its data is in order.
    pub fn peer_finished(&self) -> bool {
        self.receiving.is_finished()
    }

    /// Bytes that were sent again on another subflow.
    pub const fn reinjected_bytes(&self) -> u64 {
        self.reinjected_bytes
    }

    /// What happened to its paths, with [`Connection::keep_log`].
    pub fn log(&self) -> &[(Timestamp, (PathId, PathEvent))] {
        self.log.events()
    }

    /// The logs of its subflows.
    pub(crate) fn subflow_logs(&self) -> impl Iterator<Item = SubflowLog<'_>> {
        self.subflows.iter().map(|subflow| SubflowLog {
            path: subflow.path,
            events: subflow.tcp.log(),
            states: subflow.states.states(),
        })
    }

    /// Congestion control of its subflows.
    pub const fn congestion(&self) -> &Congestion {
        &self.congestion
    }

    /// Its subflows.
    pub fn subflows(&self) -> impl Iterator<Item = SubflowStatus> + '_ {
        self.subflows.iter().map(|subflow| SubflowStatus {
            path: subflow.path,
            active: subflow.works(),
            stats: *subflow.tcp.stats(),
            srtt: self.congestion.rtt(subflow.path).and_then(|rtt| rtt.srtt()),
        })
    }
}

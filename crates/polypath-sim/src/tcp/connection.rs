//! A plain TCP connection: an endpoint with congestion control of its own.

use super::config::TcpConfig;
use super::endpoint::TcpEndpoint;
use super::log::LogDetail;
use super::report::Report;
use super::segment::Segment;
use polypath_core::congestion::Congestion;
use polypath_core::congestion::CongestionConfig;
use polypath_units::{PathId, Timestamp};

/// One end of a TCP connection of its own, with its [`Congestion`].
#[derive(Debug)]
pub struct TcpConnection {
    endpoint: TcpEndpoint,
    congestion: Congestion,
}

impl TcpConnection {
    /// An end that connects at once.
    pub fn connect(config: TcpConfig, congestion: CongestionConfig) -> Self {
        Self {
            endpoint: TcpEndpoint::connect(config.serving(&congestion), PathId::default()),
            congestion: Congestion::new(congestion),
        }
    }

    /// An end that waits for the other to connect.
    pub fn listen(config: TcpConfig, congestion: CongestionConfig) -> Self {
        Self {
            endpoint: TcpEndpoint::listen(config.serving(&congestion), PathId::default()),
            congestion: Congestion::new(congestion),
        }
    }

    /// A segment arrived; `ce` if its packet was marked congested.
    pub fn on_segment(&mut self, now: Timestamp, segment: &Segment, ce: bool) {
        self.endpoint.on_segment(now, segment, ce, &mut self.congestion);
    }

    /// The next segment that leaves now.
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Segment> {
        self.endpoint.poll_transmit(now, &mut self.congestion)
    }

    /// When [`TcpConnection::on_timeout`] is wanted; [`Timestamp::MAX`] if never.
    pub fn next_timeout(&self) -> Timestamp {
        self.endpoint.next_timeout()
    }

    /// The time that [`TcpConnection::next_timeout`] named has come.
    pub fn on_timeout(&mut self, now: Timestamp) {
        self.endpoint.on_timeout(now, &mut self.congestion);
    }

    /// The application writes `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        self.endpoint.write(bytes);
    }

    /// Takes back what was written and never sent; returns how many bytes.
    pub fn withdraw(&mut self) -> u64 {
        self.endpoint.withdraw()
    }

    /// Turns Nagle's algorithm off.
    pub(crate) fn set_no_delay(&mut self) {
        self.endpoint.set_no_delay();
    }

    /// The application reads up to `bytes`; returns how many it got.
    pub fn read(&mut self, now: Timestamp, bytes: u64) -> u64 {
        self.endpoint.read(now, bytes)
    }

    /// The application writes no more.
    pub fn close(&mut self) {
        self.endpoint.close();
    }

    /// Ends the connection with a reset.
    pub fn abort(&mut self) {
        self.endpoint.abort(&mut self.congestion);
    }

    /// What happened since: see [`TcpEndpoint::poll_report`].
    pub fn poll_report(&mut self) -> Option<Report> {
        self.endpoint.poll_report()
    }

    /// Writes down so much from now on: see [`TcpEndpoint::keep_log`].
    pub fn keep_log(&mut self, detail: LogDetail) {
        self.endpoint.keep_log(detail);
    }

    /// The endpoint: state, counters, log.
    pub const fn endpoint(&self) -> &TcpEndpoint {
        &self.endpoint
    }

    /// Its congestion control.
    pub const fn congestion(&self) -> &Congestion {
        &self.congestion
    }
}

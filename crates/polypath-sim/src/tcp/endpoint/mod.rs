//! One end of a TCP connection.

mod closing;
mod handshake;

use super::config::TcpConfig;
use super::log::{LogDetail, TcpEvent};
use super::receiver::Receiver;
use super::report::Report;
use super::segment::{Flags, Outgoing, Segment};
use super::sender::{Negotiated, Sender};
use super::state::State;
use super::stats::TcpStats;
use handshake::Handshake;
use polypath_core::congestion::Congestion;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;

/// One end of a TCP connection: a state machine without clock, sockets or payload.
///
/// After every call that hands it something, take what it wants sent with
/// [`TcpEndpoint::poll_transmit`] until there is no more, then look at
/// [`TcpEndpoint::next_timeout`]. The [`Congestion`] handed in is that of the connection; the
/// endpoint adds its subflow when the handshake is over and removes it when the connection is
/// closed.
#[derive(Debug)]
pub struct TcpEndpoint {
    config: TcpConfig,
    path: PathId,
    state: State,
    handshake: Handshake,
    sender: Sender,
    receiver: Receiver,
    /// A reset waits to be sent.
    reset_due: bool,
    time_wait_until: Timestamp,
    reports: VecDeque<Report>,
}

impl TcpEndpoint {
    /// An end that connects at once; `path` is the number of its subflow.
    pub fn connect(config: TcpConfig, path: PathId) -> Self {
        Self { handshake: Handshake::due(), ..Self::in_state(config, path, State::SynSent) }
    }

    /// An end that waits for the other to connect.
    pub fn listen(config: TcpConfig, path: PathId) -> Self {
        Self::in_state(config, path, State::Listen)
    }

    fn in_state(config: TcpConfig, path: PathId, state: State) -> Self {
        let nothing = Negotiated {
            mss: config.mss,
            sack: false,
            timestamps: false,
            ecn: false,
            feedback: false,
        };
        Self {
            config,
            path,
            state,
            handshake: Handshake::idle(),
            sender: Sender::new(&config, path, nothing, 0),
            receiver: Receiver::new(&config, nothing, 0),
            reset_due: false,
            time_wait_until: Timestamp::MAX,
            reports: VecDeque::new(),
        }
    }

    /// A segment arrived; `ce` if its packet was marked congested.
    pub fn on_segment(
        &mut self,
        now: Timestamp,
        segment: &Segment,
        ce: bool,
        congestion: &mut Congestion,
    ) {
        match self.state {
            // RFC 9293 section 3.10.7.1.
            State::Closed => self.reset_due |= !segment.flags.contains(Flags::RST),
            State::Listen | State::SynSent => self.on_first_segment(now, segment, congestion),
            State::SynReceived => {
                if self.completes_handshake(now, segment, congestion) {
                    self.on_established_segment(now, segment, ce, congestion);
                }
            }
            _ => self.on_established_segment(now, segment, ce, congestion),
        }
    }

    #[inline]
    fn on_established_segment(
        &mut self,
        now: Timestamp,
        segment: &Segment,
        ce: bool,
        congestion: &mut Congestion,
    ) {
        if segment.flags.contains(Flags::RST) {
            return self.on_reset(segment, congestion);
        }
        if segment.flags.contains(Flags::SYN) || !segment.flags.contains(Flags::ACK) {
            // A SYN-ACK again: our ACK of it was lost.
            return self.receiver.ack_at_once();
        }
        self.obey(now, segment, congestion);
        if !self.sender.on_ack(now, segment, congestion) {
            return self.receiver.ack_at_once();
        }
        self.receiver.on_segment(now, segment, ce, &mut self.sender.stats);
        if self.sender.is_finished() || self.receiver.is_finished() {
            self.advance_close(now, congestion);
        }
    }

    /// The next segment that leaves now.
    pub fn poll_transmit(
        &mut self,
        now: Timestamp,
        congestion: &mut Congestion,
    ) -> Option<Segment> {
        match self.state {
            State::Listen => None,
            State::SynSent | State::SynReceived => self.poll_handshake(now),
            State::Closed => self.poll_reset(now),
            _ => {
                let data = self.sender.poll(now, congestion);
                let outgoing = data.or_else(|| self.poll_ack())?;
                Some(self.receiver.complete(now, outgoing))
            }
        }
    }

    #[inline]
    fn poll_ack(&mut self) -> Option<Outgoing> {
        if !self.receiver.is_ack_due() {
            return None;
        }
        self.sender.stats.pure_acks_sent += 1;
        Some(Outgoing::empty(self.sender.nxt(), Flags::ACK))
    }

    /// When [`TcpEndpoint::on_timeout`] is wanted; [`Timestamp::MAX`] if never.
    #[inline]
    pub fn next_timeout(&self) -> Timestamp {
        match self.state {
            State::Closed | State::Listen => Timestamp::MAX,
            State::SynSent | State::SynReceived => self.handshake.next_timeout(),
            State::TimeWait => self.time_wait_until.min(self.receiver.next_timeout()),
            _ => self.sender.next_timeout().min(self.receiver.next_timeout()),
        }
    }

    /// The time that [`TcpEndpoint::next_timeout`] named has come. Too early a call does nothing.
    pub fn on_timeout(&mut self, now: Timestamp, congestion: &mut Congestion) {
        match self.state {
            State::Closed | State::Listen => {}
            State::SynSent | State::SynReceived => self.on_handshake_timeout(now),
            State::TimeWait if now >= self.time_wait_until => self.end(Report::Closed, congestion),
            _ => {
                self.sender.on_timeout(now, congestion);
                self.receiver.on_timeout(now);
                if self.sender.has_given_up() {
                    self.end(Report::GaveUp, congestion);
                }
            }
        }
    }

    /// The application writes `bytes` more, to be sent as a stream. Without effect after
    /// [`TcpEndpoint::close`].
    pub fn write(&mut self, bytes: u64) {
        if matches!(
            self.state,
            State::Listen
                | State::SynSent
                | State::SynReceived
                | State::Established
                | State::CloseWait
        ) && !self.handshake.close_wanted
        {
            self.sender.write(bytes);
        }
    }

    /// Takes back what was written and never sent; returns how many bytes.
    pub fn withdraw(&mut self) -> u64 {
        self.sender.withdraw()
    }

    /// Turns Nagle's algorithm off.
    pub(crate) fn set_no_delay(&mut self) {
        self.config.nagle = false;
        self.sender.set_no_delay();
    }

    /// The application reads up to `bytes` of what is in order; returns how many it got. For
    /// [`super::Reading::WhenTold`].
    pub fn read(&mut self, now: Timestamp, bytes: u64) -> u64 {
        self.receiver.read(now, bytes)
    }

    /// Whether one more full segment may leave now: window, pacing and the peer's window allow
    /// it, and nothing waits before it.
    pub fn can_send(&self, now: Timestamp, congestion: &Congestion) -> bool {
        matches!(self.state, State::Established | State::CloseWait)
            && self.sender.can_send(now, congestion)
    }

    /// When pacing lets the next segment leave: what a layer above waits for that has data while
    /// [`TcpEndpoint::can_send`] says no. In the past if pacing holds nothing back.
    pub const fn next_departure(&self) -> Timestamp {
        self.sender.next_departure()
    }

    /// Hands over one segment of `len` bytes, at most [`TcpEndpoint::mss`], with a tag that stays
    /// attached to it. It is the next new data that [`TcpEndpoint::poll_transmit`] gives out, as
    /// soon as the windows allow. Not to be mixed with [`TcpEndpoint::write`].
    pub fn send_new(&mut self, _now: Timestamp, len: u32, tag: u64) {
        debug_assert!(len > 0 && len <= self.sender.mss(), "a segment of 1 to MSS bytes");
        self.sender.send_tagged(len, tag);
    }

    /// Adds up to `len` bytes, whose tag would be `tag`, to the segment handed over last, if that
    /// has not left, is not full, and tags are numbers of bytes by which they continue it. Returns
    /// how many it took.
    pub(crate) fn lengthen_last(&mut self, len: u32, tag: u64) -> u32 {
        self.sender.lengthen_tagged(len, tag)
    }

    /// Bytes handed over with [`TcpEndpoint::send_new`] that are not acknowledged; segments not
    /// sent yet count as full ones.
    pub fn buffered(&self) -> u64 {
        self.sender.buffered()
    }

    /// Sends an acknowledgement with the next [`TcpEndpoint::poll_transmit`], for what the layer
    /// above has to say with it.
    pub fn acknowledge(&mut self) {
        self.receiver.ack_at_once();
    }

    /// What happened since, oldest first: of the connection, then of its segments sent, then of
    /// those received.
    pub fn poll_report(&mut self) -> Option<Report> {
        self.reports
            .pop_front()
            .or_else(|| self.sender.reports.pop_front())
            .or_else(|| self.receiver.reports.pop_front())
    }

    /// The state of the connection.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The number of its subflow.
    pub const fn path(&self) -> PathId {
        self.path
    }

    /// Its parameters.
    pub const fn config(&self) -> &TcpConfig {
        &self.config
    }

    /// Largest payload of a segment, options subtracted; settled by the handshake.
    pub const fn mss(&self) -> u32 {
        self.sender.mss()
    }

    /// Payload bytes in flight: what `Congestion::bytes_in_flight` counts.
    pub const fn bytes_in_flight(&self) -> u64 {
        self.sender.bytes_in_flight()
    }

    /// Payload bytes written and never sent yet.
    pub const fn unsent(&self) -> u64 {
        self.sender.unsent()
    }

    /// The lowest sequence number that the peer has not acknowledged.
    pub const fn unacknowledged(&self) -> u64 {
        self.sender.una()
    }

    /// The sequence number of the next new byte.
    pub const fn next_seq(&self) -> u64 {
        self.sender.nxt()
    }

    /// Payload bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.receiver.bytes_in_order()
    }

    /// Payload bytes in order that the application has not read.
    pub fn unread(&self) -> u64 {
        self.receiver.unread()
    }

    /// Bytes received that wait for earlier ones.
    pub fn out_of_order(&self) -> u64 {
        self.receiver.out_of_order()
    }

    /// Whether the peer has finished and all its data is in order.
    pub const fn peer_finished(&self) -> bool {
        self.receiver.is_finished()
    }

    /// What was counted since the handshake.
    pub const fn stats(&self) -> &TcpStats {
        &self.sender.stats
    }

    /// Writes down so much from now on, instead of what [`TcpConfig::log`] says.
    pub fn keep_log(&mut self, detail: LogDetail) {
        self.config.log = detail;
        self.sender.log.set_detail(detail);
    }

    /// The events since the handshake, with [`TcpConfig::log`].
    pub fn log(&self) -> &[(Timestamp, TcpEvent)] {
        self.sender.log.events()
    }
}

//! Closing a connection (RFC 9293 section 3.6).

use super::{Report, State, TcpEndpoint};
use crate::tcp::segment::{Flags, Outgoing, Segment};
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;

impl TcpEndpoint {
    /// The application writes no more: a FIN follows the last byte, after the handshake.
    pub fn close(&mut self) {
        match self.state {
            State::Listen | State::SynSent | State::SynReceived => {
                self.handshake.close_wanted = true;
            }
            State::Established => {
                self.sender.close();
                self.state = State::FinWait1;
            }
            State::CloseWait => {
                self.sender.close();
                self.state = State::LastAck;
            }
            _ => {}
        }
    }

    /// Ends the connection with a reset; what is outstanding is forgotten.
    pub fn abort(&mut self, congestion: &mut Congestion) {
        self.reset_due = !matches!(self.state, State::Closed | State::Listen | State::SynSent);
        self.state = State::Closed;
        congestion.remove_subflow(self.path);
    }

    pub(super) fn poll_reset(&mut self, now: Timestamp) -> Option<Segment> {
        if !core::mem::take(&mut self.reset_due) {
            return None;
        }
        let reset = Outgoing::empty(self.sender.nxt(), Flags::RST.with(Flags::ACK));
        Some(self.receiver.complete(now, reset))
    }

    pub(super) fn on_reset(&mut self, segment: &Segment, congestion: &mut Congestion) {
        if self.receiver.is_acceptable(segment) {
            let over = self.state == State::TimeWait;
            self.end(if over { Report::Closed } else { Report::Reset }, congestion);
        }
    }

    /// A FIN, of either side, has arrived.
    pub(super) fn advance_close(&mut self, now: Timestamp, congestion: &mut Congestion) {
        let (ours, theirs) = (self.sender.is_finished(), self.receiver.is_finished());
        match self.state {
            State::Established if theirs => self.state = State::CloseWait,
            State::FinWait1 | State::FinWait2 | State::Closing if ours && theirs => {
                self.state = State::TimeWait;
                self.time_wait_until = now + self.config.time_wait;
            }
            State::FinWait1 if ours => self.state = State::FinWait2,
            State::FinWait1 if theirs => self.state = State::Closing,
            State::LastAck if ours => self.end(Report::Closed, congestion),
            _ => {}
        }
    }

    pub(super) fn end(&mut self, report: Report, congestion: &mut Congestion) {
        self.state = State::Closed;
        self.reports.push_back(report);
        congestion.remove_subflow(self.path);
    }
}

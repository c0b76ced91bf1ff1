//! A row of the flow table.
//!
//! Source: S4 section 3.2 (FLOW_INFO_BRF).

use super::allocation::{Demand, Share};
use super::counter::Counter;
use super::hop::Writer;
use super::{Class, PortId, SwitchId, SwitchParameters};
use polypath_units::Timestamp;
use std::time::Duration;

/// Periods over which a limited flow's rate is the maximum.
const RECENT: usize = 4;

/// Whether a flow counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No data lately: it has no allocation.
    Dormant,
    /// It has its first allocation, and has not sent for a whole period yet.
    New,
    /// It is measured each period.
    Measured,
}

/// One direction of a connection. Rates in bytes/s.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) class: Class,
    pub(super) port: PortId,
    pub(super) connection: Option<u64>,
    pub(super) state: State,
    pub(super) allocated: f64,
    pub(super) measured: f64,
    pub(super) rtt: Option<Duration>,
    pub(super) writer: Writer,
    /// When data (or its announcement, a SYN) passed last.
    pub(super) active_at: Timestamp,
    /// When the first data since it became active passed.
    pub(super) sending_since: Option<Timestamp>,
    /// When an acknowledgement passed here last.
    pub(super) acked_at: Option<Timestamp>,
    pub(super) elsewhere: Elsewhere,
    pub(super) finished: bool,
    limited: bool,
    /// The measured rates of the last periods: see [`Flow::share`].
    recent: [f64; RECENT],
    /// Periods left in which it is not judged.
    settling: u32,
    handshake: Option<Handshake>,
    /// Bytes forwarded in this period.
    bytes: u64,
    counter: Counter,
    history: Mean,
}

/// Acknowledgements that return another way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Elsewhere {
    /// The neighbour that saw them last, and when.
    pub(super) via: Option<(SwitchId, Timestamp)>,
    /// When all neighbours were asked last.
    pub(super) asked_at: Option<Timestamp>,
}

/// A handshake that is being timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Handshake {
    syn_at: Timestamp,
    answered: bool,
    /// A repeated SYN cannot be told from the first by its answer.
    repeated: bool,
}

/// The mean of the measured rates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mean {
    sum: f64,
    periods: u32,
}

impl Flow {
    pub(super) fn new(class: Class, port: PortId, connection: Option<u64>, now: Timestamp) -> Self {
        Self {
            class,
            port,
            connection,
            state: State::Dormant,
            allocated: 0.0,
            measured: 0.0,
            rtt: None,
            writer: Writer::default(),
            active_at: now,
            sending_since: None,
            acked_at: None,
            elsewhere: Elsewhere::default(),
            finished: false,
            limited: false,
            recent: [0.0; RECENT],
            settling: 0,
            handshake: None,
            bytes: 0,
            counter: Counter::default(),
            history: Mean::default(),
        }
    }

    /// Whether it counts: for equation (8), and for an allocation if it is of BRF.
    pub(super) fn is_active(&self) -> bool {
        self.state != State::Dormant
    }

    /// Its first packet, or the first one after it fell dormant.
    pub(super) fn activate(&mut self, now: Timestamp) {
        self.state = State::New;
        self.active_at = now;
        self.sending_since = None;
        self.measured = 0.0;
        self.limited = false;
        self.recent = [0.0; RECENT];
        self.settling = 0;
    }

    pub(super) fn fall_dormant(&mut self) {
        self.state = State::Dormant;
        self.allocated = 0.0;
    }

    /// A packet of it was forwarded.
    pub(super) fn count(&mut self, now: Timestamp, bytes: u64, has_data: bool) {
        self.bytes = self.bytes.saturating_add(bytes);
        if has_data {
            self.active_at = now;
            self.sending_since.get_or_insert(now);
        }
    }

    /// The total by a device that counts the flow's bytes. A counter that fell counts on from
    /// there.
    pub(super) fn grown(&mut self, total: u64) -> u64 {
        self.counter.advance(total).unwrap_or(0)
    }

    /// It opens a connection.
    pub(super) fn on_syn(&mut self, now: Timestamp) {
        let first = Handshake { syn_at: now, answered: false, repeated: false };
        match &mut self.handshake {
            Some(handshake) => handshake.repeated = true,
            None if self.rtt.is_none() => self.handshake = Some(first),
            None => {}
        }
    }

    /// The other side answers the SYN: twice the time to it and back is a first estimate.
    pub(super) fn on_syn_ack(&mut self, now: Timestamp) {
        if let Some(handshake) = self.handshake.as_mut().filter(|h| !h.answered) {
            handshake.answered = true;
            self.rtt = (!handshake.repeated).then(|| 2 * (now - handshake.syn_at));
        }
    }

    /// A packet after the SYN: with the answer between them they are one round trip apart. Returns
    /// it if it is news.
    pub(super) fn on_reply(&mut self, now: Timestamp) -> Option<Duration> {
        let handshake = self.handshake.take_if(|h| h.answered).filter(|h| !h.repeated)?;
        self.rtt = Some(now - handshake.syn_at);
        self.rtt
    }

    /// A period ended that began at `began` and lasted `elapsed`: measures and judges the flow.
    pub(super) fn on_period(
        &mut self,
        began: Timestamp,
        elapsed: Duration,
        parameters: &SwitchParameters,
    ) {
        let bytes = core::mem::take(&mut self.bytes);
        if !self.is_active() || elapsed.is_zero() {
            return;
        }
        self.measured = bytes as f64 / elapsed.as_secs_f64();
        self.recent.rotate_right(1);
        self.recent[0] = self.measured;
        if self.sending_since.is_none_or(|since| since > began) {
            return;
        }
        self.state = State::Measured;
        self.history.sum += self.measured;
        self.history.periods = self.history.periods.saturating_add(1);
        self.judge(parameters.packet_bytes / elapsed.as_secs_f64(), parameters);
    }

    /// Equation (14): whether the application limits it. A flow whose allocation was raised is not
    /// judged until its sender can have heard of it and data at that rate can have arrived, which
    /// takes a period each. Where a period holds few packets, one `packet` more than in those
    /// before means nothing.
    fn judge(&mut self, packet: f64, parameters: &SwitchParameters) {
        if self.settling > 0 {
            self.settling -= 1;
            return;
        }
        self.limited = if self.limited {
            self.measured < parameters.resumed_share * self.allocated + packet
        } else {
            self.measured < parameters.limited_share * self.allocated
        };
    }

    /// How it takes part in allocation, with weight 1. What a limited flow sends is the most of its
    /// last periods. By the newest alone, one packet more than in a short period before would look
    /// as if it took all it gets, and each time it would get a whole share.
    pub(super) fn share(&self) -> Share {
        let demand = match self.state {
            State::Measured if self.limited => Demand::Limited,
            State::Measured => Demand::Unlimited,
            State::New | State::Dormant => Demand::Unmeasured,
        };
        let measured = match demand {
            Demand::Limited => self.recent.into_iter().fold(0.0, f64::max),
            Demand::Unmeasured | Demand::Unlimited => self.measured,
        };
        Share { allocated: self.allocated, measured, demand, weight: 1.0 }
    }

    /// Its allocation for the next period.
    pub(super) fn assign(&mut self, allocated: f64, parameters: &SwitchParameters) {
        let raised = self.allocated < parameters.limited_share * allocated;
        let first = self.allocated == 0.0;
        if raised && !first {
            self.settling = parameters.settling_periods;
        }
        self.allocated = allocated;
    }

    /// The mean rate over its life, once it was measured.
    pub(super) fn mean_rate(&self) -> Option<f64> {
        (self.history.periods > 0).then(|| self.history.sum / f64::from(self.history.periods))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: SwitchParameters = SwitchParameters::DEFAULT;
    const PERIOD: Duration = Duration::from_millis(100);

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn flow() -> Flow {
        let mut flow = Flow::new(Class::Brf, PortId(0), None, ms(0));
        flow.activate(ms(0));
        flow
    }

    /// Sends `bytes` in the period number `period`, which then ends.
    fn period(flow: &mut Flow, number: u64, bytes: u64) {
        flow.count(ms(100 * number), bytes, true);
        flow.on_period(ms(100 * number), PERIOD, &PARAMETERS);
    }

    #[test]
    fn the_round_trip_is_that_of_the_handshake() {
        let mut flow = flow();
        flow.on_syn(ms(10));
        assert_eq!(flow.on_reply(ms(15)), None, "not answered yet");
        flow.on_syn_ack(ms(40));
        assert_eq!(flow.rtt, Some(Duration::from_millis(60)));
        assert_eq!(flow.on_reply(ms(50)), Some(Duration::from_millis(40)));
        assert_eq!((flow.on_reply(ms(500)), flow.rtt), (None, Some(Duration::from_millis(40))));
    }

    #[test]
    fn a_repeated_syn_gives_no_round_trip() {
        let mut flow = flow();
        flow.on_syn(ms(10));
        flow.on_syn(ms(1_010));
        flow.on_syn_ack(ms(1_040));
        assert_eq!((flow.on_reply(ms(1_050)), flow.rtt), (None, None));
    }

    #[test]
    fn a_flow_is_measured_once_it_has_sent_for_a_whole_period() {
        let mut flow = flow();
        flow.count(ms(50), 10_000, true);
        flow.on_period(ms(0), PERIOD, &PARAMETERS);
        assert_eq!((flow.state, flow.mean_rate()), (State::New, None));
        period(&mut flow, 1, 20_000);
        assert_eq!((flow.state, flow.measured), (State::Measured, 200_000.0));
        period(&mut flow, 2, 40_000);
        assert_eq!(flow.mean_rate(), Some(300_000.0));
    }

    /// 1.05 times 0.95 is less than 1: without the second threshold a flow that sends
    /// evenly would be limited in every other period only.
    #[test]
    fn a_limited_flow_stays_limited_until_it_takes_all_it_gets() {
        let mut flow = flow();
        flow.allocated = 1e6;
        period(&mut flow, 0, 94_999);
        assert_eq!(flow.share().demand, Demand::Limited);
        flow.assign(1.05 * flow.measured, &PARAMETERS);
        period(&mut flow, 1, 94_999);
        assert_eq!(flow.share().demand, Demand::Limited);
        period(&mut flow, 2, 99_000);
        assert_eq!(flow.share().demand, Demand::Unlimited);
        flow.assign(99_000.0 * 10.0 / 0.95, &PARAMETERS);
        period(&mut flow, 3, 99_001);
        assert_eq!(flow.share().demand, Demand::Unlimited, "at least 0.95 is not limited");
    }

    /// Of 37 packets in a period one is 2.7 %, and a period cuts between packets where it likes.
    #[test]
    fn a_packet_more_does_not_make_a_limited_flow_an_unlimited_one() {
        let mut flow = flow();
        flow.allocated = 1e6;
        for (number, packets) in (0..).zip([37, 37, 38, 37, 39, 38]) {
            period(&mut flow, number, 1_500 * packets);
            assert_eq!(flow.share().demand, Demand::Limited, "{number}");
            let most = flow.share().measured;
            flow.assign(1.05 * most, &PARAMETERS);
        }
        period(&mut flow, 6, 1_500 * 42);
        assert_eq!(flow.share().demand, Demand::Unlimited);
    }

    #[test]
    fn what_was_raised_is_not_judged_for_two_periods() {
        let mut flow = flow();
        flow.allocated = 1e6;
        period(&mut flow, 0, 100_000);
        flow.assign(2e6, &PARAMETERS);
        for number in [1, 2] {
            period(&mut flow, number, 100_000);
            assert_eq!(flow.share().demand, Demand::Unlimited);
        }
        period(&mut flow, 3, 100_000);
        assert_eq!(flow.share().demand, Demand::Limited);
    }

    #[test]
    fn a_counter_of_the_device_may_wrap() {
        let mut flow = flow();
        let grown = [1_000, 3_000, 5, 105].map(|total| flow.grown(total));
        assert_eq!(grown, [0, 2_000, 0, 100]);
    }
}

//! [`Congestion`]: what a world talks to.

use super::flow::Flow;
use super::group::Group;
use super::{CongestionAvoidance, CongestionKind, InitialWindow, Subflow};
use crate::estimator::{DeliveryTracker, RttEstimator, SentPacket};
use crate::path_map::PathMap;
use crate::registry::{Configured, Factory};
use crate::slow_start::SlowStartKind;
use polypath_units::{Bandwidth, PathId, Timestamp};
use std::time::Duration;

/// The composition of a connection's congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongestionConfig {
    /// Congestion avoidance and the response to loss.
    pub avoidance: Configured<CongestionKind>,
    /// Congestion avoidance that is not in the registry, in place of `avoidance`.
    pub own_avoidance: Option<Factory<dyn CongestionAvoidance>>,
    /// Slow start; not used by controllers that own their start-up.
    pub slow_start: Configured<SlowStartKind>,
    /// Whether one avoidance object serves all subflows; false: one for each subflow.
    pub coupled: bool,
    /// Seeds what a controller draws at random.
    pub seed: u64,
    /// The initial window of a subflow.
    pub initial_window: InitialWindow,
    /// What rate samples take the payload of a full segment to be, in bytes; `None`: what it is.
    /// Linux counts packets of its MSS, from which options that only some segments carry are not
    /// taken off: those of Multipath TCP.
    pub counted_segment: Option<u32>,
}

impl Default for CongestionConfig {
    fn default() -> Self {
        Self {
            avoidance: CongestionKind::Polypath.into(),
            own_avoidance: None,
            slow_start: SlowStartKind::HystartPp.into(),
            coupled: true,
            seed: 0,
            initial_window: InitialWindow::default(),
            counted_segment: None,
        }
    }
}

impl CongestionConfig {
    /// A new instance of the congestion avoidance.
    pub(crate) fn build_avoidance(&self, seed: u64) -> Box<dyn CongestionAvoidance> {
        let registered = || self.avoidance.build(seed);
        self.own_avoidance.as_ref().map_or_else(registered, Factory::build)
    }
}

/// Congestion control of all subflows of a connection.
///
/// A world tells it of every packet: [`Congestion::on_sent`] returns what must be kept with the
/// packet and handed back exactly once, when it is acknowledged, lost or discarded. After the
/// packets of one ACK comes [`Congestion::on_ack_end`]; after those of one batch of losses
/// [`Congestion::on_loss`]. Both orders of the two are right. Events of unknown subflows, and
/// packets of a subflow that has been removed since, are ignored.
#[derive(Debug)]
pub struct Congestion {
    config: CongestionConfig,
    groups: PathMap<Group>,
    flows: PathMap<Flow>,
    incarnations: u32,
}

impl Congestion {
    /// The largest window in bytes (1 TiB): what no path needs, so that arithmetic stays finite.
    pub const MAX_WINDOW: u64 = 1 << 40;

    /// Congestion control without subflows.
    pub fn new(config: CongestionConfig) -> Self {
        Self { config, groups: PathMap::default(), flows: PathMap::default(), incarnations: 0 }
    }

    /// What it is composed of.
    pub const fn config(&self) -> &CongestionConfig {
        &self.config
    }

    /// A subflow joined, with the initial window; one of the same path is replaced. `mss` is the
    /// largest packet in bytes, as packets are counted by [`Congestion::on_sent`]; `rtt` the
    /// round-trip time that setting up the path took, if it was measured.
    pub fn add_subflow(&mut self, id: PathId, mss: u64, rtt: Option<Duration>) {
        self.incarnations = self.incarnations.wrapping_add(1).max(1);
        self.flows.insert(id, Flow::new(self.incarnations, self.config.counted_segment));
        let (slot, config) = (self.slot(id), &self.config);
        self.groups
            .get_or_insert_with(slot, || Group::new(config, config.seed ^ seed_of(slot)))
            .add(Subflow::with_initial_window(id, mss.max(1), config.initial_window, rtt));
    }

    /// A subflow is gone for good.
    pub fn remove_subflow(&mut self, id: PathId) {
        let slot = self.slot(id);
        self.flows.remove(id);
        if let Some(group) = self.groups.get_mut(slot) {
            group.remove(id);
            if group.subflows.is_empty() {
                self.groups.remove(slot);
            }
        }
    }

    /// The path MTU changed: the largest packet has `mss` bytes now.
    pub fn set_mss(&mut self, id: PathId, mss: u64) {
        if let Some(subflow) = self.subflow_mut(id) {
            subflow.mss = mss.max(1);
            subflow.cwnd = subflow.cwnd.max(subflow.mss as f64);
            subflow.ssthresh = subflow.ssthresh.max(subflow.mss as f64);
        }
    }

    /// Whether the path works. One that does not keeps its window but takes no part in coupling.
    pub fn set_usable(&mut self, id: PathId, usable: bool) {
        if let Some(subflow) = self.subflow_mut(id) {
            subflow.usable = usable;
        }
    }

    /// A packet of `bytes` is sent. For an unknown subflow the result is ignored wherever it is
    /// handed back.
    pub fn on_sent(&mut self, id: PathId, now: Timestamp, bytes: u64) -> SentPacket {
        let Some((flow, group)) = self.parts(id) else { return unsent(now, bytes) };
        if group.subflows.get(id).is_some_and(|s| flow.idled(now, s.in_flight)) {
            group.on_idle_restart(id);
        }
        group.on_sent(id, bytes);
        let slow = group.subflows.get(id).is_some_and(|subflow| group.in_slow_start(subflow));
        let Some(subflow) = group.subflows.get_mut(id) else { return unsent(now, bytes) };
        flow.on_sent(now, bytes, subflow, slow)
    }

    /// A packet was acknowledged: part of the ACK event that [`Congestion::on_ack_end`] ends. A
    /// packet that was declared lost before does not count: see
    /// [`Congestion::on_spurious_loss`].
    pub fn on_packet_acked(&mut self, id: PathId, now: Timestamp, packet: &SentPacket) {
        if let Some((flow, subflow)) = self.sender_of(id, packet) {
            flow.on_packet_acked(now, packet, subflow);
        }
    }

    /// All packets of an ACK have been reported: takes the RTT sample of the newest and the rate
    /// sample, ends rounds and recovery, and lets the controller act.
    pub fn on_ack_end(&mut self, id: PathId, now: Timestamp) {
        let Some((flow, group)) = self.parts(id) else { return };
        let event = group.subflows.get_mut(id).and_then(|subflow| flow.end_ack(now, subflow));
        let Some((ack, recovered)) = event else { return };
        // With the ACK that ends it as well, as in Linux: what leaves until something of that is
        // acknowledged follows a flight of a few segments.
        let held_back = group.holds_back(id);
        group.on_ack(id, &ack, recovered);
        if let Some(subflow) = group.subflows.get(id).filter(|_| held_back || group.holds_back(id))
        {
            flow.set_app_limited(subflow);
        }
    }

    /// A packet was declared lost: part of the batch that [`Congestion::on_loss`] or
    /// [`Congestion::on_timeout`] ends.
    pub fn on_packet_lost(&mut self, id: PathId, now: Timestamp, packet: &SentPacket) {
        let Some((flow, group)) = self.parts(id) else { return };
        if let Some(subflow) = group.subflows.get_mut(id).filter(|_| flow.sent(packet)) {
            let lost = flow.on_packet_lost(now, packet, subflow);
            group.on_packet_lost(id, &lost);
        }
    }

    /// All packets of a batch of losses have been reported. It is a new recovery episode only if
    /// the newest of them was sent after the present one began (RFC 9002 section 7.3.2).
    pub fn on_loss(&mut self, id: PathId, now: Timestamp, newest_lost_sent_at: Timestamp) {
        self.on_congestion(id, now, newest_lost_sent_at, false);
    }

    /// The peer reported ECN-CE marks; the newest marked packet was sent at
    /// `newest_marked_sent_at`. Begins a recovery episode as a loss does.
    pub fn on_ecn(&mut self, id: PathId, now: Timestamp, newest_marked_sent_at: Timestamp) {
        self.on_congestion(id, now, newest_marked_sent_at, true);
    }

    fn on_congestion(&mut self, id: PathId, now: Timestamp, sent_at: Timestamp, ecn: bool) {
        let Some((flow, group)) = self.parts(id) else { return };
        let Some(subflow) = group.subflows.get(id) else { return };
        let loss = flow.end_loss(now, ecn, subflow);
        if flow.recovery.is_new(sent_at) {
            flow.recovery.begin(now, subflow);
            group.on_loss(id, &loss);
        }
    }

    /// The retransmission timer expired, or QUIC declared persistent congestion. Packets that this
    /// declares lost go through [`Congestion::on_packet_lost`] first.
    pub fn on_timeout(&mut self, id: PathId, now: Timestamp) {
        let Some((flow, group)) = self.parts(id) else { return };
        let Some(subflow) = group.subflows.get(id) else { return };
        let loss = flow.end_loss(now, false, subflow);
        let repeated = flow.rtt.back_off_count() > 0;
        flow.rtt.back_off();
        if repeated {
            flow.recovery.begin_again(now);
        } else {
            flow.recovery.begin(now, subflow);
        }
        group.on_timeout(id, &loss, repeated);
    }

    /// The loss or timeout that began the last episode was spurious: window and threshold are
    /// restored.
    pub fn on_spurious_loss(&mut self, id: PathId) {
        let Some((flow, group)) = self.parts(id) else { return };
        group.on_spurious_loss(id);
        if let Some(subflow) = group.subflows.get_mut(id) {
            subflow.in_recovery = false;
            flow.recovery.undo(subflow);
        }
    }

    /// A packet is forgotten without being acknowledged or lost: its keys were dropped, or the
    /// path was reset.
    pub fn on_packet_discarded(&mut self, id: PathId, packet: &SentPacket) {
        if let Some((_, subflow)) = self.sender_of(id, packet) {
            subflow.in_flight = subflow.in_flight.saturating_sub(packet.bytes);
        }
    }

    /// The sender has room in the window but sends nothing: there is no data, or the scheduler
    /// chose other paths. Not to be called while it only waits for pacing. Rate samples of packets
    /// sent before the present flight is delivered are then lower bounds. No effect if the window
    /// is full.
    pub fn set_app_limited(&mut self, id: PathId) {
        let Some((flow, group)) = self.parts(id) else { return };
        if let Some(subflow) = group.subflows.get(id).filter(|s| (s.in_flight as f64) < s.cwnd) {
            flow.set_app_limited(subflow);
        }
    }

    /// `bytes` of the ACK event under way were reported as ECN-CE marked.
    pub fn on_ecn_bytes(&mut self, id: PathId, bytes: u64) {
        if let Some(flow) = self.flows.get_mut(id) {
            flow.on_ecn_bytes(bytes);
        }
    }

    /// The network told the subflow its rate (BRF): in any acknowledgement, that of the handshake
    /// and duplicates included. Holds at once; before [`Congestion::on_ack_end`] where the
    /// acknowledgement has one.
    pub fn on_feedback(&mut self, id: PathId, now: Timestamp, rate: Bandwidth) {
        if let Some((_, group)) = self.parts(id) {
            group.on_feedback(id, now, rate);
        }
    }

    /// The congestion window in whole bytes; 0 for an unknown subflow.
    pub fn window(&self, id: PathId) -> u64 {
        self.subflow(id).map_or(0, |s| s.cwnd as u64)
    }

    /// How fast to send: the controller's own rate; otherwise what slow start wants, which mostly
    /// is 2 windows a round, and 1.25 windows a round after it. `None` before the first RTT sample:
    /// send the initial window at once. Where setting up the path has shown an RTT, that counts
    /// until then.
    pub fn pacing_rate(&self, id: PathId) -> Option<Bandwidth> {
        self.group(id)?.pacing_rate(id)
    }

    /// Bytes in flight; 0 for an unknown subflow.
    pub fn bytes_in_flight(&self, id: PathId) -> u64 {
        self.subflow(id).map_or(0, |s| s.in_flight)
    }

    /// The RTT estimator.
    pub fn rtt(&self, id: PathId) -> Option<&RttEstimator> {
        self.flow(id).map(|flow| &flow.rtt)
    }

    /// The subflow as controllers see it.
    pub fn subflow(&self, id: PathId) -> Option<&Subflow> {
        self.group(id)?.subflows.get(id)
    }

    /// Whether the window is below the slow-start threshold, or the controller in its start-up.
    pub fn in_slow_start(&self, id: PathId) -> bool {
        self.group(id).is_some_and(|group| {
            group.subflows.get(id).is_some_and(|subflow| group.in_slow_start(subflow))
        })
    }

    /// The slow-start threshold in bytes; `None` while it is infinite, and for unknown subflows.
    pub fn ssthresh(&self, id: PathId) -> Option<u64> {
        let threshold = self.subflow(id).map(|subflow| subflow.ssthresh);
        threshold.filter(|bytes| bytes.is_finite()).map(|bytes| bytes as u64)
    }

    /// Delivery rate in bytes/s: the largest sample of the last 10 rounds; 0 if unknown.
    pub fn delivery_rate(&self, id: PathId) -> f64 {
        self.flow(id).map_or(0.0, Flow::delivery_rate)
    }

    /// The bandwidth by the controller's own estimator, in bytes/s, for the Westwood family, CABE,
    /// BBR and its descendants. `None` before it has an estimate, and for others.
    pub fn bandwidth_estimate(&self, id: PathId) -> Option<f64> {
        self.group(id)?.bandwidth_estimate(id)
    }

    /// Share of packets lost, 0 to 1, smoothed over about 256 packets.
    pub fn loss_rate(&self, id: PathId) -> f64 {
        self.flow(id).map_or(0.0, Flow::loss_rate)
    }

    /// The same without the losses of slow start while there is a queue, which its own growth
    /// caused; halved for every 2 s in which no data was sent. This is what a path itself loses.
    pub fn steady_loss_rate(&self, id: PathId, now: Timestamp) -> f64 {
        self.flow(id).map_or(0.0, |flow| flow.steady_loss_rate(now))
    }

    /// Where the group of a subflow is kept: one for all if coupled.
    fn slot(&self, id: PathId) -> PathId {
        if self.config.coupled { PathId::default() } else { id }
    }

    pub(super) fn flow(&self, id: PathId) -> Option<&Flow> {
        self.flows.get(id)
    }

    pub(super) fn group(&self, id: PathId) -> Option<&Group> {
        self.groups.get(self.slot(id))
    }

    pub(super) fn parts(&mut self, id: PathId) -> Option<(&mut Flow, &mut Group)> {
        let slot = self.slot(id);
        Some((self.flows.get_mut(id)?, self.groups.get_mut(slot)?))
    }

    pub(super) fn subflow_mut(&mut self, id: PathId) -> Option<&mut Subflow> {
        self.parts(id)?.1.subflows.get_mut(id)
    }

    /// The subflow that sent `packet`, if it still exists.
    pub(super) fn sender_of(
        &mut self,
        id: PathId,
        packet: &SentPacket,
    ) -> Option<(&mut Flow, &mut Subflow)> {
        let (flow, group) = self.parts(id)?;
        if flow.sent(packet) { Some((flow, group.subflows.get_mut(id)?)) } else { None }
    }
}

/// A packet that no subflow knows: incarnation 0 is never in use.
fn unsent(now: Timestamp, bytes: u64) -> SentPacket {
    DeliveryTracker::default().on_sent(now, bytes, 0)
}

/// Lets uncoupled controllers draw different random numbers.
fn seed_of(slot: PathId) -> u64 {
    u64::from(slot.get()) << 32
}

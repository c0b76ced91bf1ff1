//! wVegas, weighted Vegas: coupling by delay.
//!
//! Source: Cao, Xu, Fu, "Delay-based Congestion Control for Multipath TCP", ICNP 2012, algorithm 1,
//! as the Multipath TCP kernel (`mptcp_wvegas.c`) has it. Windows `w` in segments here, times in
//! seconds; once in a round, whose mean RTT is `rtt`, of more than two samples:
//!
//! ```text
//! diff       = w (rtt - base) / rtt                 own segments in queues; base: the least RTT
//! slow start: diff > gamma:   w = min(w, w base / rtt + 1),  ssthresh = min(ssthresh, w - 1)
//! avoidance:  diff >= alpha:  rate = w / rtt,  alpha = max(2, floor(total rate / sum_k rate_k))
//!             diff > alpha:   w -= 1,  ssthresh = min(ssthresh, w - 1)
//!             diff < alpha:   w += 1
//!             q = rtt - base of rounds with diff >= alpha, q_min the least of them:
//!             q >= 2 q_min:   w = w base / (2 rtt), q_min anew: queues run empty and show base
//! loss, timeout: as Reno
//! ```
//!
//! With fewer samples the ACK that ends the round grows the window as Reno does. What a drain takes
//! slow start gives back up to ssthresh. After a recovery, a timeout, or idling `alpha` is the
//! initial one again, after idling `base` is measured anew. The sum of rates is over the usable
//! subflows that have an RTT. Deviations: windows and backlogs are fractions, not truncated; only a
//! queue of `alpha` or more is drained. The paper and the kernel drain whenever `q` doubles
//! (`drain_always`): a subflow that grows into an idle link then halves its window as soon as the
//! jitter of its own packets has doubled, and never fills a link of hundreds of segments. Worked
//! example: `docs/algorithms/congestion/wvegas.md`. A round without any queue has nothing to drain
//! (the kernel, for which `q_min = 0` means unknown, would).

use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows, reno};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::PathId;
use std::time::Duration;

/// RTT samples that a round must have for its mean to count.
const LEAST_SAMPLES: u32 = 3;
/// No subflow aims at less than this backlog, nor at a window below it, in segments.
const LEAST_SEGMENTS: f64 = 2.0;

parameters! {
    /// The constants of wVegas, in segments.
    ///
    /// Defaults: the values of the paper and the kernel, but only queues of `alpha` or more are
    /// drained.
    pub struct WvegasParameters {
        /// Segments that all subflows of a connection together aim to have in queues.
        pub total_alpha: f64 = 10.0, "total_alpha", "segments",
            "what all subflows together aim to have in queues";
        /// What a subflow aims at before its rate is known.
        pub initial_alpha: f64 = 2.0, "initial_alpha", "segments",
            "what a subflow aims at before its rate is known";
        /// Segments in queues that end slow start.
        pub gamma: f64 = 1.0, "gamma", "segments",
            "what in queues ends slow start";
        /// Whether queues below `alpha` are drained as well.
        pub drain_always: bool = false, "drain_always", "",
            "1: queues below alpha are drained, too, when they double (kernel)";
    }
}

impl WvegasParameters {
    /// The values of the paper and the kernel.
    pub const LINUX: Self = Self { drain_always: true, ..Self::DEFAULT };
}

/// Weighted Vegas for the subflows of a connection.
#[derive(Clone, Debug, Default)]
pub struct Wvegas {
    parameters: WvegasParameters,
    flows: PathMap<Flow>,
}

/// What wVegas keeps for a subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Flow {
    base_rtt: Option<Duration>,
    round: Round,
    /// Segments that it aims to have in queues.
    alpha: f64,
    /// Segments/s in the last round that reached `alpha`; 0 before.
    rate: f64,
    /// The least queueing delay since the last drain.
    least_queueing: Option<Duration>,
    /// Whether the round that just ended had too few samples.
    as_reno: bool,
}

/// The RTT samples of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Round {
    sum: Duration,
    samples: u32,
}

impl Round {
    fn add(&mut self, rtt: Duration) {
        self.sum = self.sum.saturating_add(rtt);
        self.samples += 1;
    }

    fn mean(self) -> Option<Duration> {
        (self.samples >= LEAST_SAMPLES).then(|| self.sum / self.samples)
    }
}

/// What a round showed: its mean RTT and the least of all.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Delay {
    rtt: Duration,
    base: Duration,
}

impl Delay {
    fn queueing(self) -> Duration {
        self.rtt.saturating_sub(self.base)
    }

    /// What is in queues of `window`, in the same unit.
    fn backlog(self, window: f64) -> f64 {
        window * self.queueing().as_secs_f64() / self.rtt.as_secs_f64()
    }

    /// What of `window` fits without queues, in the same unit.
    fn without_queue(self, window: f64) -> f64 {
        window * self.base.as_secs_f64() / self.rtt.as_secs_f64()
    }
}

impl Flow {
    fn new(parameters: &WvegasParameters) -> Self {
        Self {
            base_rtt: None,
            round: Round::default(),
            alpha: parameters.initial_alpha,
            rate: 0.0,
            least_queueing: None,
            as_reno: false,
        }
    }

    /// Congestion is over: rates are no longer known, but the propagation time is.
    fn restart(&mut self, parameters: &WvegasParameters) {
        *self = Self { base_rtt: self.base_rtt, ..Self::new(parameters) };
    }

    fn on_sample(&mut self, rtt: Duration) {
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        self.round.add(rtt);
    }

    /// Ends the round; `None` if it had too few samples.
    fn end_round(&mut self) -> Option<Delay> {
        let rtt = core::mem::take(&mut self.round).mean();
        self.as_reno = rtt.is_none();
        Some(Delay { rtt: rtt?, base: self.base_rtt? })
    }

    /// Whether the queue has doubled since the last drain.
    fn must_drain(&mut self, delay: Delay) -> bool {
        let queueing = delay.queueing();
        let least = self.least_queueing.map_or(queueing, |least| least.min(queueing));
        let drain = !least.is_zero() && queueing >= 2 * least;
        self.least_queueing = (!drain && !least.is_zero()).then_some(least);
        drain
    }
}

/// The end of slow start: the window that causes no queue, and a segment.
fn leave_slow_start(state: &mut Subflow, delay: Delay) {
    let mss = state.mss as f64;
    state.cwnd = state.cwnd.min(delay.without_queue(state.cwnd) + mss);
    lower_threshold(state);
    keep_least(state);
}

/// The threshold stays a segment below the window.
fn lower_threshold(state: &mut Subflow) {
    let mss = state.mss as f64;
    state.ssthresh = state.ssthresh.min(state.cwnd - mss).max(mss);
}

fn keep_least(state: &mut Subflow) {
    state.cwnd = state.cwnd.max(LEAST_SEGMENTS * state.mss as f64);
}

impl Wvegas {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "wvegas",
        purpose: "coupled by delay: equal queues on all paths, and short ones",
        source: "Cao et al., ICNP 2012, algorithm 1; mptcp_wvegas.c",
        parameters: WvegasParameters::PARAMETERS,
    };

    /// wVegas with other constants.
    pub fn new(parameters: WvegasParameters) -> Self {
        Self { parameters, flows: PathMap::default() }
    }

    /// An instance for the registry; wVegas draws nothing at random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(WvegasParameters::of(values)))
    }

    fn flow(&mut self, id: PathId) -> &mut Flow {
        let parameters = &self.parameters;
        self.flows.get_or_insert_with(id, || Flow::new(parameters))
    }

    /// Restarts the flow of a subflow.
    fn restart(&mut self, id: PathId) {
        let parameters = self.parameters;
        self.flow(id).restart(&parameters);
    }

    /// Sets what a subflow of `rate` segments/s aims at: its share of the total.
    fn share_backlog(&mut self, id: PathId, rate: f64, subflows: &Subflows) {
        self.flow(id).rate = rate;
        let rate_of = |s: &Subflow| self.flows.get(s.id).map_or(0.0, |flow| flow.rate);
        let others: f64 = subflows.coupled().filter(|s| s.id != id).map(rate_of).sum();
        // In this order, half of the total is not rounded to less than half, nor all of it.
        let share = self.parameters.total_alpha * (rate / (rate + others));
        self.flow(id).alpha = share.floor().max(LEAST_SEGMENTS);
    }

    /// A round of congestion avoidance.
    fn adjust(&mut self, id: PathId, delay: Delay, ack: &Ack, subflows: &mut Subflows) {
        let Some(state) = subflows.get(id) else { return };
        let (mss, segments) = (state.mss as f64, state.cwnd / state.mss as f64);
        let backlog = delay.backlog(segments);
        if backlog >= self.flow(id).alpha {
            self.share_backlog(id, segments / delay.rtt.as_secs_f64(), subflows);
        }
        let drain_always = self.parameters.drain_always;
        let flow = self.flow(id);
        let Some(state) = subflows.get_mut(id) else { return };
        if backlog > flow.alpha {
            state.cwnd -= mss;
            lower_threshold(state);
        } else if backlog < flow.alpha && state.may_grow(ack) {
            state.cwnd += mss;
        }
        if (drain_always || backlog >= flow.alpha) && flow.must_drain(delay) {
            state.cwnd = delay.without_queue(state.cwnd) / 2.0;
        }
        keep_least(state);
    }
}

impl CongestionAvoidance for Wvegas {
    fn on_delivery(&mut self, subflow: PathId, ack: &Ack, _subflows: &Subflows) {
        if let Some(rtt) = ack.rtt {
            self.flow(subflow).on_sample(rtt);
        }
    }

    fn on_round(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let Some(state) = subflows.get_mut(subflow) else { return };
        let Some(delay) = self.flow(subflow).end_round() else { return };
        if state.in_recovery {
            return;
        }
        if state.cwnd >= state.ssthresh {
            self.adjust(subflow, delay, ack, subflows);
        } else if delay.backlog(state.cwnd) > self.parameters.gamma * state.mss as f64 {
            leave_slow_start(state, delay);
        }
    }

    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let as_reno = ack.round_start && self.flow(subflow).as_reno;
        if let Some(state) = subflows.get_mut(subflow).filter(|s| as_reno && s.may_grow(ack)) {
            state.cwnd += reno::increase(state, ack.acked_bytes);
        }
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            reno::on_loss(state, loss);
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        self.restart(subflow);
        if let Some(state) = subflows.get_mut(subflow) {
            reno::on_timeout(state, loss);
        }
    }

    fn on_recovery_exit(&mut self, subflow: PathId, _ack: &Ack, _subflows: &mut Subflows) {
        self.restart(subflow);
    }

    fn on_idle_restart(&mut self, subflow: PathId, subflows: &mut Subflows) {
        self.flows.remove(subflow);
        if let Some(state) = subflows.get_mut(subflow) {
            state.restart_after_idle();
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.flows.remove(subflow);
    }

    fn is_coupled(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, path, subflows};

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Subflow 0 of 40 segments of one byte over a path of 100 ms, in avoidance; subflow 1 at 480
    /// segments/s.
    fn two() -> (Wvegas, Subflows) {
        let mut wvegas = Wvegas::default();
        wvegas.flow(path(0)).base_rtt = Some(ms(100));
        wvegas.flow(path(1)).rate = 480.0;
        (wvegas, subflows(1, &[(40.0, 125), (60.0, 125)]))
    }

    /// A round of subflow 0 with `samples` of `rtt` ms, and its window after it.
    fn round((wvegas, flows): &mut (Wvegas, Subflows), samples: u32, rtt: u64) -> f64 {
        let sampled = Ack { rtt: Some(ms(rtt)), ..ack(1, 1) };
        (1..samples).for_each(|_| wvegas.on_delivery(path(0), &sampled, flows));
        let last = Ack { round_start: true, ..sampled };
        wvegas.on_delivery(path(0), &last, flows);
        wvegas.on_round(path(0), &last, flows);
        wvegas.on_ack(path(0), &last, flows);
        window(flows)
    }

    fn window(flows: &Subflows) -> f64 {
        flows.get(path(0)).unwrap().cwnd
    }

    #[test]
    fn t_wvegas_1() {
        let mut flows = two();
        assert!((round(&mut flows, 3, 125) - 39.0).abs() < 1e-9);
        assert_eq!(flows.0.flow(path(0)).alpha, 4.0);
        assert_eq!(flows.0.flow(path(0)).least_queueing, Some(ms(25)));
        let mut flows = two();
        flows.0.flow(path(0)).least_queueing = Some(ms(10));
        assert!((round(&mut flows, 3, 125) - 15.6).abs() < 1e-9);
        assert_eq!(flows.0.flow(path(0)).least_queueing, None);
    }

    #[test]
    fn an_unusable_subflow_leaves_its_share() {
        let mut flows = two();
        flows.1.get_mut(path(1)).unwrap().usable = false;
        // A backlog of 8 is below the whole of 10.
        assert_eq!(round(&mut flows, 3, 125), 41.0);
        assert_eq!(flows.0.flow(path(0)).alpha, 10.0);
    }

    /// In floating point, ten times these rates by the rate is below 10, and by twice it below 5.
    #[test]
    fn what_rounding_takes_from_a_rate_takes_no_segment_from_its_share() {
        for rate in [1.982_076_637_538_534_1, 1.740_503_411_833_196_3, 1.841_744_832_274_096_1] {
            for (other, alpha) in [(0.0, 10.0), (rate, 5.0)] {
                let (mut wvegas, flows) = two();
                wvegas.flow(path(1)).rate = other;
                wvegas.share_backlog(path(0), rate, &flows);
                assert_eq!(wvegas.flow(path(0)).alpha, alpha, "{rate} beside {other}");
            }
        }
    }

    #[test]
    fn no_queue_is_no_reason_to_drain() {
        let mut flows = two();
        assert_eq!(round(&mut flows, 3, 100), 41.0);
        assert_eq!(round(&mut flows, 3, 100), 42.0);
        assert_eq!(flows.0.flow(path(0)).least_queueing, None);
    }

    #[test]
    fn only_a_queue_of_alpha_is_drained_but_in_the_kernel_any() {
        for (drain_always, window) in [(false, 42.0), (true, 42.0 / 1.02 / 2.0)] {
            let mut flows = two();
            flows.0.parameters.drain_always = drain_always;
            assert_eq!(round(&mut flows, 3, 101), 41.0);
            let after = round(&mut flows, 3, 102);
            assert!((after - window).abs() < 1e-9, "{after} is not {window}");
        }
    }

    #[test]
    fn a_round_of_two_samples_is_reno() {
        let mut flows = two();
        assert!((round(&mut flows, 2, 125) - 40.0 - 1.0 / 40.0).abs() < 1e-9);
        assert!((round(&mut flows, 3, 125) - 39.0 - 1.0 / 40.0).abs() < 1e-9);
    }

    #[test]
    fn a_queue_of_more_than_gamma_ends_slow_start() {
        let mut flows = two();
        flows.1.get_mut(path(0)).unwrap().ssthresh = f64::INFINITY;
        assert_eq!(round(&mut flows, 3, 102), 40.0, "0.8 segments in the queue");
        assert!(flows.1.get(path(0)).unwrap().ssthresh.is_infinite());
        assert!((round(&mut flows, 3, 125) - 33.0).abs() < 1e-9);
        assert!((flows.1.get(path(0)).unwrap().ssthresh - 32.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_decided_in_recovery() {
        let mut flows = two();
        flows.1.get_mut(path(0)).unwrap().in_recovery = true;
        assert_eq!(round(&mut flows, 3, 125), 40.0);
        assert_eq!(round(&mut flows, 2, 125), 40.0);
    }

    #[test]
    fn what_is_known_ends_with_recovery_and_idling() {
        let mut flows = two();
        flows.1.get_mut(path(1)).unwrap().usable = false;
        round(&mut flows, 3, 125);
        let (wvegas, subflows) = &mut flows;
        wvegas.on_recovery_exit(path(0), &ack(1, 1), subflows);
        let flow = *wvegas.flow(path(0));
        assert_eq!((flow.alpha, flow.rate, flow.base_rtt), (2.0, 0.0, Some(ms(100))));
        wvegas.on_idle_restart(path(0), subflows);
        assert_eq!(wvegas.flow(path(0)).base_rtt, None);
    }
}

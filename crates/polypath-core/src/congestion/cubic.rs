//! CUBIC.
//!
//! Source: RFC 9438. Windows in bytes, times in seconds; `C` counts segments, hence the MSS:
//!
//! ```text
//! W_cubic(t) = C * MSS * (t - K)^3 + W_max                                       (figure 1)
//! K          = cbrt((W_max - cwnd_epoch) / (C * MSS))                            (figure 2)
//! target     = clamp(W_cubic(t + RTT), w, 1.5 w)                                 (section 4.2)
//! W_est     += alpha * acked * MSS / w,  alpha = 3 (1 - beta) / (1 + beta)       (figure 4)
//!              alpha = late_alpha        once W_est >= the window before the loss (section 4.3)
//! w          = W_est                     if W_cubic(t) < W_est                   (section 4.3)
//! w         += (target - w) / w * acked  otherwise                               (4.4, 4.5)
//! loss:      W_max = w, or w (1 + beta) / 2 if below the last one;  w = ssthresh = beta * flight
//! timeout:   the same threshold, w = MSS                                         (4.6 - 4.8)
//! ```
//!
//! `t` leaves out the time in which the window did not limit sending (section 5.8). Growth counts
//! acknowledged bytes, so that an ACK of several segments grows the window as several ACKs would.
//! `late_alpha` is 1; Linux leaves `alpha` as it is (0 here). `linux_min_rtt` uses the minimum RTT
//! in the target, as Linux does. The cube root is `libm`'s: the same on every machine. Deviation: a
//! window that something else lowered (penalisation:
//! `docs/algorithms/opportunistic_retransmission.md`) begins a new epoch.

use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

parameters! {
    /// The constants; by default those of RFC 9438.
    pub struct CubicParameters {
        /// `C` in segments/s^3.
        pub c: f64 = 0.4, "c", "segments/s^3",
            "how steep the cubic is", 1e-6 to 1e6;
        /// `beta`: what remains of the window after a loss.
        pub beta: f64 = 0.7, "beta", "",
            "what remains of the window after a loss", 0.0 to 1.0;
        /// Whether a loss below the last maximum lowers the maximum further (section 4.7).
        pub fast_convergence: bool = true, "fast_convergence", "",
            "1: a loss below the last maximum gives way to new flows";
        /// Whether the target looks one minimum RTT ahead instead of one smoothed RTT.
        pub linux_min_rtt: bool = false, "linux_min_rtt", "",
            "1: the target looks one minimum RTT ahead, as Linux does";
        /// `alpha` once the estimate of Reno's window has reached the window before the loss;
        /// 0: what it is before, as in Linux (section 4.3).
        pub late_alpha: f64 = 1.0, "late_alpha", "segments/round",
            "growth of Reno's window above that before the loss; 0 = as below it (Linux)",
            0.0 to 1000.0;
    }
}

impl CubicParameters {
    /// The values of Linux `tcp_cubic.c`.
    pub const LINUX: Self = Self {
        c: 410.0 / 1024.0,
        beta: 717.0 / 1024.0,
        fast_convergence: true,
        linux_min_rtt: true,
        late_alpha: 0.0,
    };

    /// `alpha`: the increase of an AIMD flow that decreases by `beta` and is as fast as Reno.
    fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }

    /// The growth of the estimate of Reno's window, in segments a round; `late` means above the
    /// window before the loss.
    fn reno_growth(&self, late: bool) -> f64 {
        if late && self.late_alpha > 0.0 { self.late_alpha } else { self.alpha() }
    }
}

/// CUBIC for all subflows of a connection, each on its own.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    parameters: CubicParameters,
    flows: PathMap<Flow>,
}

/// What CUBIC keeps for a subflow. Windows in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flow {
    /// `W_max`; `None` before the first loss and after a timeout: the plateau is where avoidance
    /// begins.
    w_max: Option<f64>,
    /// The window when ssthresh was last set: `cwnd_prior`.
    w_prior: f64,
    epoch: Option<Epoch>,
    /// The state before the last loss, for when it proves spurious.
    undo: Option<Before>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Before {
    w_max: Option<f64>,
    w_prior: f64,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    began_at: Timestamp,
    last_ack: Timestamp,
    /// `K` in seconds.
    k: f64,
    plateau: f64,
    w_est: f64,
    /// The window that the epoch has led to.
    window: f64,
}

impl Epoch {
    fn new(now: Timestamp, window: f64, w_max: Option<f64>, cubic: f64) -> Self {
        let plateau = w_max.unwrap_or(window).max(window);
        let k = libm::cbrt((plateau - window) / cubic);
        Self { began_at: now, last_ack: now, k, plateau, w_est: window, window }
    }

    /// `W_cubic` at `seconds` after the beginning; `cubic` is C * MSS.
    fn window_at(&self, seconds: f64, cubic: f64) -> f64 {
        let x = seconds - self.k;
        cubic * x * x * x + self.plateau
    }

    /// Growth of window `w` for each byte acknowledged, where the window aims at `W_cubic` of
    /// `seconds` (sections 4.4 and 4.5).
    fn step_at(&self, seconds: f64, w: f64, cubic: f64) -> f64 {
        (self.window_at(seconds, cubic).clamp(w, 1.5 * w) - w) / w
    }

    /// Time since the beginning; the time since the last ACK is left out if the flow was `idle`.
    fn elapsed(&mut self, now: Timestamp, idle: bool) -> f64 {
        if idle {
            self.began_at += now - self.last_ack;
        }
        self.last_ack = now;
        (now - self.began_at).as_secs_f64()
    }
}

impl Flow {
    /// Ends the epoch if something else has lowered the window: `W_cubic` and `W_est` are from
    /// before, and would bring it back at once.
    fn notice_lowered(&mut self, window: f64) {
        self.epoch = self.epoch.filter(|epoch| window >= epoch.window);
    }

    fn grow(&mut self, subflow: &mut Subflow, ack: &Ack, parameters: &CubicParameters) {
        self.notice_lowered(subflow.cwnd);
        let cubic = parameters.c * subflow.mss as f64;
        let (w, w_prior, w_max) = (subflow.cwnd, self.w_prior, self.w_max);
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(ack.now, w, w_max, cubic));
        let t = epoch.elapsed(ack.now, !subflow.may_grow(ack));
        if !subflow.may_grow(ack) {
            return;
        }
        let acked = ack.acked_bytes as f64;
        let alpha = parameters.reno_growth(epoch.w_est >= w_prior);
        epoch.w_est += alpha * acked * subflow.mss as f64 / w;
        subflow.cwnd = if epoch.window_at(t, cubic) < epoch.w_est {
            epoch.w_est.max(w)
        } else {
            let ahead = look_ahead(subflow, parameters).as_secs_f64();
            w + epoch.step_at(t + ahead, w, cubic) * acked
        };
        epoch.window = subflow.cwnd;
    }

    /// Sections 4.6 and 4.7: remembers the maximum and sets the threshold.
    fn decrease(&mut self, subflow: &mut Subflow, loss: &Loss, parameters: &CubicParameters) {
        self.undo = Some(Before { w_max: self.w_max, w_prior: self.w_prior, epoch: self.epoch });
        let w = subflow.cwnd;
        let converge = parameters.fast_convergence && self.w_max.is_some_and(|max| w < max);
        self.w_max = Some(if converge { w * (1.0 + parameters.beta) / 2.0 } else { w });
        self.w_prior = w;
        self.epoch = None;
        let floor = 2.0 * loss.mss as f64;
        subflow.ssthresh = (parameters.beta * loss.bytes_in_flight as f64).max(floor);
    }
}

fn look_ahead(subflow: &Subflow, parameters: &CubicParameters) -> Duration {
    let rtt = if parameters.linux_min_rtt { subflow.min_rtt } else { subflow.srtt };
    rtt.unwrap_or(Duration::ZERO)
}

impl Cubic {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "cubic",
        purpose: "cubic growth towards the last maximum: the default of most TCPs",
        source: "RFC 9438 section 4",
        parameters: CubicParameters::PARAMETERS,
    };

    /// CUBIC with other constants.
    pub fn new(parameters: CubicParameters) -> Self {
        Self { parameters, flows: PathMap::default() }
    }

    /// An instance for the registry; CUBIC draws nothing at random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(CubicParameters::of(values)))
    }

    /// The subflow and its state, made at its first event.
    fn parts<'a>(
        &'a mut self,
        id: PathId,
        subflows: &'a mut Subflows,
    ) -> Option<(&'a mut Flow, &'a mut Subflow, CubicParameters)> {
        let subflow = subflows.get_mut(id)?;
        Some((self.flows.get_or_insert_with(id, Flow::default), subflow, self.parameters))
    }
}

impl CongestionAvoidance for Cubic {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        if let Some((flow, state, parameters)) = self.parts(subflow, subflows) {
            flow.grow(state, ack, &parameters);
        }
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some((flow, state, parameters)) = self.parts(subflow, subflows) {
            flow.decrease(state, loss, &parameters);
            state.cwnd = state.ssthresh;
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some((flow, state, parameters)) = self.parts(subflow, subflows) {
            flow.decrease(state, loss, &parameters);
            flow.w_max = None;
            state.cwnd = loss.mss as f64;
        }
    }

    fn on_slow_start_exit(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        if let Some((flow, state, parameters)) = self.parts(subflow, subflows) {
            let cubic = parameters.c * state.mss as f64;
            flow.w_max = Some(state.cwnd);
            flow.w_prior = state.cwnd;
            flow.epoch = Some(Epoch::new(ack.now, state.cwnd, flow.w_max, cubic));
        }
    }

    fn on_idle_restart(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if let Some((flow, state, _)) = self.parts(subflow, subflows) {
            state.restart_after_idle();
            flow.epoch = None;
        }
    }

    fn on_spurious_loss(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if let Some((flow, state, _)) = self.parts(subflow, subflows)
            && state.cwnd < flow.w_prior
            && let Some(before) = flow.undo.take()
        {
            *flow = Flow {
                w_max: before.w_max,
                w_prior: before.w_prior,
                epoch: before.epoch,
                undo: None,
            };
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.flows.remove(subflow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, loss, path, subflows};

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() <= 1e-6 * right.abs().max(1e-3), "{left} is not {right}");
    }

    /// After a loss at a window of 100 segments of one byte.
    fn after_loss(cwnd: f64) -> (Cubic, Subflows) {
        let mut cubic = Cubic::default();
        let mut flows = subflows(1, &[(100.0, 100)]);
        cubic.on_loss(path(0), &loss(100, 1), &mut flows);
        flows.get_mut(path(0)).unwrap().cwnd = cwnd;
        (cubic, flows)
    }

    #[test]
    fn t_cubic_1() {
        let epoch = Epoch::new(Timestamp::ZERO, 70.0, Some(100.0), 0.4);
        close(epoch.k, 4.217_163_33);
        for (seconds, window) in
            [(0.0, 70.0), (2.1, 96.204_027_3), (epoch.k, 100.0), (6.0, 102.266_703_3)]
        {
            close(epoch.window_at(seconds, 0.4), window);
        }
    }

    #[test]
    fn t_cubic_2() {
        let (mut cubic, mut flows) = after_loss(70.0);
        let epoch = Epoch::new(Timestamp::ZERO, 70.0, Some(100.0), 0.4);
        close(epoch.window_at(0.1, 0.4), 72.083_930_0);
        close(epoch.step_at(0.1, 70.0, 0.4), 0.029_770_4);
        cubic.on_ack(path(0), &ack(1, 1), &mut flows);
        let flow = cubic.flows.get(path(0)).unwrap();
        close(flow.epoch.unwrap().w_est - 70.0, 9.0 / 17.0 / 70.0);
    }

    #[test]
    fn above_the_estimate_of_reno_the_cubic_rules() {
        let (mut cubic, mut flows) = after_loss(70.0);
        cubic.on_ack(path(0), &ack(1, 1), &mut flows);
        let before = flows.get(path(0)).unwrap().cwnd;
        let later = Ack { now: Timestamp::from_millis(1_000), ..ack(1, 1) };
        cubic.on_ack(path(0), &later, &mut flows);
        // W_cubic(1.1) = 0.4 (1.1 - 4.217163327)^3 + 100 = 87.884575
        close(flows.get(path(0)).unwrap().cwnd - before, (87.884_575 - before) / before);
    }

    /// Reno's window, at 99.6 of 100 segments before, passes them with the first ACK of a window
    /// and grows by `late_alpha` from the second on.
    #[test]
    fn above_the_window_before_the_loss_late_alpha_is_the_growth_of_reno() {
        let alpha = 9.0 / 17.0;
        for (late_alpha, expected) in [(1.0, 1.0), (0.0, alpha), (2.5, 2.5)] {
            let parameters = CubicParameters { late_alpha, ..CubicParameters::DEFAULT };
            let (mut cubic, mut flows) = after_loss(99.6);
            cubic.parameters = parameters;
            let w_est = |cubic: &Cubic| cubic.flows.get(path(0)).unwrap().epoch.unwrap().w_est;
            cubic.on_ack(path(0), &ack(100, 1), &mut flows);
            close(w_est(&cubic) - 99.6, alpha * 100.0 / 99.6);
            let before = (w_est(&cubic), flows.get(path(0)).unwrap().cwnd);
            cubic.on_ack(path(0), &ack(100, 1), &mut flows);
            close(w_est(&cubic) - before.0, expected * 100.0 / before.1);
        }
    }

    #[test]
    fn a_window_grows_by_half_in_a_round_at_most() {
        let epoch = Epoch::new(Timestamp::ZERO, 70.0, Some(100.0), 0.4);
        assert_eq!(epoch.step_at(1_000.0, 70.0, 0.4), 0.5);
        assert_eq!(epoch.step_at(0.0, 80.0, 0.4), 0.0, "nor does it shrink");
    }

    #[test]
    fn t_cubic_3() {
        let (mut cubic, mut flows) = after_loss(80.0);
        cubic.on_loss(path(0), &loss(80, 1), &mut flows);
        let state = flows.get(path(0)).unwrap();
        close(cubic.flows.get(path(0)).unwrap().w_max.unwrap(), 68.0);
        close(state.ssthresh, 56.0);
        close(state.cwnd, 56.0);
    }

    #[test]
    fn without_fast_convergence_the_maximum_is_the_window() {
        let (mut cubic, mut flows) = after_loss(80.0);
        cubic.parameters.fast_convergence = false;
        cubic.on_loss(path(0), &loss(80, 1), &mut flows);
        assert_eq!(cubic.flows.get(path(0)).unwrap().w_max, Some(80.0));
    }

    #[test]
    fn a_timeout_makes_the_plateau_where_avoidance_begins() {
        let (mut cubic, mut flows) = after_loss(70.0);
        cubic.on_timeout(path(0), &loss(70, 1), &mut flows);
        let state = flows.get_mut(path(0)).unwrap();
        assert_eq!((state.cwnd, state.ssthresh), (1.0, 49.0));
        state.cwnd = 49.0;
        cubic.on_ack(path(0), &ack(1, 1), &mut flows);
        let epoch = cubic.flows.get(path(0)).unwrap().epoch.unwrap();
        assert_eq!((epoch.k, epoch.plateau), (0.0, 49.0));
    }

    #[test]
    fn time_without_need_of_the_window_does_not_count() {
        let (mut cubic, mut flows) = after_loss(70.0);
        let at = |secs: u64, cwnd_limited| Ack {
            now: Timestamp::from_millis(secs * 1_000),
            cwnd_limited,
            ..ack(1, 1)
        };
        cubic.on_ack(path(0), &at(0, true), &mut flows);
        cubic.on_ack(path(0), &at(100, false), &mut flows);
        cubic.on_ack(path(0), &at(101, true), &mut flows);
        let epoch = cubic.flows.get(path(0)).unwrap().epoch.unwrap();
        assert_eq!(epoch.last_ack - epoch.began_at, Duration::from_secs(1));
    }

    /// After 2 s the cubic is at 95.6 of 100 segments, and the estimate of Reno above what is left.
    #[test]
    fn a_window_that_was_halved_from_outside_starts_anew() {
        let (mut cubic, mut flows) = after_loss(70.0);
        for ms in (0..2_000).step_by(100) {
            let now = Timestamp::from_millis(ms);
            cubic.on_ack(path(0), &Ack { now, ..ack(80, 1) }, &mut flows);
        }
        let state = flows.get_mut(path(0)).unwrap();
        assert!(state.cwnd > 90.0, "{}", state.cwnd);
        state.cwnd /= 2.0;
        let halved = state.cwnd;
        let now = Timestamp::from_millis(2_000);
        cubic.on_ack(path(0), &Ack { now, ..ack(1, 1) }, &mut flows);
        let epoch = cubic.flows.get(path(0)).unwrap().epoch.unwrap();
        assert_eq!(epoch.began_at, now);
        let grown = flows.get(path(0)).unwrap().cwnd - halved;
        assert!((0.0..0.15).contains(&grown), "{grown}");
    }

    #[test]
    fn a_spurious_loss_restores_the_epoch() {
        let (mut cubic, mut flows) = after_loss(70.0);
        cubic.on_ack(path(0), &ack(1, 1), &mut flows);
        let before = *cubic.flows.get(path(0)).unwrap();
        cubic.on_loss(path(0), &loss(70, 1), &mut flows);
        cubic.on_spurious_loss(path(0), &mut flows);
        let after = cubic.flows.get(path(0)).unwrap();
        assert_eq!((after.w_max, after.epoch), (before.w_max, before.epoch));
    }
}

//! A port of a switch: its shares, its period, and the state machine of its allocations.
//!
//! Source: S4 section 3.3 and figure 5. Each period lasts as long as the longest RTT of a BRF flow,
//! equation (15). At its end:
//!
//! ```text
//! congested        -> REDUCE: (17) or (18) once for each reading, at most 4 periods
//! a flow is new    -> INIT_BW: new flows keep their first rate, the others are allotted
//! else             -> ALLOC: (14)
//! ```
//!
//! A first rate is given when the SYN passes, (10) to (13), so that the SYN-ACK carries it. S4
//! waits for the next period and measures no flow meanwhile; with steady arrivals none would ever
//! be measured. A reading that the switch has acted upon is not acted upon again, because its queue
//! has drained by then.

use super::allocation::{self, Share};
use super::class::Policer;
use super::flow::{Flow, State};
use super::{Cause, Class, Decision, Shares, SwitchParameters};
use polypath_units::{Bandwidth, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// The state of a port's allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No period has ended yet.
    Init,
    /// Allocations are lowered.
    Reduce(Cause),
    /// New flows have their first rate.
    InitBw,
    /// All flows are measured.
    Alloc,
}

#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) shares: Shares,
    pub(super) phase: Phase,
    /// When the period ends; `None` without flows.
    pub(super) ends: Option<Timestamp>,
    capacity: Bandwidth,
    policer: Policer,
    began: Timestamp,
    decision: Option<Decision>,
    /// Whether the decision was not acted upon yet.
    fresh: bool,
    reductions: u32,
}

/// The flows of a port that count.
struct Pool<'a> {
    /// Those of BRF, and their part in allocation.
    flows: Vec<&'a mut Flow>,
    shares: Vec<Share>,
    /// The flows of CUBIC, by weight.
    cubic: f64,
    /// The longest RTT of a BRF flow.
    max_rtt: Option<Duration>,
}

impl<'a> Pool<'a> {
    fn new(flows: impl Iterator<Item = &'a mut Flow>, parameters: &SwitchParameters) -> Self {
        let active: Vec<_> = flows.filter(|flow| flow.is_active()).collect();
        let subflows = if parameters.per_connection { subflows(&active) } else { BTreeMap::new() };
        let mut pool = Self { flows: Vec::new(), shares: Vec::new(), cubic: 0.0, max_rtt: None };
        for flow in active {
            let siblings = subflows.get(&(flow.class, flow.connection)).copied();
            let weight = 1.0 / siblings.unwrap_or(1.0);
            if flow.class == Class::Brf {
                let rtt = flow.rtt.unwrap_or_else(|| parameters.unknown_rtt());
                pool.max_rtt = pool.max_rtt.max(Some(rtt));
                pool.shares.push(Share { weight, ..flow.share() });
                pool.flows.push(flow);
            } else {
                pool.cubic += weight;
            }
        }
        pool
    }

    fn has_new(&self) -> bool {
        self.flows.iter().any(|flow| flow.state == State::New)
    }

    fn assign(self, parameters: &SwitchParameters) {
        for (flow, share) in self.flows.into_iter().zip(&self.shares) {
            flow.assign(share.allocated, parameters);
        }
    }
}

/// How many subflows each connection has here.
fn subflows(flows: &[&mut Flow]) -> BTreeMap<(Class, Option<u64>), f64> {
    let mut counts = BTreeMap::new();
    for flow in flows.iter().filter(|flow| flow.connection.is_some()) {
        *counts.entry((flow.class, flow.connection)).or_default() += 1.0;
    }
    counts
}

impl Port {
    pub(super) fn new(capacity: Bandwidth, parameters: &SwitchParameters) -> Self {
        let mut port = Self {
            shares: Shares::default(),
            phase: Phase::Init,
            ends: None,
            capacity,
            policer: Policer::NEW,
            began: Timestamp::ZERO,
            decision: None,
            fresh: false,
            reductions: 0,
        };
        port.share_out(0.0, 0.0, parameters);
        port
    }

    /// The rate of the link changed.
    pub(super) fn set_capacity(&mut self, capacity: Bandwidth) {
        self.capacity = capacity;
    }

    pub(super) fn on_decision(&mut self, decision: Decision) {
        self.decision = Some(decision);
        self.fresh = true;
    }

    /// Whether a packet of the UDP class passes.
    pub(super) fn polices(&mut self, now: Timestamp, bytes: u64, p: &SwitchParameters) -> bool {
        let rate = self.shares.udp;
        // At least two packets: less would let none pass on a slow link.
        let burst = (rate * p.udp_burst_ms / 1e3).max(2.0 * p.packet_bytes);
        self.policer.admits(now, bytes, rate, burst)
    }

    fn share_out(&mut self, cubic: f64, brf: f64, parameters: &SwitchParameters) {
        let capacity = self.capacity.bytes_per_sec();
        let udp = parameters.udp_share * capacity;
        let rest = parameters.target_utilisation * (capacity - udp);
        self.shares = Shares::split(udp, rest, cubic, brf);
    }

    fn reshare(&mut self, pool: &Pool<'_>, parameters: &SwitchParameters) {
        let brf = pool.shares.iter().map(|share| share.weight).sum();
        self.share_out(pool.cubic, brf, parameters);
    }

    fn period(max_rtt: Option<Duration>, parameters: &SwitchParameters) -> Duration {
        parameters.period(max_rtt.unwrap_or(Duration::MAX))
    }

    /// Keeps the total within the share, and every flow at its floor.
    fn bound(&self, pool: &mut Pool<'_>, parameters: &SwitchParameters) {
        let period = Self::period(pool.max_rtt, parameters).as_secs_f64();
        let floor = parameters.floor_packets * parameters.packet_bytes / period;
        allocation::bound(&mut pool.shares, self.shares.brf, floor);
    }

    /// Allocations may depend on what changed: keeps them within their share.
    pub(super) fn rebound<'a>(
        &mut self,
        flows: impl Iterator<Item = &'a mut Flow>,
        parameters: &SwitchParameters,
    ) {
        let mut pool = Pool::new(flows, parameters);
        self.reshare(&pool, parameters);
        self.bound(&mut pool, parameters);
        pool.assign(parameters);
    }

    /// A flow of BRF became active, `new` in the order of the active BRF flows: gives it its first
    /// rate, at most what is predicted.
    pub(super) fn admit<'a>(
        &mut self,
        flows: impl Iterator<Item = &'a mut Flow>,
        new: usize,
        predicted: Option<f64>,
        parameters: &SwitchParameters,
    ) {
        let mut pool = Pool::new(flows, parameters);
        self.reshare(&pool, parameters);
        let mut share = pool.shares.remove(new);
        share.allocated = allocation::admit(
            &mut pool.shares,
            share.weight,
            predicted,
            self.shares.brf,
            parameters.scale_by,
        );
        pool.shares.insert(new, share);
        self.bound(&mut pool, parameters);
        pool.assign(parameters);
    }

    /// A flow became active: the period ends no later than one period from now.
    pub(super) fn on_arrival(
        &mut self,
        now: Timestamp,
        rtt: Option<Duration>,
        p: &SwitchParameters,
    ) {
        let end = now + Self::period(rtt, p);
        match &mut self.ends {
            Some(ends) => *ends = end.min(*ends),
            None => (self.began, self.ends) = (now, Some(end)),
        }
    }

    /// The period ended: measures all flows and allots anew.
    pub(super) fn on_period(
        &mut self,
        now: Timestamp,
        mut flows: Vec<&mut Flow>,
        parameters: &SwitchParameters,
    ) {
        let (began, elapsed) = (self.began, now - self.began);
        flows.iter_mut().for_each(|flow| flow.on_period(began, elapsed, parameters));
        rest(now, &mut flows, parameters);
        let empty = flows.is_empty();
        let mut pool = Pool::new(flows.into_iter(), parameters);
        self.reshare(&pool, parameters);
        self.phase = self.next_phase(pool.has_new(), parameters);
        self.act(&mut pool, parameters);
        self.bound(&mut pool, parameters);
        self.began = now;
        self.ends = (!empty).then(|| now + Self::period(pool.max_rtt, parameters));
        pool.assign(parameters);
    }

    fn next_phase(&mut self, has_new: bool, parameters: &SwitchParameters) -> Phase {
        let congestion = self.decision.and_then(|decision| decision.congestion);
        if let Some(cause) = congestion.filter(|_| self.reductions < parameters.reduction_periods) {
            self.reductions += 1;
            return Phase::Reduce(cause);
        }
        self.reductions = 0;
        if congestion.is_some() {
            // Only another reading begins another reduction.
            self.decision = None;
            return Phase::Alloc;
        }
        if has_new { Phase::InitBw } else { Phase::Alloc }
    }

    fn act(&mut self, pool: &mut Pool<'_>, parameters: &SwitchParameters) {
        let fresh = core::mem::take(&mut self.fresh);
        match self.phase {
            Phase::Reduce(cause) if fresh => {
                let factor = self.factor(cause, pool, parameters);
                allocation::reduce(&mut pool.shares, factor);
            }
            Phase::Init | Phase::Reduce(_) => {}
            Phase::InitBw | Phase::Alloc => {
                let (capacity, growth) = (self.shares.brf, parameters.limited_growth);
                allocation::allocate(&mut pool.shares, capacity, growth);
            }
        }
    }

    fn factor(&self, cause: Cause, pool: &Pool<'_>, parameters: &SwitchParameters) -> f64 {
        let packets = self.decision.map_or(0, |decision| decision.queued_packets);
        match cause {
            Cause::Queueing => {
                let rtt = Self::period(pool.max_rtt, parameters).as_secs_f64();
                let queued = packets as f64 * parameters.packet_bytes;
                let gamma = parameters.drain_rtts * rtt;
                allocation::drain(&pool.shares, queued, gamma, parameters.drain_floor)
            }
            Cause::Burst => {
                allocation::calm(&pool.shares, self.shares.brf, parameters.burst_utilisation)
            }
        }
    }
}

/// Flows without data for long fall dormant.
fn rest(now: Timestamp, flows: &mut [&mut Flow], parameters: &SwitchParameters) {
    let rtts = flows.iter().filter(|flow| flow.is_active()).filter_map(|flow| flow.rtt);
    let max_rtt = parameters.period(rtts.max().unwrap_or_default());
    let window = parameters.active_window(max_rtt);
    for flow in flows.iter_mut().filter(|flow| now - flow.active_at > window) {
        flow.fall_dormant();
    }
}

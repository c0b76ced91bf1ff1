//! The flows of an edge's gateway, and which of them is free.

use std::time::Duration;

use polypath_bond::{FlowConfig, MAX_RESEND_WAIT};
use polypath_units::Timestamp;

/// A flow in which nothing was sent for so long has no holes any more that the receiver waits for,
/// also where the last packet took long to arrive: it serves the next conversation.
const QUIET: Duration = MAX_RESEND_WAIT.saturating_mul(2);

/// Flows of one edge's gateway: a quarter of those that a bond may have.
const MAX_FLOWS: usize = 256;

/// Which flow of a gateway, counted from 0 in the order in which the edge opened them.
pub type FlowIndex = usize;

/// The flows that an edge has opened for packets. Conversations whose packets are put in order have
/// one each, as long as there may be more; others share one of each kind.
#[derive(Debug)]
pub struct FlowPool {
    flows: Vec<Pooled>,
    most: usize,
}

#[derive(Debug)]
struct Pooled {
    config: FlowConfig,
    /// When a packet was last sent in it.
    used: Timestamp,
}

/// One that may grow to 256 flows of each kind that is put in order.
impl Default for FlowPool {
    fn default() -> Self {
        Self::new(MAX_FLOWS)
    }
}

impl FlowPool {
    /// A pool that may grow to so many flows of each kind that is put in order.
    const fn new(most: usize) -> Self {
        Self { flows: Vec::new(), most }
    }

    /// The flow for a new conversation: one that is quiet; `None` if another is to be opened. When
    /// there are as many as there may be, the one that was quiet for longest. Conversations whose
    /// packets are not put in order share one.
    fn choose(&self, config: FlowConfig, now: Timestamp) -> Option<FlowIndex> {
        let quietest = self.quietest(config)?;
        // The receiver puts datagrams in order.
        let is_ordered = config.wait_for_order() != Some(Duration::ZERO);
        let is_free = !is_ordered || now.since(self.flows[quietest].used) >= QUIET;
        let count = self.flows.iter().filter(|flow| flow.config == config).count();
        (is_free || count >= self.most).then_some(quietest)
    }

    /// The flow of this kind that was quiet for longest.
    fn quietest(&self, config: FlowConfig) -> Option<FlowIndex> {
        let of_config = self.flows.iter().enumerate().filter(|(_, flow)| flow.config == config);
        of_config.min_by_key(|(_, flow)| flow.used).map(|(index, _)| index)
    }

    /// The flow for a new conversation, in which a packet is sent now. `open` opens another one
    /// where it needs one of its own; where that fails it shares one, if there is any for it.
    ///
    /// # Errors
    /// That of `open`.
    pub fn flow_for<E>(
        &mut self,
        config: FlowConfig,
        now: Timestamp,
        open: impl FnOnce(FlowConfig) -> Result<(), E>,
    ) -> Result<FlowIndex, E> {
        if let Some(flow) = self.choose(config, now) {
            self.on_sent(flow, now);
            return Ok(flow);
        }
        match open(config) {
            Ok(()) => Ok(self.add(config, now)),
            Err(error) => {
                let flow = self.quietest(config).ok_or(error)?;
                self.on_sent(flow, now);
                Ok(flow)
            }
        }
    }

    /// There is another flow.
    fn add(&mut self, config: FlowConfig, now: Timestamp) -> FlowIndex {
        self.flows.push(Pooled { config, used: now });
        self.flows.len() - 1
    }

    /// A packet is sent in a flow.
    pub fn on_sent(&mut self, flow: FlowIndex, now: Timestamp) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.used = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::FlowMode;

    fn config(mode: FlowMode) -> FlowConfig {
        FlowConfig::of(mode)
    }

    fn ms(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn a_conversation_has_a_flow_of_its_own_until_it_is_quiet() {
        let mut pool = FlowPool::new(2);
        let aggregate = config(FlowMode::Aggregate);
        assert_eq!(pool.choose(aggregate, ms(0)), None);
        assert_eq!(pool.add(aggregate, ms(0)), 0);
        assert_eq!(pool.choose(aggregate, ms(1_999)), None);
        assert_eq!(pool.choose(aggregate, ms(2_000)), Some(0));
        pool.on_sent(0, ms(2_000));
        assert_eq!(pool.choose(aggregate, ms(3_999)), None);
    }

    #[test]
    fn a_full_pool_gives_the_flow_that_was_quiet_for_longest() {
        let mut pool = FlowPool::new(2);
        let aggregate = config(FlowMode::Aggregate);
        for at in 0..2 {
            pool.add(aggregate, ms(at));
        }
        assert_eq!(pool.choose(aggregate, ms(2)), Some(0));
        pool.on_sent(0, ms(2));
        assert_eq!(pool.choose(aggregate, ms(3)), Some(1));
    }

    #[test]
    fn where_no_flow_can_be_opened_one_is_shared() {
        let mut pool = FlowPool::new(8);
        let aggregate = config(FlowMode::Aggregate);
        let refuse = |_| Err("no more");
        let allow = |_| Ok::<_, &str>(());
        assert_eq!(pool.flow_for(aggregate, ms(0), refuse), Err("no more"));
        assert_eq!(pool.flow_for(aggregate, ms(0), allow), Ok(0));
        assert_eq!(pool.flow_for(aggregate, ms(1), refuse), Ok(0));
        assert_eq!(pool.flow_for(aggregate, ms(2), allow), Ok(1));
    }

    #[test]
    fn what_is_not_put_in_order_shares_a_flow() {
        let mut pool = FlowPool::new(8);
        let redundant = config(FlowMode::Redundant);
        pool.add(config(FlowMode::Aggregate), ms(0));
        assert_eq!(pool.choose(redundant, ms(0)), None);
        let flow = pool.add(redundant, ms(0));
        assert_eq!(pool.choose(redundant, ms(0)), Some(flow));
    }

    /// Whatever its mode puts in order otherwise.
    #[test]
    fn a_flow_that_says_how_long_order_is_waited_for_is_taken_at_its_word() {
        for (mode, wait, shares) in
            [(FlowMode::Aggregate, Duration::ZERO, true), (FlowMode::Redundant, QUIET, false)]
        {
            let mut pool = FlowPool::new(8);
            let config = FlowConfig { resequence: Some(wait), ..config(mode) };
            let flow = pool.add(config, ms(0));
            assert_eq!(pool.choose(config, ms(0)), shares.then_some(flow), "{mode}");
        }
    }
}

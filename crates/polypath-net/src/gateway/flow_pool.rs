//! The flows of a gateway, and which of them is free.

use std::io;
use std::time::Duration;

use polypath_bond::FlowConfig;
use polypath_units::Timestamp;

/// A flow in which nothing was sent for so long has no holes any more that the receiver waits for:
/// it serves the next conversation.
const QUIET: Duration = Duration::from_secs(1);

/// Which flow, counted in the order in which both ends come to know them.
pub(super) type FlowIndex = usize;

/// The flows that an edge has opened for packets.
#[derive(Debug)]
pub(super) struct FlowPool {
    flows: Vec<Pooled>,
    most: usize,
}

#[derive(Debug)]
struct Pooled {
    config: FlowConfig,
    /// When a packet was last sent in it.
    used: Timestamp,
}

impl FlowPool {
    /// A pool that may grow to so many flows of each kind that is put in order.
    pub(super) fn new(most: usize) -> Self {
        Self { flows: Vec::new(), most }
    }

    /// The flow for a new conversation: one that is quiet; `None` if another is to be opened. When
    /// there are as many as there may be, the one that was quiet for longest. Conversations whose
    /// packets are not put in order share one.
    fn choose(&self, config: FlowConfig, now: Timestamp) -> Option<FlowIndex> {
        let quietest = self.quietest(config)?;
        let is_free = !is_ordered(config) || now.since(self.flows[quietest].used) >= QUIET;
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
    pub(super) fn flow_for(
        &mut self,
        config: FlowConfig,
        now: Timestamp,
        open: impl FnOnce(FlowConfig) -> io::Result<()>,
    ) -> io::Result<FlowIndex> {
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
    pub(super) fn on_sent(&mut self, flow: FlowIndex, now: Timestamp) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.used = now;
        }
    }
}

/// Whether the receiver puts datagrams in order.
fn is_ordered(config: FlowConfig) -> bool {
    match config.resequence {
        Some(longest) => !longest.is_zero(),
        None => config.mode.spreads(),
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
        assert_eq!(pool.choose(aggregate, ms(999)), None);
        assert_eq!(pool.choose(aggregate, ms(1_000)), Some(0));
        pool.on_sent(0, ms(1_000));
        assert_eq!(pool.choose(aggregate, ms(1_001)), None);
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
        let refuse = |_| Err(io::ErrorKind::QuotaExceeded.into());
        assert!(pool.flow_for(aggregate, ms(0), refuse).is_err());
        assert_eq!(pool.flow_for(aggregate, ms(0), |_| Ok(())).unwrap(), 0);
        assert_eq!(pool.flow_for(aggregate, ms(1), refuse).unwrap(), 0);
        assert_eq!(pool.flow_for(aggregate, ms(2), |_| Ok(())).unwrap(), 1);
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
}

//! A queue that is not the flow's own: it stands although the window has followed it.
//!
//! The RTT that a flow explains itself is the propagation time, or what its window takes to drain
//! if that is longer.

/// RTTs above this many times what the window explains show a queue that is not ours: others fill
/// it, or the path has become much longer.
pub(super) const FOREIGN_RTTS: f64 = 1.5;

/// Rounds of such a queue after which the propagation time is measured anew: more than the two in
/// which bandwidth and window follow a queue that is ours.
const FOREIGN_ROUNDS: u32 = 6;

/// RTTs above this many times what the window explains show that not all of the queue is ours: a
/// path that became a little longer takes less in each round. What is less than a tenth is left to
/// the measurement that comes every ten seconds.
pub(super) const EXCESS_RTTS: f64 = 1.1;

/// Rounds of that after which the propagation time is measured anew. With 10 or 12, walks and
/// trains lose 1 % (docs/algorithms/congestion/polypath.md, ablation).
const EXCESS_ROUNDS: u32 = 20;

/// For how many rounds in a row the queue has not been the flow's own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ForeignQueue {
    foreign_rounds: u32,
    excess_rounds: u32,
}

impl ForeignQueue {
    /// A round ended: whether all of its RTTs were above the limit of a foreign queue, and above
    /// that of an excessive one.
    pub(super) fn on_round(&mut self, foreign: bool, excess: bool) {
        let counted = |rounds: u32, another| if another { rounds.saturating_add(1) } else { 0 };
        self.foreign_rounds = counted(self.foreign_rounds, foreign);
        self.excess_rounds = counted(self.excess_rounds, excess);
    }

    /// Whether it has stood for too long, or excessively, to be the flow's own.
    pub(super) const fn stands(&self) -> bool {
        self.foreign_rounds >= FOREIGN_ROUNDS || self.excess_rounds >= EXCESS_ROUNDS
    }
}

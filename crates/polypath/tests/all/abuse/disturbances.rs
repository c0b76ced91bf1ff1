//! What may break a transfer, and whether it happened while one went on.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Something for which a transfer may have to be repeated. That one path is silent is not among
/// them, nor are strangers and clients that stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Disturbance {
    HubKilled,
    EdgeKilled,
    SenderKilled,
    DiskFull,
    /// Both paths are silent now and then, for much less than the idle time-out: no transfer breaks
    /// for that, but a sender may find no path that works when it begins.
    BothPathsFlap,
    /// Both paths are silent for longer than the idle time-out.
    Outage,
}

/// How often something has begun, and whether it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    begun: u64,
    goes_on: bool,
}

/// What has happened until a moment.
#[derive(Clone, Debug, Default)]
pub(super) struct History(BTreeMap<Disturbance, State>);

/// What happens. Without a clock: it only counts what begins.
#[derive(Debug, Default)]
pub(super) struct Disturbances(Mutex<History>);

impl Disturbances {
    /// To be told before it happens.
    pub(super) fn begin(&self, what: Disturbance) {
        self.change(what, |state| State { begun: state.begun + 1, goes_on: true });
    }

    /// To be told when transfers that begin now must succeed.
    pub(super) fn end(&self, what: Disturbance) {
        self.change(what, |state| State { goes_on: false, ..state });
    }

    fn change(&self, what: Disturbance, change: impl FnOnce(State) -> State) {
        let mut history = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = history.0.entry(what).or_default();
        *state = change(*state);
    }

    pub(super) fn history(&self) -> History {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl History {
    /// How often it has happened.
    pub(super) fn count(&self, what: Disturbance) -> u64 {
        self.state(what).begun
    }

    /// The first of these that went on at the time of this, or has begun since.
    pub(super) fn cause(&self, now: &Self, of: &[Disturbance]) -> Option<Disturbance> {
        let happened = |what: Disturbance| {
            self.state(what).goes_on || now.state(what).begun > self.state(what).begun
        };
        of.iter().copied().find(|&what| happened(what))
    }

    fn state(&self, what: Disturbance) -> State {
        self.0.get(&what).copied().unwrap_or_default()
    }
}

#[test]
fn a_cause_is_what_went_on_or_began_meanwhile() {
    use Disturbance::{DiskFull, HubKilled, Outage};
    let disturbances = Disturbances::default();
    disturbances.begin(HubKilled);
    let during = disturbances.history();
    disturbances.end(HubKilled);
    let behind = disturbances.history();
    let cause = |before: &History| before.cause(&disturbances.history(), &[HubKilled, DiskFull]);
    assert_eq!((cause(&during), cause(&behind)), (Some(HubKilled), None));
    disturbances.begin(Outage);
    assert_eq!(cause(&behind), None, "it is none of these");
    disturbances.begin(DiskFull);
    disturbances.end(DiskFull);
    assert_eq!(cause(&behind), Some(DiskFull));
}

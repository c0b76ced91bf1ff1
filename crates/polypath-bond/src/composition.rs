//! What a bond is composed of.

use polypath_core::congestion::{CongestionConfig, InitialWindow};
use polypath_core::failure::FailureKind;
use polypath_core::registry::{Configured, Factory};
use polypath_core::scheduler::{Scheduler, SchedulerKind};
use polypath_units::Bandwidth;

/// What a path may send before anything was acknowledged (docs/decisions/0022-initial-window.md).
const INITIAL_WINDOW: InitialWindow =
    InitialWindow::Rate { rate: Bandwidth::from_bits_per_sec(10_000_000), most: 32 };

/// The algorithms of one end of a multipath connection, and the switches between them. The defaults
/// are the best general choice that we measured (docs/decisions/0006-defaults.md).
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// Congestion control and slow start of the paths.
    pub congestion: CongestionConfig,
    /// Which path the next segment takes.
    pub scheduler: Configured<SchedulerKind>,
    /// A scheduler that is not in the registry, in place of `scheduler`.
    pub own_scheduler: Option<Factory<dyn Scheduler>>,
    /// Whether the scheduler is shown only the paths that the receive buffer has room for
    /// ([`polypath_core::scheduler::BlockingProtection`]).
    pub blocking_protection: bool,
    /// How a dead path is found.
    pub failure: Configured<FailureKind>,
    /// Whether an idle fast path sends again, while the peer's window blocks new data, what it
    /// would deliver earlier than the path that carries it (docs/decisions/0005-late-copies.md).
    /// The copies at the end of the data are made in any case.
    pub opportunistic_retransmission: bool,
    /// Whether the slower path that carries the oldest data then has its congestion window halved,
    /// once in an RTT of the fast one ([`polypath_core::congestion::Congestion::penalise_slower`]).
    pub penalisation: bool,
}

impl Default for Composition {
    fn default() -> Self {
        Self {
            congestion: CongestionConfig {
                initial_window: INITIAL_WINDOW,
                ..CongestionConfig::default()
            },
            scheduler: SchedulerKind::Edpf.into(),
            own_scheduler: None,
            blocking_protection: false,
            failure: FailureKind::Fpf.into(),
            opportunistic_retransmission: true,
            penalisation: false,
        }
    }
}

impl Composition {
    /// A new scheduler.
    pub fn build_scheduler(&self) -> Box<dyn Scheduler> {
        self.scheduler.build_or(self.own_scheduler.as_ref(), self.blocking_protection)
    }
}

//! A congestion control of the registry that notes what it is told.

use polypath_core::congestion::{
    Ack, CongestionAvoidance, CongestionKind, Loss, LostPacket, Subflows,
};
use polypath_core::registry::Factory;
use polypath_units::PathId;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// What it was told: that of the kernel's callbacks which makes a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told {
    Ack { ack: Ack, srtt: Option<Duration>, min_rtt: Option<Duration>, recovered: bool },
    Loss(Loss),
    Timeout(Loss),
    SpuriousLoss,
    IdleRestart,
}

/// What all instances of a connection were told since it was last taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Told>>>);

impl Log {
    pub(crate) fn take(&self) -> Vec<Told> {
        core::mem::take(&mut self.told())
    }

    fn told(&self) -> MutexGuard<'_, Vec<Told>> {
        self.0.lock().expect("no test has panicked with it")
    }

    fn push(&self, told: Told) {
        self.told().push(told);
    }

    fn recovered(&self) {
        if let Some(Told::Ack { recovered, .. }) = self.told().last_mut() {
            *recovered = true;
        }
    }

    /// Makes instances of `kind` that note in this log.
    pub(crate) fn factory(&self, kind: CongestionKind) -> Factory<dyn CongestionAvoidance> {
        let log = self.clone();
        Factory::new(move || -> Box<dyn CongestionAvoidance> {
            Box::new(Tap { inner: kind.build(0), log: log.clone() })
        })
    }
}

#[derive(Debug)]
struct Tap {
    inner: Box<dyn CongestionAvoidance>,
    log: Log,
}

impl CongestionAvoidance for Tap {
    fn on_delivery(&mut self, id: PathId, ack: &Ack, subflows: &Subflows) {
        let (srtt, min_rtt) = subflows.get(id).map_or((None, None), |s| (s.srtt, s.min_rtt));
        self.log.push(Told::Ack { ack: *ack, srtt, min_rtt, recovered: false });
        self.inner.on_delivery(id, ack, subflows);
    }

    fn on_recovery_exit(&mut self, id: PathId, ack: &Ack, subflows: &mut Subflows) {
        self.log.recovered();
        self.inner.on_recovery_exit(id, ack, subflows);
    }

    fn on_round(&mut self, id: PathId, ack: &Ack, subflows: &mut Subflows) {
        self.inner.on_round(id, ack, subflows);
    }

    fn on_ack(&mut self, id: PathId, ack: &Ack, subflows: &mut Subflows) {
        self.inner.on_ack(id, ack, subflows);
    }

    fn on_slow_start_exit(&mut self, id: PathId, ack: &Ack, subflows: &mut Subflows) {
        self.inner.on_slow_start_exit(id, ack, subflows);
    }

    fn on_packet_lost(&mut self, id: PathId, lost: &LostPacket, subflows: &Subflows) {
        self.inner.on_packet_lost(id, lost, subflows);
    }

    fn on_loss(&mut self, id: PathId, loss: &Loss, subflows: &mut Subflows) {
        self.log.push(Told::Loss(*loss));
        self.inner.on_loss(id, loss, subflows);
    }

    fn on_timeout(&mut self, id: PathId, loss: &Loss, subflows: &mut Subflows) {
        self.log.push(Told::Timeout(*loss));
        self.inner.on_timeout(id, loss, subflows);
    }

    fn on_spurious_loss(&mut self, id: PathId, subflows: &mut Subflows) {
        self.log.push(Told::SpuriousLoss);
        self.inner.on_spurious_loss(id, subflows);
    }

    fn on_idle_restart(&mut self, id: PathId, subflows: &mut Subflows) {
        self.log.push(Told::IdleRestart);
        self.inner.on_idle_restart(id, subflows);
    }

    fn on_remove(&mut self, id: PathId) {
        self.inner.on_remove(id);
    }

    fn is_coupled(&self) -> bool {
        self.inner.is_coupled()
    }

    fn min_window_segments(&self) -> f64 {
        self.inner.min_window_segments()
    }
}

//! Congestion avoidance.

use super::events;
use super::subflow::Shown;
use super::{Instance, Raised};
use polypath_core::congestion::{Ack, CongestionAvoidance, Loss, LostPacket, Reno, Subflows};
use polypath_core::registry::Factory;
use polypath_units::{Bandwidth, PathId, Timestamp};
use pyo3::prelude::*;

/// Makes congestion avoidance of what `make` returns: an object and the names of what it overrides.
pub(crate) fn avoidance(make: Py<PyAny>, raised: Raised) -> Factory<dyn CongestionAvoidance> {
    let build = move || -> Box<dyn CongestionAvoidance> {
        Box::new(Own::new(Instance::new(&make, &raised)))
    };
    Factory::new(build)
}

/// What is not overridden is as in Reno.
#[derive(Debug)]
struct Own {
    instance: Instance,
    coupled: bool,
    owns_start_up: bool,
    min_window_segments: f64,
    now: Timestamp,
}

impl Own {
    fn new(instance: Instance) -> Self {
        let read = instance.call(Timestamp::ZERO, |object| {
            Ok((
                object.getattr("coupled")?.extract()?,
                object.getattr("owns_start_up")?.extract()?,
                object.getattr("min_window_segments")?.extract()?,
            ))
        });
        let (coupled, owns_start_up, min_window_segments) = read.unwrap_or((false, false, 2.0));
        Self { instance, coupled, owns_start_up, min_window_segments, now: Timestamp::ZERO }
    }

    /// Calls a method of an event, and takes over the windows.
    fn tell<'a, E>(
        &mut self,
        (method, at): (&str, Timestamp),
        subflow: PathId,
        event: &'a E,
        subflows: &mut Subflows,
    ) where
        &'a E: Into<Event>,
    {
        self.now = at;
        self.instance.call(at, |object| {
            let python = object.py();
            let Some(shown) = Shown::new(python, subflow, subflows)? else { return Ok(()) };
            let arguments = (shown.about.clone(), event.into().shown(python)?, shown.all.clone());
            object.call_method1(method, arguments)?;
            shown.write_back(subflows);
            Ok(())
        });
    }

    /// The same of events that may not change anything.
    fn show<'a, E>(
        &mut self,
        method: (&str, Timestamp),
        subflow: PathId,
        event: &'a E,
        subflows: &Subflows,
    ) where
        &'a E: Into<Event>,
    {
        self.tell(method, subflow, event, &mut subflows.clone());
    }

    fn ack(&mut self, method: &str, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        if self.instance.overrides(method) {
            self.tell((method, ack.now), subflow, ack, subflows);
        }
    }
}

enum Event {
    Ack(events::Ack),
    Loss(events::Loss),
    Lost(events::LostPacket),
}

impl Event {
    fn shown(self, python: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Self::Ack(ack) => Bound::new(python, ack)?.into_any(),
            Self::Loss(loss) => Bound::new(python, loss)?.into_any(),
            Self::Lost(lost) => Bound::new(python, lost)?.into_any(),
        })
    }
}

impl From<&Ack> for Event {
    fn from(ack: &Ack) -> Self {
        Self::Ack(events::Ack(*ack))
    }
}

impl From<&Loss> for Event {
    fn from(loss: &Loss) -> Self {
        Self::Loss(events::Loss(*loss))
    }
}

impl From<&LostPacket> for Event {
    fn from(lost: &LostPacket) -> Self {
        Self::Lost(events::LostPacket(*lost))
    }
}

impl CongestionAvoidance for Own {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        self.tell(("on_ack", ack.now), subflow, ack, subflows);
    }

    fn on_packet_lost(&mut self, subflow: PathId, lost: &LostPacket, subflows: &Subflows) {
        if self.instance.overrides("on_packet_lost") {
            self.show(("on_packet_lost", lost.now), subflow, lost, subflows);
        }
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        match self.instance.overrides("on_loss") {
            true => self.tell(("on_loss", loss.now), subflow, loss, subflows),
            false => Reno.on_loss(subflow, loss, subflows),
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        match self.instance.overrides("on_timeout") {
            true => self.tell(("on_timeout", loss.now), subflow, loss, subflows),
            false => Reno.on_timeout(subflow, loss, subflows),
        }
    }

    fn on_delivery(&mut self, subflow: PathId, ack: &Ack, subflows: &Subflows) {
        if self.instance.overrides("on_delivery") {
            self.show(("on_delivery", ack.now), subflow, ack, subflows);
        }
    }

    fn on_round(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        self.ack("on_round", subflow, ack, subflows);
    }

    fn on_recovery_exit(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        self.ack("on_recovery_exit", subflow, ack, subflows);
    }

    fn on_slow_start_exit(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        self.ack("on_slow_start_exit", subflow, ack, subflows);
    }

    fn on_remove(&mut self, subflow: PathId) {
        if self.instance.overrides("on_remove") {
            self.instance.call(self.now, |object| {
                object.call_method1("on_remove", (subflow.get(),)).map(drop)
            });
        }
    }

    fn pacing_rate(&self, subflow: PathId) -> Option<Bandwidth> {
        if !self.instance.overrides("pacing_rate") {
            return None;
        }
        let rate: Option<f64> = self.instance.call(self.now, |object| {
            object.call_method1("pacing_rate", (subflow.get(),))?.extract()
        })?;
        rate.filter(|rate| rate.is_finite())
            .map(|rate| Bandwidth::from_bytes_per_sec(rate.max(0.0)))
    }

    fn owns_start_up(&self) -> bool {
        self.owns_start_up
    }

    fn is_coupled(&self) -> bool {
        self.coupled
    }

    fn min_window_segments(&self) -> f64 {
        self.min_window_segments
    }
}

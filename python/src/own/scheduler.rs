//! Schedulers.

use super::pick::{Pick, seconds};
use super::views::{Delivery, PathView, QueueView};
use super::{Instance, Raised};
use polypath_core::registry::Factory;
use polypath_core::scheduler::{self as core, Candidates, Scheduler};
use polypath_units::{PathId, Timestamp};
use pyo3::prelude::*;

/// Makes schedulers of what `make` returns: an object and the names of what it overrides.
pub(crate) fn scheduler(make: Py<PyAny>, raised: Raised) -> Factory<dyn Scheduler> {
    let build = move || -> Box<dyn Scheduler> {
        Box::new(Own { instance: Instance::new(&make, &raised), now: Timestamp::ZERO })
    };
    Factory::new(build)
}

#[derive(Debug)]
struct Own {
    instance: Instance,
    /// When it was last asked.
    now: Timestamp,
}

impl Scheduler for Own {
    fn pick(
        &mut self,
        paths: &[core::PathView],
        queue: &core::QueueView,
        now: Timestamp,
    ) -> core::Pick {
        self.now = now;
        let candidates = Candidates::new(paths, queue, now);
        let picked = self.instance.call(now, |object| {
            let views = PathView::all(paths, candidates);
            let queued = QueueView::of(queue, candidates, now);
            let answer = object.call_method1("pick", (views, queued, seconds(now)))?;
            answer.cast::<Pick>()?.get().checked(paths, queue, now)
        });
        picked.unwrap_or(core::Pick::Wait(Timestamp::MAX))
    }

    fn on_delivered(&mut self, delivery: &core::Delivery, now: Timestamp) {
        if self.instance.overrides("on_delivered") {
            let delivery = Delivery::from(delivery);
            self.instance.call(now, |object| {
                object.call_method1("on_delivered", (delivery, seconds(now))).map(drop)
            });
        }
    }

    fn on_remove(&mut self, path: PathId) {
        if self.instance.overrides("on_remove") {
            self.instance
                .call(self.now, |object| object.call_method1("on_remove", (path.get(),)).map(drop));
        }
    }
}

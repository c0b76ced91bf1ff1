//! What a gateway has set on its host, and for how long it is still there.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use polypath_gateway::host::{Gateway, HostError};
use polypath_gateway::plan::Plan;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::Interrupted;

/// How often it is looked whether what was set is still there.
const CHECK: Duration = Duration::from_secs(10);

/// Where it is written what parameters of the kernel were before, for `polypath gateway clean`.
pub(crate) fn record_directory() -> PathBuf {
    PathBuf::from("/run/polypath/gateway")
}

/// A plan on the host, once there is one. It is removed with this.
#[derive(Debug)]
pub(super) struct Installed {
    gateway: Option<Gateway>,
    checks: Interval,
    /// Whether it is to be looked at.
    due: bool,
}

impl Installed {
    /// Nothing yet. Must be called within a tokio runtime.
    pub(super) fn nothing() -> Self {
        let mut checks = interval_at(Instant::now() + CHECK, CHECK);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { gateway: None, checks, due: false }
    }

    /// Whether a plan was set at any time.
    pub(super) fn is_set(&self) -> bool {
        self.gateway.is_some()
    }

    /// Sets a plan, in place of the one that is there.
    pub(super) async fn put(&mut self, plan: Plan) -> Result<(), HostError> {
        match &mut self.gateway {
            Some(gateway) => gateway.replace(plan).await,
            None => {
                self.gateway = Some(Gateway::set(plan, &record_directory()).await?);
                Ok(())
            }
        }
    }

    /// Ends when something of what was set is missing. Cancel-safe: called again and again, it
    /// looks as often.
    pub(super) async fn watch(&mut self) -> Result<Infallible, Interrupted> {
        loop {
            if !self.due {
                self.checks.tick().await;
                self.due = true;
            }
            if let Some(gateway) = &self.gateway
                && !gateway.is_whole().await?
            {
                return Err(Interrupted::Damaged);
            }
            self.due = false;
        }
    }

    /// Leaves the plan where it is.
    pub(super) fn leave(self) {
        if let Some(gateway) = self.gateway {
            gateway.leave();
        }
    }
}

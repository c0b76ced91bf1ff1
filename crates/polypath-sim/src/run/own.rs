//! Algorithms that the caller brings, for connections of a plan.

use super::plan::{Plan, RunError, Transporter};
use super::settings::Streams;
use crate::scenario::Transport;
use polypath_core::congestion::{CongestionAvoidance, CongestionConfig};
use polypath_core::registry::Factory;
use polypath_core::scheduler::Scheduler;
use std::sync::Arc;

impl Plan {
    /// Lets a connection of the scenario use a scheduler that is not in the registry, or all that
    /// have one if none is named.
    ///
    /// # Errors
    /// If there is no such connection, or it has no scheduler.
    pub fn use_scheduler(
        &mut self,
        connection: Option<&str>,
        scheduler: &Factory<dyn Scheduler>,
    ) -> Result<(), RunError> {
        self.change(connection, "it has no scheduler", |streams, _| {
            let own = match streams {
                Streams::QuicBond(bond) | Streams::LightBond(bond) => {
                    &mut bond.composition.own_scheduler
                }
                Streams::Mptcp(mptcp) => &mut mptcp.composition.own_scheduler,
                Streams::Tunnel { own_scheduler, .. } => own_scheduler,
                Streams::Tcp(_) | Streams::Quic(_) => return false,
            };
            *own = Some(scheduler.clone());
            true
        })
    }

    /// The same of congestion avoidance. Multipath TCP couples its subflows if the avoidance is
    /// made for it and the scenario does not say otherwise, as with those of the registry.
    ///
    /// # Errors
    /// If there is no such connection, or it has no congestion control.
    pub fn use_avoidance(
        &mut self,
        connection: Option<&str>,
        avoidance: &Factory<dyn CongestionAvoidance>,
    ) -> Result<(), RunError> {
        self.change(connection, "it has no congestion control", |streams, transport| {
            let congestion = congestion_of(streams);
            if let Transport::Mptcp(mptcp) = transport {
                congestion.coupled =
                    mptcp.composition.coupled.unwrap_or_else(|| avoidance.build().is_coupled());
            }
            congestion.own_avoidance = Some(avoidance.clone());
            true
        })
    }

    /// Changes how connections transport; `change` tells whether it could.
    fn change(
        &mut self,
        connection: Option<&str>,
        problem: &'static str,
        change: impl Fn(&mut Streams, &Transport) -> bool,
    ) -> Result<(), RunError> {
        let (specs, planned) = self.parts_mut();
        let mut changed = false;
        for planned in planned {
            let spec = &specs[planned.spec];
            if connection.is_some_and(|name| name != spec.name) {
                continue;
            }
            if let Transporter::Streams(streams) = &mut planned.transporter {
                changed |= change(Arc::make_mut(streams), &spec.transport);
            }
        }
        match (changed, connection) {
            (true, _) => Ok(()),
            (false, Some(name)) if specs.iter().all(|spec| spec.name != name) => {
                let names = specs.iter().map(|spec| spec.name.clone()).collect();
                Err(RunError::NoConnection { given: name.to_owned(), names })
            }
            (false, Some(name)) => Err(RunError::Setting { connection: name.to_owned(), problem }),
            (false, None) => {
                let names: Vec<_> = specs.iter().map(|spec| &*spec.name).collect();
                Err(RunError::Setting { connection: names.join(", "), problem })
            }
        }
    }
}

fn congestion_of(streams: &mut Streams) -> &mut CongestionConfig {
    match streams {
        Streams::QuicBond(bond) | Streams::LightBond(bond) => &mut bond.composition.congestion,
        Streams::Mptcp(mptcp) => &mut mptcp.composition.congestion,
        Streams::Quic(quic) => &mut quic.congestion,
        Streams::Tcp(tcp) | Streams::Tunnel { tcp, .. } => &mut tcp.congestion,
    }
}

//! One bond of an edge, from its first path to its end.

use crate::driver::{BondEvent, BondStream, Driver};
use crate::edge::AddressedFlow;
use crate::exit::{EdgeInbox, Exit, ServeError, Served, refuse};
use crate::gateway::{GatewayFailed, Grant, HubGateway};
use crate::limit::{Client, Notices};
use crate::mptcp::HubMptcp;
use crate::tunnel::{Networks, RefusalKind, Request};
use polypath_bond::identity::PublicKey;
use polypath_bond::{BondKey, FlowId};
use std::sync::Arc;
use tokio::task::JoinSet;
use tracing::Instrument as _;

/// What an edge is served with.
#[derive(Clone)]
pub(super) struct Services {
    pub(super) exit: Exit,
    /// Where its files go; `None` takes none.
    pub(super) inbox: Option<EdgeInbox>,
    /// What carries its packets.
    pub(super) gateway: Option<EdgeGateway>,
    /// What takes its connections beside the bond.
    pub(super) mptcp: Option<EdgeMptcp>,
}

/// A gateway for one edge.
#[derive(Clone)]
pub(super) struct EdgeGateway {
    pub(super) gateway: HubGateway,
    pub(super) edge: PublicKey,
    pub(super) networks: Networks,
}

/// Connections beside the bond, of one edge.
#[derive(Clone)]
pub(super) struct EdgeMptcp {
    pub(super) hub: HubMptcp,
    pub(super) edge: PublicKey,
}

/// Serves the streams that the edge opens until the bond ends, then frees all it held.
pub(super) async fn bond(driver: Driver, bond: BondKey, services: Services) {
    let Some(mut events) = driver.bond_events(bond) else { return };
    let edge = services.exit.client().clone();
    let name = |path| driver.path_name(bond, path);
    let failures = Arc::new(Notices::default());
    let mut streams = JoinSet::new();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            Some(_) = streams.join_next() => continue,
        };
        match event {
            Some(BondEvent::StreamOpened(id)) => {
                let stream = driver.stream(bond, id);
                let serving = serve(driver.clone(), bond, stream, services.clone());
                let (edge, failures) = (edge.clone(), Arc::clone(&failures));
                // Whatever is logged of the stream, by files too, says where it comes from.
                let span = tracing::warn_span!("edge", from = driver.remotes(bond));
                let serving = async move {
                    match serving.await {
                        Ok(served) => tracing::debug!(%bond, %id, ?served, "stream done"),
                        Err(error) => tell(&edge, &failures, &error),
                    }
                };
                streams.spawn(serving.instrument(span));
            }
            Some(BondEvent::PathFailed { path, cause }) => {
                tracing::info!(path = name(path), %bond, %edge, %cause, "failed");
            }
            Some(BondEvent::PathRecovered(path)) => {
                tracing::info!(path = name(path), %bond, %edge, "carries data again");
            }
            Some(BondEvent::StreamsUnread(count)) => tracing::warn!(
                %bond,
                count,
                "uploads were reset: more data than may waits for targets that do not read it"
            ),
            // Flows are taken up by the requests that name them.
            Some(BondEvent::FlowOpened(_)) => {}
            Some(BondEvent::Ended(how)) => {
                tracing::info!(%bond, %edge, ?how, "ended");
                break;
            }
            None => break,
        }
    }
    // What has arrived whole is still carried out; what has not ends with an error by itself, and a
    // target that keeps its side open is left after a while.
    while streams.join_next().await.is_some() {}
    driver.remove_bond(bond);
}

async fn serve(
    driver: Driver,
    bond: BondKey,
    mut stream: BondStream,
    services: Services,
) -> Result<Served, ServeError> {
    let Services { exit, inbox, gateway, mptcp } = services;
    let flows = |number| Some(AddressedFlow::new(driver.expect_flow(bond, FlowId(number))?));
    match (exit.request(&mut stream).await?, gateway, mptcp) {
        (Request::Mptcp { tls }, _, Some(EdgeMptcp { hub, edge })) => {
            hub.keep_session(stream, exit, edge, tls).await
        }
        (Request::Gateway, Some(EdgeGateway { gateway, edge, networks }), _) => {
            match gateway.lease(edge) {
                Ok(lease) => {
                    let grant = Grant { lease, networks };
                    let served = gateway.serve(stream, grant, (driver, bond), exit).await;
                    served.map(|()| Served::Gateway).map_err(ServeError::Gateway)
                }
                Err(error) => Err(refuse(&mut stream, RefusalKind::LimitReached.with(error)).await),
            }
        }
        (request, ..) => {
            exit.serve(stream, request, flows, inbox.as_ref(), driver.ended(bond)).await
        }
    }
}

/// What the operator should know of a request that was not carried out: limits, forbidden targets
/// and malformed requests, each kind once a minute. The inbox tells of files. That a target cannot
/// be reached, or goes away, is for the edge to know.
pub(crate) fn tell(edge: &Client, failures: &Notices<&'static str>, error: &ServeError) {
    let kind = match error {
        ServeError::Refused(refusal) => match refusal.kind {
            RefusalKind::LimitReached => "a request was refused because of a limit",
            RefusalKind::Policy => "a target was refused",
            RefusalKind::BadRequest => "a request makes no sense, or asks for what is not offered",
            _ => return tracing::debug!(%edge, %error, "stream failed"),
        },
        ServeError::NamedFlow(_) => "an association named a flow that it cannot have",
        ServeError::Gateway(GatewayFailed::Flow(_)) => "a gateway named a flow that it cannot have",
        ServeError::Request(_) | ServeError::TimedOut(_) => "a request did not come whole",
        _ => return tracing::debug!(%edge, %error, "stream failed"),
    };
    match failures.happens(kind) {
        Some(times) => tracing::warn!(%edge, %error, times, "{kind}"),
        None => tracing::debug!(%edge, %error, "{kind}"),
    }
}

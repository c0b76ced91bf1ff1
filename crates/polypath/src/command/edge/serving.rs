//! A running edge.

use std::future::pending;

use anyhow::{Context, anyhow};
use polypath_net::conversations::{Conversations, Wanted};
use polypath_net::edge::{Edge, EdgeOpener, Surroundings};
use polypath_net::gateway::EdgeGateway;
use polypath_net::proxy::{ProxyOptions, Steering};
use tokio::signal::unix::{Signal, SignalKind};

use super::super::surfaces::{Serving, Surfaces};
use super::EdgeOptions;
use crate::config::SteeringOptions;
use crate::control::{ControlSocket, Refusal, Role, Status};
use crate::gateway::{EdgeGatewayOptions, EdgeSide};
use crate::metrics::{MetricsListener, Passed};
use crate::output;
use crate::quota::Quotas;
use crate::service::{Stop, catch};
use crate::service_manager::ServiceManager;

/// Serves applications until a signal ends it. With a policy in a file, SIGHUP reads that again and
/// does not end it.
pub(super) async fn serve(options: EdgeOptions) -> anyhow::Result<()> {
    let (mut stop, hangup) = match options.steering.file() {
        Some(_) => (Stop::but_hangup()?, Some(catch(SignalKind::hangup())?)),
        None => (Stop::new()?, None),
    };
    let control = ControlSocket::open(options.control.as_deref())?;
    let quotas = Quotas::open(&options.bond.quotas(), &options.quota_file)?;
    let metrics = MetricsListener::bind(options.metrics).await?;
    // Names that have to be resolved may take their time.
    let Some(started) = stop.limit(start(&options, &quotas)).await else { return Ok(()) };
    let (surfaces, edge) = started?;
    output::print(&surfaces.describe()?)?;
    let manager = ServiceManager::of_environment();
    manager.ready();
    let steering = surfaces.steering().clone();
    let mut side = gateway(&options, &edge, surfaces.proxies())?;
    let counts = side.as_ref().map(EdgeSide::counts);
    let mptcp = side.as_ref().and_then(EdgeSide::mptcp_counts);
    let passed = passed(side.as_ref(), steering.clone(), quotas.clone());
    let status = || {
        let status = Status::of(Role::Edge, edge.driver()).with_rules(steering.uses());
        let status = status.with_quotas(quotas.report());
        let status = status.with_gateway(counts.as_ref().map(|counts| counts()));
        status.with_mptcp_transport(mptcp.as_ref().map(|counts| counts()))
    };
    let packets = side.as_ref().map(EdgeSide::gateway);
    let conversations = async |wanted: &Wanted| tell(&steering, packets.as_ref(), wanted).await;
    let gateway = carry(side.as_mut(), edge.opener(), surfaces.proxies().clone());
    let mut serving = surfaces.serve(&edge.opener());
    let ended = tokio::select! {
        error = gateway => Err(error),
        error = fail(&edge, &mut serving) => Err(error),
        ended = control.serve(status, conversations) => ended.context("the control socket"),
        () = manager.watch(edge.driver().clone()) => Ok(()),
        ended = metrics.serve(Role::Edge, edge.driver().clone(), passed, |_| String::new()) => {
            ended.context("metrics")
        }
        () = quotas.keep_counting() => Ok(()),
        () = follow_policy(&options.steering, &steering, hangup) => Ok(()),
        () = stop.wait() => Ok(()),
    };
    manager.stopping();
    // Applications are cut off first; what they had finished is still delivered.
    serving.shutdown().await;
    match (&ended, side) {
        (Ok(()), _) => stop.close(edge.close()).await,
        (Err(_), Some(side)) => side.fail(),
        (Err(_), None) => {}
    }
    quotas.finish();
    ended
}

async fn start(options: &EdgeOptions, quotas: &Quotas) -> anyhow::Result<(Surfaces, Edge)> {
    let surfaces = Surfaces::bind(options).await?;
    let separation = options.gateway.as_ref().map(EdgeGatewayOptions::separation);
    let separation = separation.unwrap_or_default();
    let surroundings = Surroundings { separation, meters: quotas.meters() };
    let edge = options.bond.start_waiting(surroundings).await?;
    Ok((surfaces, edge))
}

/// What metrics say has passed.
fn passed(
    side: Option<&EdgeSide>,
    steering: Steering,
    quotas: Quotas,
) -> impl Fn() -> Passed + use<> {
    let counts = side.map(EdgeSide::counts);
    let mptcp = side.and_then(EdgeSide::mptcp_counts);
    move || Passed {
        gateway: counts.as_ref().map(|counts| counts()),
        mptcp: mptcp.as_ref().map(|counts| counts()),
        rules: steering.uses(),
        quotas: quotas.report(),
    }
}

/// Conversations of clients and, with a gateway, in packets.
async fn tell(
    steering: &Steering,
    gateway: Option<&EdgeGateway>,
    wanted: &Wanted,
) -> Result<Conversations, Refusal> {
    let is_known =
        |name: &String| steering.uses().iter().any(|rule| rule.name.as_ref() == Some(name));
    if let Some(rule) = wanted.rule.clone().filter(|rule| !is_known(rule)) {
        return Err(Refusal::UnknownRule { rule });
    }
    let clients = steering.conversations(wanted).await;
    let packets = match gateway {
        Some(gateway) => gateway.conversations(wanted).await,
        None => Conversations::default(),
    };
    Ok(Conversations::merged(wanted.most, [clients, packets]))
}

/// The gateway, if there is to be one.
fn gateway(
    options: &EdgeOptions,
    edge: &Edge,
    proxies: &ProxyOptions,
) -> anyhow::Result<Option<EdgeSide>> {
    let Some(gateway) = options.gateway.clone() else { return Ok(None) };
    EdgeSide::new(gateway, options.bond.hub_addresses(), edge, proxies).map(Some)
}

/// Runs it until it fails.
async fn carry(
    gateway: Option<&mut EdgeSide>,
    opener: EdgeOpener,
    proxies: ProxyOptions,
) -> anyhow::Error {
    match gateway {
        Some(gateway) => gateway.run(opener, proxies).await.context("the gateway"),
        None => pending().await,
    }
}

/// Reads the policy again at each SIGHUP. One that cannot be read changes nothing.
async fn follow_policy(options: &SteeringOptions, steering: &Steering, hangup: Option<Signal>) {
    let Some(mut hangup) = hangup else { return pending().await };
    // Its stream of signals ends with the runtime alone.
    while hangup.recv().await.is_some() {
        match options.read() {
            Ok(rules) => {
                steering.replace(rules);
                tracing::info!("read the policy again");
            }
            Err(error) => tracing::error!("{error:#}; the policy read before stands"),
        }
    }
}

/// Waits for what makes going on pointless.
async fn fail(edge: &Edge, serving: &mut Serving) -> anyhow::Error {
    tokio::select! {
        error = fail_to_join(edge) => error,
        Some(ended) = serving.join_next() => match ended {
            Ok(Ok(())) => anyhow!("a listener has ended"),
            Ok(Err(error)) => error,
            Err(error) => error.into(),
        },
    }
}

/// Says when the first path has joined; returns only if none ever will, or none any more.
async fn fail_to_join(edge: &Edge) -> anyhow::Error {
    if let Err(error) = edge.joined_in_the_end().await {
        return error.into();
    }
    match output::print("joined\n") {
        Ok(()) => edge.refused().await.into(),
        Err(error) => error.into(),
    }
}

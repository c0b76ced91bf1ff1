//! A running edge.

use anyhow::anyhow;
use polypath_net::edge::Edge;

use super::super::surfaces::{Serving, Surfaces};
use super::EdgeOptions;
use crate::control::{ControlSocket, Role};
use crate::metrics::MetricsListener;
use crate::output;
use crate::service::Stop;

/// Serves applications until a signal ends it.
pub(super) async fn serve(options: EdgeOptions) -> anyhow::Result<()> {
    let mut stop = Stop::new()?;
    let control = ControlSocket::open(options.control.as_deref())?;
    let metrics = MetricsListener::bind(options.metrics).await?;
    // Names that have to be resolved may take their time.
    let Some(started) = stop.limit(start(&options)).await else { return Ok(()) };
    let (surfaces, edge) = started?;
    output::print(&surfaces.describe()?)?;
    let mut serving = surfaces.serve(&edge.opener());
    let ended = tokio::select! {
        error = fail(&edge, &mut serving) => Err(error),
        () = control.serve(Role::Edge, edge.driver().clone()) => Ok(()),
        () = metrics.serve(Role::Edge, edge.driver().clone(), |_| String::new()) => Ok(()),
        () = stop.wait() => Ok(()),
    };
    // Applications are cut off first; what they had finished is still delivered.
    serving.shutdown().await;
    if ended.is_ok() {
        stop.close(edge.close()).await;
    }
    ended
}

async fn start(options: &EdgeOptions) -> anyhow::Result<(Surfaces, Edge)> {
    let surfaces = Surfaces::bind(options).await?;
    Ok((surfaces, options.bond.start_waiting().await?))
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

//! One bond of an edge, from its first path to its end.

use crate::driver::{BondEvent, BondStream, Driver};
use crate::edge::AddressedFlow;
use crate::exit::{EdgeInbox, Exit, FileStore};
use polypath_bond::{BondKey, FlowId};
use tokio::task::JoinSet;

/// Serves the streams that the edge opens until the bond ends, then frees all it held.
pub(super) async fn bond(driver: Driver, bond: BondKey, exit: Exit, inbox: Option<FileStore>) {
    let inbox = inbox.zip(driver.peer(bond)).map(|(inbox, edge)| inbox.of(edge));
    let Some(mut events) = driver.bond_events(bond) else { return };
    let mut streams = JoinSet::new();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            Some(_) = streams.join_next() => continue,
        };
        match event {
            Some(BondEvent::StreamOpened(id)) => {
                let stream = driver.stream(bond, id);
                let served = serve(driver.clone(), bond, stream, exit.clone(), inbox.clone());
                streams.spawn(served);
            }
            Some(BondEvent::PathFailed(path)) => tracing::info!(%bond, %path, "failed"),
            Some(BondEvent::PathRecovered(path)) => {
                tracing::info!(%bond, %path, "carries data again");
            }
            // Flows are taken up by the requests that name them.
            Some(BondEvent::FlowOpened(_)) => {}
            Some(BondEvent::Ended(how)) => {
                tracing::info!(%bond, ?how, "ended");
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
    stream: BondStream,
    exit: Exit,
    inbox: Option<EdgeInbox>,
) {
    let id = stream.id();
    let flows = |number| Some(AddressedFlow::new(driver.expect_flow(bond, FlowId(number))?));
    match exit.serve(stream, flows, inbox.as_ref(), driver.ended(bond)).await {
        Ok(served) => tracing::debug!(%bond, %id, ?served, "stream done"),
        Err(error) => tracing::debug!(%bond, %id, %error, "stream failed"),
    }
}

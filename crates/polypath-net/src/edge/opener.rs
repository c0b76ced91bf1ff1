//! Streams and UDP associations through the hub.

use super::EdgeFlow;
use crate::driver::{BondStream, Driver};
use crate::proxy::{FlowOptions, OpenError, Opener};
use crate::tunnel::handshake::request;
use crate::tunnel::{FileOffer, Request, Target, UdpAssociation};
use polypath_bond::{BondKey, FlowConfig};
use tokio::sync::watch;

/// Opens streams and associations on the edge's present bond.
#[derive(Clone, Debug)]
pub struct EdgeOpener {
    driver: Driver,
    bond: watch::Receiver<BondKey>,
}

impl EdgeOpener {
    pub(super) fn new(driver: Driver, bond: watch::Receiver<BondKey>) -> Self {
        Self { driver, bond }
    }

    async fn open(&self, what: &Request) -> Result<BondStream, OpenError> {
        let bond = *self.bond.borrow();
        let mut stream = self.driver.open_stream(bond).await?;
        request(&mut stream, what).await?;
        Ok(stream)
    }

    /// Opens a stream for a file whose content follows ([`crate::tunnel::send_file`]).
    ///
    /// # Errors
    /// When the hub refuses it or the bond ended.
    pub async fn offer_file(&self, offer: FileOffer) -> Result<BondStream, OpenError> {
        self.open(&Request::File(offer)).await
    }
}

impl Opener for EdgeOpener {
    type Stream = BondStream;
    type Flow = EdgeFlow;

    async fn connect(&self, target: Target) -> Result<BondStream, OpenError> {
        self.open(&Request::Tcp(target)).await
    }

    async fn associate(&self, options: FlowOptions) -> Result<EdgeFlow, OpenError> {
        let bond = *self.bond.borrow();
        let config = FlowConfig { mode: options.mode, resequence: None };
        let flow = self.driver.open_flow(bond, config)?;
        let association = UdpAssociation { flow: flow.id().0, idle_timeout: options.idle_timeout };
        let stream = self.open(&Request::Udp(association)).await?;
        Ok(EdgeFlow::new((self.driver.clone(), bond), (options.mode, flow), stream))
    }
}

//! Streams and UDP associations through the hub.

use super::EdgeFlow;
use super::association::FlowOpener;
use super::numbers::PathNumbers;
use crate::driver::{BondStream, Driver};
use crate::proxy::{FlowOptions, OpenError, Opener, Way};
use crate::tunnel::handshake::request;
use crate::tunnel::{FileOffer, Request, Target, UdpAssociation};
use polypath_bond::BondKey;
use tokio::sync::watch;

/// Opens streams and associations on the edge's present bond.
#[derive(Clone, Debug)]
pub struct EdgeOpener {
    driver: Driver,
    bond: watch::Receiver<BondKey>,
    numbers: PathNumbers,
}

impl EdgeOpener {
    pub(super) fn new(
        driver: Driver,
        bond: watch::Receiver<BondKey>,
        numbers: PathNumbers,
    ) -> Self {
        Self { driver, bond, numbers }
    }

    /// Opens a stream for a file whose content follows ([`crate::tunnel::send_file`]).
    ///
    /// # Errors
    /// When the hub refuses it or the bond ended.
    pub async fn offer_file(&self, offer: FileOffer) -> Result<BondStream, OpenError> {
        let bond = *self.bond.borrow();
        self.ask(bond, &Request::File(offer)).await
    }

    /// Asks the hub to be a gateway, on the present bond: its lease follows on the stream.
    pub(crate) async fn ask_for_gateway(&self) -> Result<(BondKey, BondStream), OpenError> {
        let ask = |bond| async move { Ok((bond, self.ask(bond, &Request::Gateway).await?)) };
        self.on_a_bond(ask).await
    }

    /// Asks the hub to take connections beside this bond, by TLS or as it likes: its offer follows
    /// on the stream.
    pub(crate) async fn ask_for_mptcp(
        &self,
        bond: BondKey,
        tls: bool,
    ) -> Result<BondStream, OpenError> {
        self.ask(bond, &Request::Mptcp { tls }).await
    }

    /// The present bond, as it changes.
    pub(crate) fn bond(&self) -> watch::Receiver<BondKey> {
        self.bond.clone()
    }

    /// The driver.
    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The numbers of the edge's paths.
    pub(crate) fn numbers(&self) -> &PathNumbers {
        &self.numbers
    }

    async fn ask(&self, bond: BondKey, what: &Request) -> Result<BondStream, OpenError> {
        let mut stream = self.driver.open_stream(bond).await?;
        request(&mut stream, what).await?;
        Ok(stream)
    }

    async fn associate_on(
        &self,
        bond: BondKey,
        options: &FlowOptions,
    ) -> Result<EdgeFlow, OpenError> {
        let config = self.numbers.flow_config(&options.carriage)?;
        let flow = self.driver.open_flow(bond, config)?;
        let association = UdpAssociation { flow: flow.id().0, idle_timeout: options.idle_timeout };
        let stream = self.ask(bond, &Request::Udp(association)).await?;
        let opener =
            FlowOpener { driver: self.driver.clone(), bond, numbers: self.numbers.clone() };
        Ok(EdgeFlow::new(opener, (options.carriage.clone(), flow), stream))
    }

    /// Asks on the present bond, and on the next one where a bond ends before its hub has answered:
    /// no data has gone with the request, so that nothing is done twice that anybody would notice.
    async fn on_a_bond<T, F>(&self, ask: impl Fn(BondKey) -> F) -> Result<T, OpenError>
    where
        F: Future<Output = Result<T, OpenError>>,
    {
        let mut present = self.bond.clone();
        loop {
            let bond = *present.borrow_and_update();
            match ask(bond).await {
                Err(OpenError::Tunnel(error)) if self.driver.is_over(bond) => {
                    if present.changed().await.is_err() {
                        // The edge has stopped.
                        return Err(OpenError::Tunnel(error));
                    }
                }
                answer => return answer,
            }
        }
    }
}

impl Opener for EdgeOpener {
    type Stream = BondStream;
    type Flow = EdgeFlow;

    async fn connect(&self, target: Target) -> Result<BondStream, OpenError> {
        let request = Request::Tcp(target);
        self.on_a_bond(|bond| self.ask(bond, &request)).await
    }

    async fn associate(&self, options: FlowOptions) -> Result<EdgeFlow, OpenError> {
        self.on_a_bond(|bond| self.associate_on(bond, &options)).await
    }

    fn way(&self) -> Way {
        Way::while_true(self.driver.works())
    }
}

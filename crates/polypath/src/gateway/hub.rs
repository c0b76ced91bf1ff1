//! A hub's gateway on its host.

use std::convert::Infallible;

use anyhow::Context;
use bytes::Bytes;
use polypath_gateway::Mtu;
use polypath_gateway::device::{DeviceError, Tun};
use polypath_gateway::host::{Gateway, HostError};
use polypath_gateway::plan::{HubPlan, Plan};
use polypath_net::gateway::{HubGateway, PACKET_QUEUE};
use tokio::sync::mpsc;

use super::pump::pump;
use super::{HubGatewaySettings, PAUSE, device, record_directory};

/// The gateway of a hub.
pub(crate) struct HubSide {
    settings: HubGatewaySettings,
    gateway: HubGateway,
    incoming: mpsc::Receiver<Bytes>,
    set: Option<Gateway>,
}

/// Why packets are not carried now.
#[derive(Debug, thiserror::Error)]
enum Interrupted {
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Host(#[from] HostError),
}

impl HubSide {
    /// A gateway, which begins with [`run`](Self::run).
    pub(crate) fn new(settings: HubGatewaySettings) -> anyhow::Result<Self> {
        let (device, incoming) = mpsc::channel(PACKET_QUEUE);
        let gateway = HubGateway::new(settings.edges.clone(), device)?;
        Ok(Self { settings, gateway, incoming, set: None })
    }

    /// What serves edges.
    pub(crate) fn gateway(&self) -> HubGateway {
        self.gateway.clone()
    }

    /// Carries packets until something fails for good. What it has set on the host is removed when
    /// this ends or is dropped.
    pub(crate) async fn run(mut self) -> anyhow::Result<Infallible> {
        loop {
            let interrupted = match self.carry().await {
                Ok(never) => match never {},
                Err(interrupted) => interrupted,
            };
            // What has never worked is for the operator to mend.
            if self.set.is_none() {
                return Err(interrupted).context("the gateway");
            }
            tracing::error!(%interrupted, "the gateway is set up anew");
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn carry(&mut self) -> Result<Infallible, Interrupted> {
        let addresses = self.gateway.addresses();
        let tun = Tun::create(&device(&self.settings.device, &addresses)).await?;
        let plan = Plan::Hub(HubPlan {
            device: self.settings.device.clone(),
            mtu: Mtu::default(),
            prefixes: self.settings.edges.networks.iter().map(|net| net.trunc()).collect(),
            behind_edges: Vec::new(),
            translation: self.settings.translation,
            published: self.settings.published.clone(),
        });
        match &mut self.set {
            Some(gateway) => gateway.replace(plan).await?,
            None => self.set = Some(Gateway::set(plan, &record_directory()).await?),
        }
        tracing::info!(device = %self.settings.device, "gateway");
        let sender = self.gateway.clone();
        let error = pump(tun, move |packet| sender.send(packet), &mut self.incoming).await;
        Err(error.into())
    }
}

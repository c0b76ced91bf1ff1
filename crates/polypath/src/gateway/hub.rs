//! A hub's gateway on its host.

use std::convert::Infallible;
use std::future::pending;

use anyhow::Context;
use bytes::Bytes;
use polypath_gateway::Mtu;
use polypath_gateway::device::{DeviceError, Tun};
use polypath_gateway::host::Gateway;
use polypath_gateway::plan::{HubPlan, Plan, Translation};
use polypath_net::gateway::{HubGateway, PACKET_QUEUE};
use polypath_net::tunnel::Lease;
use tokio::sync::mpsc;

use super::pump::pump;
use super::{CHECK, HubGatewaySettings, Interrupted, PAUSE, check, device, record_directory};

/// The gateway of a hub.
pub(crate) struct HubSide {
    gateway: HubGateway,
    /// `None` where sockets carry what they can.
    device: Option<Device>,
}

/// The device, and what is set for it.
struct Device {
    settings: HubGatewaySettings,
    addresses: Lease,
    incoming: mpsc::Receiver<Bytes>,
    /// That was made at the start.
    first: Option<Tun>,
    set: Option<Gateway>,
}

impl HubGatewaySettings {
    /// Whether something is asked for that sockets cannot do.
    fn needs_device(&self) -> bool {
        let is_routed = self.translation == Translation::Routed;
        is_routed || self.edges.edge_to_edge || !self.published.is_empty()
    }
}

impl HubSide {
    /// A gateway, which begins with [`run`](Self::run). Without the right to a device it does
    /// without, which the log says, if what is asked for can be done so.
    pub(crate) async fn new(settings: HubGatewaySettings) -> anyhow::Result<Self> {
        let addresses = settings.edges.hub_addresses()?;
        let (sender, incoming) = mpsc::channel(PACKET_QUEUE);
        let first = match Tun::create(&device(&settings.device, addresses.addresses())).await {
            Ok(tun) => Some(tun),
            Err(
                error @ (DeviceError::Permission { .. }
                | DeviceError::NoDriver { .. }
                | DeviceError::Unsupported(_)),
            ) if !settings.needs_device() => {
                tracing::warn!(
                    %error,
                    "the gateway does without: of edges' packets UDP and echo requests are carried, \
                     by sockets of this program, and no others"
                );
                None
            }
            Err(error) => return Err(error).context("the gateway"),
        };
        let gateway = HubGateway::new(settings.edges.clone(), first.is_some().then_some(sender))?;
        let device =
            first.map(|tun| Device { settings, addresses, incoming, first: Some(tun), set: None });
        Ok(Self { gateway, device })
    }

    /// What serves edges.
    pub(crate) fn gateway(&self) -> HubGateway {
        self.gateway.clone()
    }

    /// Carries packets until something fails for good. What it has set on the host is removed when
    /// this ends or is dropped.
    pub(crate) async fn run(self) -> anyhow::Result<Infallible> {
        let Some(mut device) = self.device else { return pending().await };
        loop {
            let interrupted = match device.carry(&self.gateway).await {
                Ok(never) => match never {},
                Err(interrupted) => interrupted,
            };
            // What has never worked is for the operator to mend.
            if device.set.is_none() {
                return Err(interrupted).context("the gateway");
            }
            tracing::error!(%interrupted, "the gateway is set up anew");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Waits until something of what was set is missing.
async fn missing(set: Option<&Gateway>) -> Interrupted {
    loop {
        tokio::time::sleep(CHECK).await;
        if let Err(interrupted) = check(set).await {
            return interrupted;
        }
    }
}

impl Device {
    async fn carry(&mut self, gateway: &HubGateway) -> Result<Infallible, Interrupted> {
        let name = &self.settings.device;
        let tun = match self.first.take() {
            Some(tun) => tun,
            None => Tun::create(&device(name, self.addresses.addresses())).await?,
        };
        let plan = Plan::Hub(self.plan());
        match &mut self.set {
            Some(gateway) => gateway.replace(plan).await?,
            None => self.set = Some(Gateway::set(plan, &record_directory()).await?),
        }
        tracing::info!(device = %self.settings.device, "gateway");
        let sender = gateway.clone();
        tokio::select! {
            error = pump(tun, move |packet| sender.send(packet), &mut self.incoming) => {
                Err(error.into())
            }
            error = missing(self.set.as_ref()) => Err(error),
        }
    }

    fn plan(&self) -> HubPlan {
        HubPlan {
            device: self.settings.device.clone(),
            mtu: Mtu::default(),
            prefixes: self.settings.edges.networks.iter().map(|net| net.trunc()).collect(),
            behind_edges: Vec::new(),
            translation: self.settings.translation,
            published: self.settings.published.clone(),
        }
    }
}

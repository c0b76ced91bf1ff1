//! A hub's gateway on its host.

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;

use anyhow::Context;
use ipnet::IpNet;
use polypath_gateway::Mtu;
use polypath_gateway::device::{DeviceError, Tun};
use polypath_gateway::plan::{HubPlan, Plan, Translation};
use polypath_net::gateway::{HubGateway, PACKET_QUEUE};
use polypath_net::tunnel::Lease;
use tokio::sync::mpsc;

use super::installed::Installed;
use super::pump::{Incoming, pump};
use super::{Carry, HubGatewaySettings, Interrupted, carry, device};

/// The gateway of a hub.
pub(crate) struct HubSide {
    gateway: HubGateway,
    /// `None` where sockets carry what they can.
    device: Option<Device>,
}

/// The device, and what is set for it.
struct Device {
    gateway: HubGateway,
    settings: HubGatewaySettings,
    addresses: Lease,
    incoming: Incoming,
    /// That was made at the start.
    first: Option<Tun>,
    installed: Installed,
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
        let device = first.map(|tun| Device {
            gateway: gateway.clone(),
            settings,
            addresses,
            incoming: Incoming::new(incoming),
            first: Some(tun),
            installed: Installed::nothing(),
        });
        Ok(Self { gateway, device })
    }

    /// What serves edges.
    pub(crate) fn gateway(&self) -> HubGateway {
        self.gateway.clone()
    }

    /// Carries packets until something fails for good. What it has set on the host is removed when
    /// this ends or is dropped.
    pub(crate) async fn run(self) -> anyhow::Result<Infallible> {
        match self.device {
            Some(mut device) => Err(carry(&mut device).await).context("the gateway"),
            None => pending().await,
        }
    }
}

impl Carry for Device {
    async fn carry_once(&mut self) -> Result<Infallible, Interrupted> {
        let name = &self.settings.device;
        let tun = match self.first.take() {
            Some(tun) => tun,
            None => Tun::create(&device(name, self.addresses.addresses())).await?,
        };
        let Self { gateway, settings, incoming, installed, .. } = self;
        let mut behind = gateway.behind();
        let networks = behind.borrow_and_update().prefixes().to_vec();
        installed.put(plan(settings, networks)).await?;
        tracing::info!(device = %settings.device, "gateway");
        let sender = gateway.clone();
        let incoming = incoming.clone();
        let mut pumping = pin!(pump(tun, move |packets| sender.send(packets), incoming));
        loop {
            tokio::select! {
                error = &mut pumping => return Err(error.into()),
                damaged = installed.watch() => return damaged,
                Ok(()) = behind.changed() => {
                    let networks = behind.borrow_and_update().prefixes().to_vec();
                    installed.put(plan(settings, networks)).await?;
                }
            }
        }
    }

    fn has_worked(&self) -> bool {
        self.installed.is_set()
    }
}

/// What is to be set, with these networks behind edges.
fn plan(settings: &HubGatewaySettings, behind_edges: Vec<IpNet>) -> Plan {
    Plan::Hub(HubPlan {
        device: settings.device.clone(),
        mtu: Mtu::default(),
        prefixes: settings.edges.networks.iter().map(|net| net.trunc()).collect(),
        behind_edges,
        translation: settings.translation,
        published: settings.published.clone(),
    })
}

//! An edge's gateway on its host.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::pending;
use std::net::IpAddr;
use std::num::NonZeroU16;

use anyhow::{Context, anyhow};
use bytes::Bytes;
use ipnet::IpNet;
use polypath_gateway::device::Tun;
use polypath_gateway::host::{Gateway, HostError};
use polypath_gateway::listen_transparently;
use polypath_gateway::plan::{DualStack, EdgePlan, Family, Marks, Plan};
use polypath_gateway::{InterfaceName, Mtu};
use polypath_net::edge::{Edge, EdgeOpener, Separation};
use polypath_net::gateway::{EdgeGateway, GatewayCounts, PACKET_QUEUE};
use polypath_net::interfaces::Watcher;
use polypath_net::proxy::{ProxyOptions, serve_transparent};
use polypath_net::tunnel::Lease;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::pump::pump;
use super::{
    CHECK, EdgeGatewayOptions, Interrupted, PAUSE, TcpHandling, check, device, record_directory,
};

/// The gateway of an edge that runs.
pub(crate) struct EdgeSide {
    options: EdgeGatewayOptions,
    hub: Vec<IpAddr>,
    gateway: EdgeGateway,
    incoming: mpsc::Receiver<Bytes>,
    listeners: Vec<TcpListener>,
    port: Option<NonZeroU16>,
}

impl EdgeGatewayOptions {
    /// How the bond keeps apart from it.
    pub(crate) fn separation(&self) -> Separation {
        let inside = self.lan.iter().chain([&self.device]);
        Separation {
            mark: Some(Marks::default().of_bond()),
            inside: inside.map(|name| name.as_str().to_owned()).collect(),
        }
    }
}

impl EdgeSide {
    /// A gateway over the bond of `edge`, to a hub with these addresses. It begins with
    /// [`run`](Self::run).
    pub(crate) fn new(
        options: EdgeGatewayOptions,
        hub: Vec<IpAddr>,
        edge: &Edge,
        proxies: &ProxyOptions,
    ) -> anyhow::Result<Self> {
        let (device, incoming) = mpsc::channel(PACKET_QUEUE);
        let gateway = EdgeGateway::new(edge.opener(), proxies.steering.clone(), device);
        let (listeners, port) = match options.tcp {
            TcpHandling::Split => listen().context("connections cannot be intercepted")?,
            TcpHandling::Tunnel => (Vec::new(), None),
        };
        Ok(Self { options, hub, gateway, incoming, listeners, port })
    }

    /// What has become of packets, at any time.
    pub(crate) fn counts(&self) -> impl Fn() -> GatewayCounts + use<> {
        let gateway = self.gateway.clone();
        move || gateway.counts()
    }

    /// Carries traffic until something fails for good. What it has set on the host is removed when
    /// this ends or is dropped.
    pub(crate) async fn run(
        self,
        opener: EdgeOpener,
        proxies: ProxyOptions,
    ) -> anyhow::Result<Infallible> {
        let mut serving = JoinSet::new();
        for listener in self.listeners {
            serving.spawn(serve_transparent(listener, opener.clone(), proxies.clone()));
        }
        let listening = async {
            match serving.join_next().await {
                Some(ended) => anyhow!("intercepted connections: {ended:?}"),
                None => pending().await,
            }
        };
        let host = Host {
            options: self.options,
            hub: self.hub,
            port: self.port,
            lease: None,
            lan: BTreeSet::new(),
            set: None,
        };
        tokio::select! {
            ended = self.gateway.run() => match ended {
                Ok(()) => Err(anyhow!("the gateway has ended")),
                Err(error) => Err(error.into()),
            },
            error = listening => Err(error),
            error = host.carry(&self.gateway, self.incoming) => Err(error),
        }
    }
}

/// A port that is free in both families, where the host has both.
fn listen() -> std::io::Result<(Vec<TcpListener>, Option<NonZeroU16>)> {
    let first = listen_transparently(Family::V4, None)?;
    let port = NonZeroU16::new(first.local_addr()?.port());
    let mut listeners = vec![TcpListener::from_std(first)?];
    match listen_transparently(Family::V6, port).and_then(TcpListener::from_std) {
        Ok(second) => listeners.push(second),
        Err(error) => tracing::warn!(%error, "TCP over IPv6 is not intercepted"),
    }
    Ok((listeners, port))
}

/// What is set on the host, and what it follows from.
struct Host {
    options: EdgeGatewayOptions,
    hub: Vec<IpAddr>,
    port: Option<NonZeroU16>,
    lease: Option<Lease>,
    /// Those that are there.
    lan: BTreeSet<InterfaceName>,
    set: Option<Gateway>,
}

impl Host {
    /// Carries packets as long as nothing stands in the way that will not pass.
    async fn carry(
        mut self,
        gateway: &EdgeGateway,
        mut incoming: mpsc::Receiver<Bytes>,
    ) -> anyhow::Error {
        let mut lease = gateway.lease();
        loop {
            let interrupted = match self.carry_once(gateway, &mut lease, &mut incoming).await {
                Ok(never) => match never {},
                Err(interrupted) => interrupted,
            };
            // What has never worked is for the operator to mend.
            if self.set.is_none() {
                return interrupted.into();
            }
            tracing::error!(%interrupted, "the gateway is set up anew");
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn carry_once(
        &mut self,
        gateway: &EdgeGateway,
        lease: &mut watch::Receiver<Option<Lease>>,
        incoming: &mut mpsc::Receiver<Bytes>,
    ) -> Result<Infallible, Interrupted> {
        let mut interfaces = Watcher::start().await?;
        self.notice(&interfaces);
        if self.options.kill_switch && self.set.is_none() {
            self.set_plan(None).await?;
        }
        let present = match lease.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(lease)) => *lease,
            // The gateway ends first, which tells why.
            _ => return pending().await,
        };
        lease.mark_unchanged();
        // Alone in their prefix: the rest of the network is behind the hub, like everything else.
        let own = present.addresses().map(|net| IpNet::from(net.addr()));
        let tun = Tun::create(&device(&self.options.device, own)).await?;
        self.set_plan(Some(present)).await?;
        let addresses: Vec<_> = present.addresses().map(|net| net.to_string()).collect();
        tracing::info!(device = %self.options.device, addresses = addresses.join(", "), "gateway");
        let sender = gateway.clone();
        tokio::select! {
            error = pump(tun, move |packet| sender.send(packet), incoming) => Err(error.into()),
            Ok(()) = lease.changed() => Err(Interrupted::Lease),
            ended = self.follow(&mut interfaces) => ended,
        }
    }

    /// Sets the plan anew when interfaces of LANs have come, until something of it is missing.
    async fn follow(&mut self, interfaces: &mut Watcher) -> Result<Infallible, Interrupted> {
        let mut checks = tokio::time::interval(CHECK);
        loop {
            tokio::select! {
                changes = interfaces.changes() => {
                    changes?;
                    if self.notice(interfaces) {
                        self.set_plan(self.lease).await?;
                    }
                }
                _ = checks.tick() => check(self.set.as_ref()).await?,
            }
        }
    }

    /// Which of the LANs' interfaces are there. Returns whether another one is.
    fn notice(&mut self, interfaces: &Watcher) -> bool {
        let names: BTreeSet<_> =
            interfaces.current().values().map(|interface| interface.name.as_str()).collect();
        let is_there = |name: &&InterfaceName| names.contains(name.as_str());
        let present: BTreeSet<_> = self.options.lan.iter().filter(is_there).cloned().collect();
        for name in self.options.lan.difference(&present) {
            if self.set.is_none() || self.lan.contains(name) {
                tracing::warn!(interface = %name, "it is not there; the gateway waits for it");
            }
        }
        let has_come = present.iter().any(|name| !self.lan.contains(name));
        self.lan = present;
        has_come
    }

    async fn set_plan(&mut self, lease: Option<Lease>) -> Result<(), HostError> {
        self.lease = lease;
        let plan = Plan::Edge(self.plan());
        match &mut self.set {
            Some(gateway) => gateway.replace(plan).await,
            None => {
                self.set = Some(Gateway::set(plan, &record_directory()).await?);
                Ok(())
            }
        }
    }

    fn plan(&self) -> EdgePlan {
        EdgePlan {
            device: self.options.device.clone(),
            addresses: DualStack {
                v4: self.lease.and_then(|lease| lease.v4()).map(|net| net.addr()),
                v6: self.lease.and_then(|lease| lease.v6()).map(|net| net.addr()),
            },
            mtu: Mtu::default(),
            lan: self.lan.clone(),
            routed: Vec::new(),
            excluded: self.options.exclude.clone(),
            hub: self.hub.clone(),
            listener: self.port,
            resolvers: self.options.dns,
            kill_switch: self.options.kill_switch,
            marks: Marks::default(),
        }
    }
}

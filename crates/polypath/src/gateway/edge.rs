//! An edge's gateway on its host.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::pending;
use std::net::IpAddr;
use std::num::NonZeroU16;

use anyhow::{Context, anyhow};
use ipnet::IpNet;
use polypath_gateway::device::Tun;
use polypath_gateway::host::HostError;
use polypath_gateway::listen_transparently;
use polypath_gateway::plan::{DualStack, EdgePlan, Family, Marks, Plan};
use polypath_gateway::{InterfaceName, Mtu};
use polypath_host::interfaces::Watcher;
use polypath_net::edge::{Edge, EdgeOpener, Separation};
use polypath_net::gateway::{EdgeGateway, GatewayCounts, Grant, PACKET_QUEUE};
use polypath_net::mptcp::{MptcpCounts, MptcpEdge};
use polypath_net::proxy::{ProxyOptions, serve_transparent};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::installed::Installed;
use super::pump::{Incoming, pump};
use super::{Carry, EdgeGatewayOptions, Interrupted, TcpHandling, Transport, carry, device};

/// The gateway of an edge that runs. What it has set on the host is removed with this.
pub(crate) struct EdgeSide {
    gateway: EdgeGateway,
    listeners: Vec<TcpListener>,
    /// What carries connections beside the bond, if that is asked for.
    mptcp: Option<MptcpEdge>,
    host: Host,
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
        let mptcp = match options.transport {
            Transport::Bond => None,
            Transport::Mptcp if options.mptcp_tls => Some(MptcpEdge::new(edge).encrypted()),
            Transport::Mptcp => Some(MptcpEdge::new(edge)),
        };
        let (lan, installed) = (BTreeSet::new(), Installed::nothing());
        let setup = Setup { options, hub, port, grant: None, lan, installed };
        let host = Host {
            gateway: gateway.clone(),
            incoming: Incoming::new(incoming),
            grants: gateway.grant(),
            setup,
        };
        Ok(Self { gateway, listeners, mptcp, host })
    }

    /// What carries packets.
    pub(crate) fn gateway(&self) -> EdgeGateway {
        self.gateway.clone()
    }

    /// What has become of packets, at any time.
    pub(crate) fn counts(&self) -> impl Fn() -> GatewayCounts + use<> {
        let gateway = self.gateway.clone();
        move || gateway.counts()
    }

    /// What has become of connections beside the bond, at any time, if there may be any.
    pub(crate) fn mptcp_counts(&self) -> Option<impl Fn() -> MptcpCounts + use<>> {
        self.mptcp.as_ref().map(MptcpEdge::counts)
    }

    /// Carries traffic until something fails for good.
    pub(crate) async fn run(&mut self, opener: EdgeOpener, proxies: ProxyOptions) -> anyhow::Error {
        let mut serving = JoinSet::new();
        for listener in self.listeners.drain(..) {
            match &self.mptcp {
                Some(mptcp) => {
                    serving.spawn(serve_transparent(listener, mptcp.opener(), proxies.clone()))
                }
                None => serving.spawn(serve_transparent(listener, opener.clone(), proxies.clone())),
            };
        }
        let listening = async {
            match serving.join_next().await {
                Some(ended) => anyhow!("intercepted connections: {ended:?}"),
                None => pending().await,
            }
        };
        let beside_bond = async {
            if let Some(mptcp) = &self.mptcp {
                mptcp.run().await;
            }
            // The edge ends first, which tells why.
            pending().await
        };
        tokio::select! {
            ended = self.gateway.run() => match ended {
                Ok(()) => anyhow!("the gateway has ended"),
                Err(error) => error.into(),
            },
            error = listening => error,
            error = beside_bond => error,
            interrupted = carry(&mut self.host) => interrupted.into(),
        }
    }

    /// Ends it after something has failed: a kill switch stays, as after the program was killed.
    pub(crate) fn fail(self) {
        let Setup { options, installed, .. } = self.host.setup;
        if options.kill_switch && installed.is_set() {
            installed.leave();
            tracing::error!(
                "the kill switch stays: nothing leaves this host beside the bond until the edge \
                 runs again, or \"polypath gateway clean\""
            );
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

/// The edge's host.
struct Host {
    gateway: EdgeGateway,
    incoming: Incoming,
    grants: watch::Receiver<Option<Grant>>,
    setup: Setup,
}

/// What is set on it, and what that follows from.
struct Setup {
    options: EdgeGatewayOptions,
    hub: Vec<IpAddr>,
    port: Option<NonZeroU16>,
    grant: Option<Grant>,
    /// Those that are there.
    lan: BTreeSet<InterfaceName>,
    installed: Installed,
}

impl Carry for Host {
    async fn carry_once(&mut self) -> Result<Infallible, Interrupted> {
        let Self { gateway, incoming, grants, setup } = self;
        let mut interfaces = Watcher::start().await?;
        setup.notice(&interfaces);
        if setup.options.kill_switch && !setup.installed.is_set() {
            setup.set_plan(None).await?;
        }
        let present = match grants.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(grant)) => grant.clone(),
            // The gateway ends first, which tells why.
            _ => return pending().await,
        };
        grants.mark_unchanged();
        // Alone in their prefix: the rest of the network is behind the hub, like everything else.
        let addresses: Vec<_> = present.lease.addresses().collect();
        let own = addresses.iter().map(|net| IpNet::from(net.addr()));
        let name = setup.options.device.clone();
        let tun = Tun::create(&device(&name, own)).await?;
        setup.set_plan(Some(present)).await?;
        let addresses: Vec<_> = addresses.iter().map(IpNet::to_string).collect();
        tracing::info!(device = %name, addresses = addresses.join(", "), "gateway");
        let sender = gateway.clone();
        tokio::select! {
            error = pump(tun, move |packets| sender.send(packets), incoming.clone()) => Err(error.into()),
            Ok(()) = grants.changed() => Err(Interrupted::Grant),
            ended = setup.follow(&mut interfaces) => ended,
        }
    }

    fn has_worked(&self) -> bool {
        self.setup.installed.is_set()
    }
}

impl Setup {
    /// Sets the plan anew when interfaces of LANs have come, until something of it is missing.
    async fn follow(&mut self, interfaces: &mut Watcher) -> Result<Infallible, Interrupted> {
        loop {
            tokio::select! {
                changes = interfaces.changes() => changes?,
                damaged = self.installed.watch() => return damaged,
            };
            if self.notice(interfaces) {
                self.set_plan(self.grant.clone()).await?;
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
            if !self.installed.is_set() || self.lan.contains(name) {
                tracing::warn!(interface = %name, "it is not there; the gateway waits for it");
            }
        }
        let has_come = present.iter().any(|name| !self.lan.contains(name));
        self.lan = present;
        has_come
    }

    async fn set_plan(&mut self, grant: Option<Grant>) -> Result<(), HostError> {
        self.grant = grant;
        self.installed.put(Plan::Edge(self.plan())).await
    }

    fn plan(&self) -> EdgePlan {
        let lease = self.grant.as_ref().map(|grant| grant.lease);
        let networks = self.grant.as_ref().map(|grant| grant.networks.as_slice().to_vec());
        EdgePlan {
            device: self.options.device.clone(),
            addresses: DualStack {
                v4: lease.and_then(|lease| lease.v4()).map(|net| net.addr()),
                v6: lease.and_then(|lease| lease.v6()).map(|net| net.addr()),
            },
            mtu: Mtu::default(),
            lan: self.lan.clone(),
            routed: networks.unwrap_or_default(),
            excluded: self.options.exclude.clone(),
            hub: self.hub.clone(),
            listener: self.port,
            resolvers: self.options.dns,
            kill_switch: self.options.kill_switch,
            marks: Marks::default(),
        }
    }
}

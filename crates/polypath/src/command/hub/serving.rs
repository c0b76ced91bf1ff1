//! A running hub.

use std::collections::BTreeSet;
use std::fs;
use std::future::pending;
use std::path::Path;

use anyhow::{Context, bail};
use polypath_bond::identity::{HubAddress, JoinString, SecretKey};
use polypath_bond::{BondConfig, HubPolicy};
use polypath_host::interfaces;
use polypath_net::conversations::{Conversations, Wanted};
use polypath_net::exit::{FileStore, FileStoreOptions};
use polypath_net::gateway::HubGateway;
use polypath_net::hub::{Edges, Hub, HubConfig};
use polypath_net::mptcp::HubMptcp;
use tokio::signal::unix::{Signal, SignalKind};

use super::super::key::generate;
use super::reachable::reachable;
use super::{EdgeLimits, HubOptions};
use crate::config::{AllowedKeys, create_key_file, load_key_file};
use crate::control::{ControlSocket, Refusal, Role, Status};
use crate::gateway::HubSide;
use crate::metrics::{MetricsListener, Passed};
use crate::output;
use crate::service::{Stop, catch};
use crate::service_manager::ServiceManager;

/// Serves edges until a signal ends it. SIGHUP reads the list of allowed keys again, and does not
/// end it, not even as that of a terminal that was closed.
pub(super) async fn serve(options: HubOptions) -> anyhow::Result<()> {
    let mut stop = Stop::but_hangup()?;
    // From here on: whoever changes the list need not know how far the start has come.
    let hangup = catch(SignalKind::hangup())?;
    let control = ControlSocket::open(options.control.as_deref())?;
    let metrics = MetricsListener::bind(options.metrics).await?;
    let gateway = match options.gateway.clone() {
        Some(settings) => Some(HubSide::new(settings).await?),
        None => None,
    };
    let served = gateway.as_ref().map(HubSide::gateway);
    let hub = start(&options, served.clone())?;
    let mptcp = hub.mptcp().cloned();
    let passed = passed(served.clone(), mptcp.clone());
    let join = join_string(&hub, &options.advertise).await?;
    output::print(&format!("{join}\n"))?;
    let manager = ServiceManager::of_environment();
    manager.ready();
    let status = || {
        let counts = served.as_ref().map(HubGateway::counts);
        let status = Status::of(Role::Hub, hub.driver()).with_gateway(counts);
        status.with_mptcp_transport(mptcp.as_ref().map(HubMptcp::counts))
    };
    let ended = tokio::select! {
        error = carry(gateway) => Err(error),
        ended = control.serve(status, async |wanted| tell(&hub, wanted).await) => {
            ended.context("the control socket")
        }
        () = manager.watch(hub.driver().clone()) => Ok(()),
        ended = metrics.serve(Role::Hub, hub.driver().clone(), passed, hub.names()) => {
            ended.context("metrics")
        }
        () = follow_allowed_keys(&hub, &options, hangup) => Ok(()),
        () = stop.wait() => Ok(()),
    };
    manager.stopping();
    stop.close(hub.close()).await;
    ended
}

/// What metrics say has passed.
fn passed(gateway: Option<HubGateway>, mptcp: Option<HubMptcp>) -> impl Fn() -> Passed {
    move || Passed {
        gateway: gateway.as_ref().map(HubGateway::counts),
        mptcp: mptcp.as_ref().map(HubMptcp::counts),
        ..Passed::default()
    }
}

/// Conversations of edges, whose rules are not known here.
async fn tell(hub: &Hub, wanted: &Wanted) -> Result<Conversations, Refusal> {
    match wanted.rule.clone() {
        Some(rule) => Err(Refusal::UnknownRule { rule }),
        None => Ok(hub.conversations(wanted).await),
    }
}

/// The gateway, if there is one, until it fails.
async fn carry(gateway: Option<HubSide>) -> anyhow::Error {
    match gateway {
        Some(gateway) => match gateway.run().await {
            Ok(never) => match never {},
            Err(error) => error,
        },
        None => pending().await,
    }
}

fn start(options: &HubOptions, gateway: Option<HubGateway>) -> anyhow::Result<Hub> {
    // First, so that a hub which cannot start for want of a list leaves no key.
    let (policy, edges) = policy(options)?;
    let hub = Hub::start(HubConfig {
        identity: identity(&options.key, options.make_key)?,
        listen: options.listen.clone(),
        policy,
        edges,
        bond: options.bond_config(),
        exit: options.exit.clone(),
        inbox: options.inbox.as_deref().map(|folder| inbox(folder, options.store)).transpose()?,
        gateway,
        mptcp: options.mptcp,
    })?;
    for address in hub.addresses() {
        tracing::info!(%address, "listening");
    }
    if let Some(mptcp) = hub.mptcp() {
        let port = mptcp.port();
        match mptcp.is_always_encrypted() {
            true => tracing::info!(%port, "listening for Multipath TCP, encrypted"),
            false => tracing::warn!(
                %port,
                "listening for Multipath TCP: what edges send there is not encrypted on its way, \
                 but where they ask for it"
            ),
        }
    }
    Ok(hub)
}

fn identity(file: &Path, make: bool) -> anyhow::Result<SecretKey> {
    if !make || file.exists() {
        return Ok(load_key_file(file)?);
    }
    let secret = generate()?;
    create_key_file(file, &secret)?;
    tracing::info!(file = %file.display(), public = %secret.public(), "made a key");
    Ok(secret)
}

fn policy(options: &HubOptions) -> anyhow::Result<(HubPolicy, Edges)> {
    let allow = &options.allow;
    if matches!(allow.try_exists(), Ok(false)) {
        bail!("{}", no_list(allow));
    }
    let keys = AllowedKeys::read(allow)?;
    if let Some(gateway) = &options.gateway
        && let Err(message) = keys.keep_apart_from(&gateway.edges.networks)
    {
        bail!("{}: {message}", allow.display());
    }
    if keys.is_empty() {
        tracing::warn!(file = %allow.display(), "no key is allowed, so nobody can join");
    }
    let allowed: BTreeSet<_> = keys.keys().collect();
    tracing::info!(keys = allowed.len(), file = %allow.display(), "read the allowed keys");
    Ok((HubPolicy { allowed: Some(allowed), ..HubPolicy::default() }, keys.into_edges()))
}

fn no_list(allow: &Path) -> String {
    let list = allow.display();
    let folder = allow.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(String::new, |path| format!("mkdir -p {} && ", path.display()));
    format!(
        "there is no list {list} of the keys that may join; `{folder}echo ppp1... >> {list}` makes \
         one, with the key that `polypath key` has printed at the edge"
    )
}

fn inbox(folder: &Path, options: FileStoreOptions) -> anyhow::Result<FileStore> {
    let shown = folder.display();
    fs::create_dir_all(folder).with_context(|| format!("cannot make the inbox {shown}"))?;
    FileStore::open(folder, options).with_context(|| format!("cannot use the inbox {shown}"))
}

/// Half of the memory of a bond, which is for unread data, has room for the least windows of all
/// streams.
const MEMORY_OF_STREAM: u64 = 2 * (16 << 10);

impl HubOptions {
    /// Of the memory, receiving takes three receive buffers, two of them for what nobody has read
    /// yet, as long as each stream's least window of 16 KiB is no more. Sending takes a quarter of
    /// the send buffer more for what the windows of streams do not admit yet.
    pub(super) fn bond_config(&self) -> BondConfig {
        let EdgeLimits { memory, streams, bandwidth } = self.limits;
        let memory = memory.get();
        let mut bond = BondConfig {
            receive_buffer: memory / 4,
            send_buffer: memory / 5,
            max_streams: u64::from(streams.get()).min(memory / MEMORY_OF_STREAM),
            max_rate: bandwidth,
            ..BondConfig::default()
        };
        self.lifetimes.apply(&mut bond);
        self.composition.apply(&mut bond.composition);
        bond
    }
}

/// Where edges find the hub: as the operator says, or where it listens.
async fn join_string(hub: &Hub, advertised: &[HubAddress]) -> anyhow::Result<JoinString> {
    let mut addresses = advertised.to_vec();
    if addresses.is_empty() {
        // Without a list of interfaces the operator has to say.
        let interfaces = interfaces::list().await.unwrap_or_default();
        let reachable = reachable(hub.addresses(), &interfaces);
        addresses = reachable.into_iter().map(HubAddress::from).collect();
        addresses.truncate(JoinString::MAX_ADDRESSES);
    }
    Ok(JoinString::new(hub.public(), addresses)?)
}

/// Reads the list again at each SIGHUP. A list that cannot be read changes nothing.
async fn follow_allowed_keys(hub: &Hub, options: &HubOptions, mut hangup: Signal) {
    // Its stream of signals ends with the runtime alone.
    while hangup.recv().await.is_some() {
        match policy(options) {
            Ok((policy, edges)) => hub.set_policy(policy, edges),
            Err(error) => tracing::error!("{error:#}; the keys read before stand"),
        }
    }
}

//! What an edge offers to applications: proxies and forwarded ports.

use std::future::Future;
use std::net::SocketAddr;

use anyhow::Context;
use polypath_bond::FlowMode;
use polypath_net::edge::EdgeOpener;
use polypath_net::proxy::{
    ProxyLimits, ProxyOptions, Steering, SteeringRules, forward_tcp, forward_udp, serve_http,
    serve_socks5,
};
use polypath_net::tunnel::Target;
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::JoinSet;

use super::edge::EdgeOptions;
use crate::config::{Forward, ForwardProtocol, load_credentials_file};

/// Everything that an edge listens on, before it serves.
#[derive(Debug)]
pub(super) struct Surfaces {
    listening: Vec<Surface>,
    proxies: ProxyOptions,
}

#[derive(Debug)]
enum Surface {
    Socks(TcpListener),
    Http(TcpListener),
    Tcp(TcpListener, Target),
    /// With the mode of its own, if it has one.
    Udp(UdpSocket, Target, Option<FlowMode>),
}

/// Listeners that serve. They run until one of them fails.
pub(super) type Serving = JoinSet<anyhow::Result<()>>;

impl Surfaces {
    /// Listens wherever `options` say.
    pub(super) async fn bind(options: &EdgeOptions) -> anyhow::Result<Self> {
        let credentials = options.proxy_credentials.as_deref().map(load_credentials_file);
        let limits = ProxyLimits::new(options.max_connections, options.max_associations);
        let credentials = credentials.transpose()?;
        let steering = Steering::new(options.steering.read()?);
        let when_away = options.when_away;
        let proxies =
            ProxyOptions { credentials, limits, steering, when_away, ..Default::default() };
        let mut surfaces = Vec::new();
        if let Some(address) = options.socks {
            let listener = listen(address.get(), "the SOCKS5 proxy").await?;
            surfaces.push(Surface::Socks(listener));
        }
        if let Some(address) = options.http {
            surfaces.push(Surface::Http(listen(address.get(), "the HTTP proxy").await?));
        }
        for forward in &options.forwards {
            surfaces.push(bind_forward(forward).await?);
        }
        Ok(Self { listening: surfaces, proxies })
    }

    /// One line for each, with the port that was given where 0 was asked for.
    pub(super) fn describe(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        for surface in &self.listening {
            let address = surface.address().context("a listener has no address")?;
            surface.warn_if_open(address);
            let line = match surface {
                Surface::Socks(_) => format!("socks5 {address}\n"),
                Surface::Http(_) => format!("http {address}\n"),
                Surface::Tcp(_, target) => format!("forward tcp:{address}={target}\n"),
                Surface::Udp(_, target, None) => format!("forward udp:{address}={target}\n"),
                Surface::Udp(_, target, Some(mode)) => {
                    format!("forward udp:{address}={target},{mode}\n")
                }
            };
            text.push_str(&line);
        }
        Ok(text)
    }

    /// How they serve.
    pub(super) fn proxies(&self) -> &ProxyOptions {
        &self.proxies
    }

    /// How their traffic is steered.
    pub(super) fn steering(&self) -> &Steering {
        &self.proxies.steering
    }

    /// Serves applications through `opener`.
    pub(super) fn serve(self, opener: &EdgeOpener) -> Serving {
        let mut serving = JoinSet::new();
        for surface in self.listening {
            surface.serve(opener.clone(), self.proxies.clone(), &mut serving);
        }
        serving
    }
}

impl Surface {
    fn address(&self) -> std::io::Result<SocketAddr> {
        match self {
            Self::Socks(listener) | Self::Http(listener) | Self::Tcp(listener, _) => {
                listener.local_addr()
            }
            Self::Udp(socket, ..) => socket.local_addr(),
        }
    }

    /// Proxies that other hosts can use ask for a password, which is made sure of before; forwarded
    /// ports have nothing to ask with.
    fn warn_if_open(&self, address: SocketAddr) {
        let forwarded = matches!(self, Self::Tcp(..) | Self::Udp(..));
        if forwarded && !address.ip().to_canonical().is_loopback() {
            tracing::warn!(%address, "other hosts can use this too: no password is asked for");
        }
    }

    fn serve(self, opener: EdgeOpener, options: ProxyOptions, serving: &mut Serving) {
        match self {
            Self::Socks(listener) => {
                serving.spawn(named("the SOCKS5 proxy", serve_socks5(listener, opener, options)));
            }
            Self::Http(listener) => {
                serving.spawn(named("the HTTP proxy", serve_http(listener, opener, options)));
            }
            Self::Tcp(listener, to) => {
                let forward = forward_tcp(listener, opener, to, options);
                serving.spawn(named("a forwarded TCP port", forward));
            }
            Self::Udp(socket, to, mode) => {
                let steering = match mode {
                    Some(mode) => Steering::new(SteeringRules::always(mode)),
                    None => options.steering,
                };
                let options = ProxyOptions { steering, ..options };
                let forward = forward_udp(socket, opener, to, options);
                serving.spawn(named("a forwarded UDP port", forward));
            }
        }
    }
}

async fn named<E>(
    what: &'static str,
    serving: impl Future<Output = Result<(), E>>,
) -> anyhow::Result<()>
where
    Result<(), E>: Context<(), E>,
{
    serving.await.with_context(|| format!("{what} failed"))
}

async fn listen(address: SocketAddr, what: &str) -> anyhow::Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.with_context(|| format!("cannot listen on {address} for {what}"))
}

async fn bind_forward(forward: &Forward) -> anyhow::Result<Surface> {
    let (address, target) = (forward.listen, forward.target.clone());
    Ok(match forward.protocol {
        ForwardProtocol::Tcp => {
            Surface::Tcp(listen(address, "a forwarded TCP port").await?, target)
        }
        ForwardProtocol::Udp(mode) => {
            let bound = UdpSocket::bind(address).await;
            let what = || format!("cannot listen on {address} for a forwarded UDP port");
            Surface::Udp(bound.with_context(what)?, target, mode)
        }
    })
}

//! UDP ASSOCIATE (RFC 1928, sections 4 and 7).

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep_until};

use super::codec::{Reply, decode_udp, encode_udp};
use super::refuse;
use crate::limit::Place;
use crate::proxy::client_socket::{ClientSocket, Received};
use crate::proxy::session::SessionError;
use crate::proxy::steering::Conversations;
use crate::proxy::{Association, FlowError, GuardedStream, OpenError, Opener, ProxyOptions};
use crate::tunnel::Target;

const MAX_DATAGRAM: usize = 65_535;

/// Relays datagrams for as long as the client keeps the TCP connection (section 6: "A UDP
/// association terminates when the TCP connection that the UDP ASSOCIATE request arrived on
/// terminates").
pub(super) async fn associate<O: Opener>(
    mut client: GuardedStream,
    peer: SocketAddr,
    announced: Target,
    opener: &O,
    options: &ProxyOptions,
) -> Result<(), SessionError> {
    let (flow, place) = match open(&client, peer.ip(), opener, options).await {
        Ok(opened) => opened,
        Err(error) => {
            refuse(client, Reply::from(&error)).await?;
            return Err(error.into());
        }
    };
    let socket = match bind(&client).await {
        Ok(socket) => socket,
        Err(error) => {
            refuse(client, Reply::GeneralFailure).await?;
            return Err(error.into());
        }
    };
    client.write_all(&Reply::Succeeded.encode(socket.local_addr()?)).await?;
    let sender = Sender::new(peer.ip().to_canonical(), &announced);
    let conversations = Conversations::new(&options.steering);
    let relay = Relay { socket, flow, sender, conversations, options };
    let ended = relay.run(&mut client).await;
    drop(place);
    client.close().await?;
    ended
}

/// The association and its place among those of all clients.
async fn open<O: Opener>(
    client: &GuardedStream,
    host: IpAddr,
    opener: &O,
    options: &ProxyOptions,
) -> Result<(O::Flow, Place), OpenError> {
    let place = options.limits.association(host)?;
    Ok((options.associate_for(client, opener).await?, place))
}

/// On the address that the client already reaches; IPv4 as such, also behind a dual-stack listener.
async fn bind(client: &GuardedStream) -> io::Result<ClientSocket> {
    let socket = UdpSocket::bind((client.tcp().local_addr()?.ip().to_canonical(), 0)).await?;
    ClientSocket::new(socket)
}

/// Whose datagrams are relayed: those of the client's host, and once the port is known, of that
/// port alone.
struct Sender {
    ip: IpAddr,
    port: Option<u16>,
}

impl Sender {
    /// Zero means that the client does not know its port yet (section 4). Its announced address is
    /// ignored: behind a NAT it is wrong, and that of the TCP connection is right.
    fn new(ip: IpAddr, announced: &Target) -> Self {
        Self { ip, port: (announced.port != 0).then_some(announced.port) }
    }

    fn admit(&mut self, from: SocketAddr) -> bool {
        from.ip() == self.ip && *self.port.get_or_insert(from.port()) == from.port()
    }

    fn addr(&self) -> Option<SocketAddr> {
        self.port.map(|port| (self.ip, port).into())
    }
}

struct Relay<'a, F> {
    socket: ClientSocket,
    flow: F,
    sender: Sender,
    conversations: Conversations,
    options: &'a ProxyOptions,
}

impl<F: Association> Relay<'_, F> {
    async fn run(mut self, control: &mut GuardedStream) -> Result<(), SessionError> {
        let idle_timeout = self.options.udp_idle_timeout;
        let mut buffer = vec![0; MAX_DATAGRAM];
        let mut control_bytes = [0; 64];
        let mut deadline = Instant::now() + idle_timeout;
        loop {
            let relayed = tokio::select! {
                received = self.socket.recv_from(&mut buffer) => match received {
                    Ok(received) => self.outward(received, &buffer).await?,
                    // The client's port is closed for the moment; the TCP connection says if it
                    // left.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => false,
                    Err(error) => return Err(error.into()),
                },
                received = self.flow.recv() => {
                    let (source, payload) = received?;
                    self.inward(&source, &payload).await
                }
                read = control.read(&mut control_bytes) => match read? {
                    0 => return Ok(()),
                    _ => false,
                },
                () = sleep_until(deadline) => return Err(FlowError::Idle(idle_timeout).into()),
            };
            if relayed {
                deadline = Instant::now() + idle_timeout;
            }
        }
    }

    /// Datagrams that are not the client's, or malformed, are dropped silently (section 7).
    async fn outward(&mut self, received: Received, buffer: &[u8]) -> Result<bool, FlowError> {
        let Received { length, from, dscp } = received;
        match decode_udp(&buffer[..length]) {
            Ok((target, payload)) if self.sender.admit(from) => {
                let carriage = self.conversations.send(from, &target, dscp, payload.len());
                let Some(carriage) = carriage else { return Ok(false) };
                self.options.send(&self.flow, &carriage, &target, payload).await?;
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(error) => {
                tracing::debug!(%from, %error, "datagram dropped");
                Ok(false)
            }
        }
    }

    async fn inward(&mut self, source: &Target, payload: &[u8]) -> bool {
        let Some(client) = self.sender.addr() else { return false };
        if !self.conversations.receive(source, payload.len()) {
            return false;
        }
        // Like UDP: an answer too large for the header, or refused by the client, is lost.
        self.socket.send_to(&encode_udp(source, payload), client).await.is_ok()
    }
}

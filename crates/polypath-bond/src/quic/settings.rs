//! How the QUIC connections of a node are set up.

use super::Recorder;
use crate::carrier::{ACK_DELAY, ACK_THRESHOLD, INITIAL_RTT, TIME_THRESHOLD};
use crate::codec::{ALPN, ALPN_FEEDBACK};
use crate::config::BondConfig;
use crate::identity::{self, PublicKey, SecretKey, TlsConfigError};
use bytes::{Buf, BytesMut};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig,
    MtuDiscoveryConfig, ServerConfig, TimeSource, TransportConfig, ValidationTokenConfig, VarInt,
    crypto,
};
use polypath_brf::FeedbackHeader;
use polypath_units::Timestamp;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Length of the connection ids that we issue, in bytes.
const CID_LEN: usize = 8;
/// What a connection may queue of datagrams. The bond keeps both queues nearly empty.
const DATAGRAM_BUFFER: usize = 8 << 20;
/// Packets above a missing one show nothing: the bond judges losses itself.
const PACKET_THRESHOLD: u32 = u32::MAX;
/// What a peer may send on the only stream, of which a join message is at most 1,026 bytes: room
/// for what is behind one, which shows that the peer breaks the rules.
const STREAM_WINDOW: u32 = 4 << 10;
/// What a peer may send of its handshake before what comes first. A hello and a raw key are less
/// than 1 KiB; a hybrid key share makes it 2 KiB.
const CRYPTO_BUFFER: usize = 4 << 10;
/// The largest datagram that MTU discovery tries, as by default: 1,500 bytes with IPv6. It is the
/// second size that is tried; what fits a smaller MTU is found to so many bytes.
///
/// Losses that a connection judges late, and so several at a time, look like an MTU that has shrunk
/// to the library. Discovery begins anew at once then: two round trips later it knows better.
const MAX_DATAGRAM: u16 = 1_452;
const MTU_STEP: u16 = 64;

/// Generates connection ids from a seed: unpredictable if the seed is, repeatable in simulation.
#[derive(Debug)]
pub(crate) struct CidGenerator(StdRng);

impl CidGenerator {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(StdRng::from_seed(seed))
    }

    fn fill<const N: usize>(&mut self) -> ConnectionId {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        ConnectionId::new(&bytes)
    }
}

impl ConnectionIdGenerator for CidGenerator {
    fn generate_cid(&mut self) -> ConnectionId {
        self.fill::<CID_LEN>()
    }

    fn cid_len(&self) -> usize {
        CID_LEN
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Builds the configurations of endpoints and connections.
#[derive(Debug)]
pub(crate) struct QuicSettings {
    /// A connection on which nothing arrives for so long is given up. The bond may live much
    /// longer.
    idle_timeout: Duration,
    keep_alive: Duration,
    /// Whether connections offer routing feedback.
    feedback: bool,
    rng: StdRng,
    /// Connection ids that clients address their first packet to.
    first_cids: Arc<Mutex<CidGenerator>>,
    /// The age of the tokens that show that an address is one's own goes by it.
    pub(crate) clock: Arc<Clock>,
}

/// The node's time, for whom nobody tells it.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    pub(crate) fn set(&self, now: Timestamp) {
        self.0.store(now.as_nanos(), Ordering::Relaxed);
    }
}

impl TimeSource for Clock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl QuicSettings {
    pub(crate) fn new(seed: [u8; 32], bond: &BondConfig) -> Self {
        let mut rng = StdRng::from_seed(seed);
        let first_cids = Arc::new(Mutex::new(CidGenerator::new(draw(&mut rng))));
        Self {
            idle_timeout: bond.path_timeout_within(bond.idle_timeout),
            keep_alive: bond.keep_alive_within(bond.idle_timeout),
            feedback: bond.offers_feedback(),
            rng,
            first_cids,
            clock: Arc::default(),
        }
    }

    /// The header in front of a datagram, which is taken away; `None` without one, and for who
    /// does not offer to have them.
    pub(crate) fn take_header(&self, datagram: &mut BytesMut) -> Option<FeedbackHeader> {
        let header = FeedbackHeader::decode(datagram).filter(|_| self.feedback)?;
        datagram.advance(FeedbackHeader::SIZE);
        Some(header)
    }

    /// The application protocols to offer, the best first.
    fn protocols(&self, feedback: bool) -> &'static [&'static [u8]] {
        if self.feedback && feedback { &[ALPN_FEEDBACK, ALPN] } else { &[ALPN] }
    }

    /// Random bytes for keys and ids.
    pub(crate) fn random<const N: usize>(&mut self) -> [u8; N] {
        draw(&mut self.rng)
    }

    /// The stateless-reset key comes from the node's identity, so that a restarted hub can tell its
    /// edges at once (RFC 9000 section 10.3.2).
    pub(crate) fn endpoint(&mut self, identity: &SecretKey) -> EndpointConfig {
        let reset_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &identity.derive(b"reset"));
        let mut config = EndpointConfig::new(Arc::new(reset_key));
        let seed = self.random();
        config.cid_generator(Arc::new(move || Box::new(CidGenerator::new(seed))));
        config.rng_seed(Some(self.random()));
        if self.feedback {
            // The fixed bit tells packets from headers (RFC 9287 lets peers clear it otherwise).
            config.grease_quic_bit(false);
        }
        config
    }

    fn transport(&self, recorder: Recorder) -> TransportConfig {
        let mut ack_frequency = AckFrequencyConfig::default();
        ack_frequency
            .ack_eliciting_threshold(VarInt::from_u32(ACK_THRESHOLD))
            .max_ack_delay(Some(ACK_DELAY));
        let mut config = TransportConfig::default();
        config
            .congestion_controller_factory(Arc::new(recorder))
            .packet_threshold(PACKET_THRESHOLD)
            .time_threshold(TIME_THRESHOLD)
            .ack_frequency_config(Some(ack_frequency))
            .datagram_receive_buffer_size(Some(DATAGRAM_BUFFER))
            .datagram_send_buffer_size(DATAGRAM_BUFFER)
            .max_concurrent_uni_streams(VarInt::from_u32(0))
            .max_concurrent_bidi_streams(VarInt::from_u32(1))
            .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
            .receive_window(VarInt::from_u32(STREAM_WINDOW))
            .crypto_buffer_size(CRYPTO_BUFFER)
            .keep_alive_interval(Some(self.keep_alive))
            .initial_rtt(INITIAL_RTT)
            .max_idle_timeout(self.idle_timeout.try_into().ok());
        let header = if self.feedback { FeedbackHeader::SIZE as u16 } else { 0 };
        let mut discovery = MtuDiscoveryConfig::default();
        discovery
            .upper_bound(MAX_DATAGRAM - header)
            .minimum_change(MTU_STEP)
            .black_hole_cooldown(Duration::ZERO);
        config.mtu_discovery_config(Some(discovery));
        config
    }

    /// A client connection to the hub with this key, which offers routing feedback if that is
    /// wanted, here too.
    pub(crate) fn client(
        &self,
        identity: &SecretKey,
        hub: PublicKey,
        recorder: Recorder,
        feedback: bool,
    ) -> Result<ClientConfig, TlsConfigError> {
        let crypto = identity::client_config(identity, hub, self.protocols(feedback))?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        let first_cids = Arc::clone(&self.first_cids);
        config
            .transport_config(Arc::new(self.transport(recorder)))
            .token_store(Arc::new(noq_proto::NoneTokenStore))
            .initial_dst_cid_provider(Arc::new(move || {
                first_cids.lock().unwrap_or_else(PoisonError::into_inner).fill::<16>()
            }));
        Ok(config)
    }

    /// What the server sides of all connections share.
    pub(crate) fn server(&self, identity: &SecretKey) -> Result<ServerConfig, TlsConfigError> {
        let crypto: Arc<dyn crypto::ServerConfig> =
            Arc::new(identity::server_config(identity, self.protocols(true))?);
        let mut config = ServerConfig::with_crypto(crypto);
        let mut tokens = ValidationTokenConfig::default();
        tokens.sent(0);
        config
            .transport_config(Arc::new(self.transport(Recorder::default())))
            .validation_token_config(tokens)
            .time_source(Arc::clone(&self.clock) as _);
        Ok(config)
    }

    /// The server side of a connection. Its keys and TLS are those of all.
    pub(crate) fn server_with(&self, shared: &ServerConfig, recorder: Recorder) -> ServerConfig {
        let mut config = shared.clone();
        config.transport_config(Arc::new(self.transport(recorder)));
        config
    }
}

fn draw<const N: usize>(rng: &mut StdRng) -> [u8; N] {
    let mut bytes = [0; N];
    rng.fill_bytes(&mut bytes);
    bytes
}

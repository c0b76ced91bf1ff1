//! TLS 1.3 with raw public keys (RFC 7250): the certificate message carries a bare key.
//!
//! Resumption, tickets and 0-RTT are off: each handshake then has the same shape every
//! time, and early data, which an attacker may replay, does not exist.

use std::sync::Arc;

use noq_proto::crypto::rustls::{
    HandshakeData, NoInitialCipherSuite, QuicClientConfig, QuicServerConfig,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption, WantsClientCert};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage, WantsServerCert};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, DistinguishedName, Error,
    OtherError, ServerConfig, SignatureScheme,
};

use super::{PublicKey, SecretKey};

/// The server name to connect with. It is never sent and never checked: the key is the name.
pub const SERVER_NAME: &str = "polypath";

/// TLS could not be configured.
#[derive(Debug, thiserror::Error)]
pub enum TlsConfigError {
    /// The TLS library refuses the key or the protocol version.
    #[error("TLS cannot be configured: {0}")]
    Tls(Error),
    /// The TLS library lacks the cipher suite of QUIC's Initial packets (RFC 9001, section 5.2).
    #[error("TLS cannot be configured: {0}")]
    Suite(NoInitialCipherSuite),
}

impl From<Error> for TlsConfigError {
    fn from(error: Error) -> Self {
        Self::Tls(error)
    }
}

/// The server at the other end is not the hub that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server's key is {found}, but the hub's is {expected}: wrong address or an impostor")]
pub struct WrongHubKey {
    /// The key of the hub, as in the join string.
    pub expected: PublicKey,
    /// The key that the server presented.
    pub found: PublicKey,
}

impl WrongHubKey {
    /// Finds this error in the reason for which a connection was lost.
    pub fn find(error: &noq_proto::ConnectionError) -> Option<Self> {
        let noq_proto::ConnectionError::TransportError(transport) = error else { return None };
        let Error::InvalidCertificate(CertificateError::Other(other)) =
            transport.crypto.as_ref()?.downcast_ref::<Error>()?
        else {
            return None;
        };
        other.0.downcast_ref().copied()
    }
}

/// TLS for an edge: presents the key of `secret` and accepts the server with the key `hub` alone.
/// Speaks one of the application protocols `alpn`.
///
/// # Errors
/// When the TLS library lacks an algorithm that this needs.
// For a benchmark that compares a bond with a QUIC stream of the same keys.
#[doc(hidden)]
pub fn client_config(
    secret: &SecretKey,
    hub: PublicKey,
    alpn: &[&[u8]],
) -> Result<QuicClientConfig, TlsConfigError> {
    let key = AlwaysResolvesClientRawPublicKeys::new(certified_key(secret)?);
    let config = expecting(hub)?.with_client_cert_resolver(Arc::new(key));
    QuicClientConfig::try_from(of_client(config, alpn)).map_err(TlsConfigError::Suite)
}

/// TLS for an edge over a byte stream to the server with the key `hub` alone. Who the edge is, it
/// does not say. Speaks the application protocol `alpn`.
///
/// # Errors
/// When the TLS library lacks an algorithm that this needs.
pub fn stream_client_config(hub: PublicKey, alpn: &[u8]) -> Result<ClientConfig, TlsConfigError> {
    Ok(of_client(expecting(hub)?.with_no_client_auth(), &[alpn]))
}

/// A client of the server with this key.
fn expecting(hub: PublicKey) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = RawKeyVerifier { expected: Some(hub), provider: Arc::clone(&provider) };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)))
}

/// What clients have in common.
fn of_client(mut config: ClientConfig, alpn: &[&[u8]]) -> ClientConfig {
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    config
}

/// TLS for a hub: presents the key of `secret` and accepts every edge that proves possession of an
/// Ed25519 key. What the edge may do is decided afterwards, by that key. Speaks the
/// first of the application protocols `alpn` that the edge speaks.
///
/// # Errors
/// When the TLS library lacks an algorithm that this needs.
// For a benchmark that compares a bond with a QUIC stream of the same keys.
#[doc(hidden)]
pub fn server_config(
    secret: &SecretKey,
    alpn: &[&[u8]],
) -> Result<QuicServerConfig, TlsConfigError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = RawKeyVerifier { expected: None, provider: Arc::clone(&provider) };
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?;
    let config = of_server(builder.with_client_cert_verifier(Arc::new(verifier)), secret, alpn)?;
    QuicServerConfig::try_from(config).map_err(TlsConfigError::Suite)
}

/// TLS for a hub over byte streams: presents the key of `secret` to whoever connects, and asks for
/// no key. Speaks the application protocol `alpn`.
///
/// # Errors
/// When the TLS library lacks an algorithm that this needs.
pub fn stream_server_config(
    secret: &SecretKey,
    alpn: &[u8],
) -> Result<ServerConfig, TlsConfigError> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])?;
    Ok(of_server(builder.with_no_client_auth(), secret, &[alpn])?)
}

/// What servers have in common.
fn of_server(
    builder: ConfigBuilder<ServerConfig, WantsServerCert>,
    secret: &SecretKey,
    alpn: &[&[u8]],
) -> Result<ServerConfig, Error> {
    let key = AlwaysResolvesServerRawPublicKeys::new(certified_key(secret)?);
    let mut config = builder.with_cert_resolver(Arc::new(key));
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.max_early_data_size = 0;
    Ok(config)
}

/// The key that the peer of `connection` proved to possess; `None` until it has done so.
pub(crate) fn peer_public_key(connection: &noq_proto::Connection) -> Option<PublicKey> {
    let session = connection.crypto_session();
    if session.is_handshaking() {
        return None;
    }
    let identity = session.peer_identity()?.downcast::<Vec<CertificateDer<'static>>>().ok()?;
    PublicKey::from_spki(identity.first()?)
}

/// The application protocol that the ends of `connection` have agreed on; `None` until then.
pub(crate) fn application_protocol(connection: &noq_proto::Connection) -> Option<Vec<u8>> {
    connection.crypto_session().handshake_data()?.downcast::<HandshakeData>().ok()?.protocol
}

fn certified_key(secret: &SecretKey) -> Result<Arc<CertifiedKey>, Error> {
    let pkcs8 = secret.pkcs8();
    let key = ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(pkcs8.as_slice()))?;
    let spki = CertificateDer::from(secret.public().to_spki().to_vec());
    Ok(Arc::new(CertifiedKey::new(vec![spki], key)))
}

/// Accepts a raw public key of which the other end proves possession: that of `expected` alone, if
/// it is given.
#[derive(Debug)]
struct RawKeyVerifier {
    expected: Option<PublicKey>,
    provider: Arc<CryptoProvider>,
}

impl RawKeyVerifier {
    fn check(&self, end_entity: &CertificateDer<'_>) -> Result<(), Error> {
        let found = PublicKey::from_spki(end_entity).ok_or(CertificateError::BadEncoding)?;
        match self.expected.filter(|expected| *expected != found) {
            None => Ok(()),
            Some(expected) => {
                let wrong = WrongHubKey { expected, found };
                Err(CertificateError::Other(OtherError(Arc::new(wrong))).into())
            }
        }
    }
}

/// What the traits for verifying servers and clients have in common: TLS 1.3 alone, and signatures
/// by raw Ed25519 keys.
macro_rules! signatures_of_raw_keys {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _cert: &CertificateDer<'_>,
            _signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::General("no version of TLS but 1.3 is offered".to_owned()))
        }

        /// Checks the CertificateVerify message (RFC 8446, section 4.4.3): proof of possession.
        fn verify_tls13_signature(
            &self,
            message: &[u8],
            key: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let spki = SubjectPublicKeyInfoDer::from(key.as_ref());
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls13_signature_with_raw_key(message, &spki, signed, algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for RawKeyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    signatures_of_raw_keys!();
}

impl ClientCertVerifier for RawKeyVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    signatures_of_raw_keys!();
}

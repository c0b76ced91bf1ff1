//! Real QUIC handshakes in memory, without loss or delay.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq_proto::{ClientConfig, ServerConfig};

use super::join_proof::JoinProofError;
use super::*;
use crate::quic::End;

const ALPN: &[u8] = b"polypath-test";

fn end(port: u16, server: Option<ServerConfig>) -> End {
    End::new(SocketAddr::from(([192, 0, 2, 1], port)), server)
}

struct Pair {
    edge: End,
    hub: End,
}

impl Pair {
    /// Runs a handshake of the edge, which expects the key `expected`, with the hub to its end.
    fn handshake(edge_key: &SecretKey, hub_key: &SecretKey, expected: PublicKey) -> Self {
        let crypto = server_config(hub_key, &[ALPN]).unwrap();
        let hub = end(4433, Some(ServerConfig::with_crypto(Arc::new(crypto))));
        let mut pair = Self { edge: end(50_000, None), hub };
        #[expect(clippy::disallowed_methods, reason = "noq starts its clock at an Instant")]
        let now = Instant::now();
        let crypto = client_config(edge_key, expected, &[ALPN]).unwrap();
        let config = ClientConfig::new(Arc::new(crypto));
        pair.edge.connect(now, config, pair.hub.address);
        pair.run(now);
        pair
    }

    /// Exchanges datagrams until both ends are silent; 20 turns are 10 round trips, and a
    /// handshake takes 2.
    fn run(&mut self, mut now: Instant) {
        for _ in 0..20 {
            let sent = self.edge.transmit(now);
            sent.iter().for_each(|datagram| self.hub.receive(now, self.edge.address, datagram));
            let answered = self.hub.transmit(now);
            answered.iter().for_each(|datagram| self.edge.receive(now, self.hub.address, datagram));
            if sent.is_empty() && answered.is_empty() {
                return;
            }
            now += Duration::from_millis(1);
        }
        panic!("the handshake does not come to an end");
    }
}

fn keys() -> (SecretKey, SecretKey) {
    (SecretKey::from_seed([1; 32]), SecretKey::from_seed([2; 32]))
}

#[test]
fn each_end_sees_the_key_of_the_other() {
    let (edge, hub) = keys();
    let pair = Pair::handshake(&edge, &hub, hub.public());
    assert!(pair.edge.connected() && pair.hub.connected());
    assert_eq!(peer_public_key(pair.edge.connection()), Some(hub.public()));
    assert_eq!(peer_public_key(pair.hub.connection()), Some(edge.public()));
}

#[test]
fn a_hub_with_another_key_is_refused_with_both_keys_named() {
    let (edge, hub) = keys();
    let expected = SecretKey::from_seed([3; 32]).public();
    let pair = Pair::handshake(&edge, &hub, expected);
    assert!(!pair.edge.connected() && !pair.hub.connected());
    let lost = pair.edge.lost().expect("the edge gives up");
    assert_eq!(WrongHubKey::find(lost), Some(WrongHubKey { expected, found: hub.public() }));
    let message = lost.to_string();
    assert!(message.contains(&expected.to_string()), "{message}");
    assert!(message.contains(&hub.public().to_string()), "{message}");
    assert!(pair.hub.lost().is_some(), "the hub is told");
}

#[test]
fn an_impostor_that_only_knows_the_public_key_is_refused() {
    let (edge, hub) = keys();
    let impostor = SecretKey::from_seed([4; 32]).presenting(hub.public());
    let pair = Pair::handshake(&edge, &impostor, hub.public());
    assert!(!pair.edge.connected());
    let message = pair.edge.lost().expect("the edge gives up").to_string();
    assert!(message.contains("BadSignature"), "{message}");
}

#[test]
fn an_edge_that_presents_a_key_it_does_not_own_is_refused() {
    let (edge, hub) = keys();
    let thief = SecretKey::from_seed([5; 32]).presenting(edge.public());
    let pair = Pair::handshake(&thief, &hub, hub.public());
    assert!(!pair.hub.connected());
    assert_eq!(peer_public_key(pair.hub.connection()), None);
    let message = pair.hub.lost().expect("the hub gives up").to_string();
    assert!(message.contains("BadSignature"), "{message}");
}

#[test]
fn proofs_agree_on_both_ends_and_differ_by_secret_and_connection() {
    let (edge, hub) = keys();
    let first = Pair::handshake(&edge, &hub, hub.public());
    let second = Pair::handshake(&edge, &hub, hub.public());
    let secret = BondSecret::new([9; 32]);
    let proof = join_proof(&secret, first.edge.connection()).unwrap();
    assert_eq!(join_proof(&secret, first.hub.connection()), Ok(proof.clone()));
    assert_eq!(verify_join_proof(&secret, first.hub.connection(), &proof), Ok(()));

    let mismatch = Err(JoinProofError::Mismatch);
    assert_eq!(
        verify_join_proof(&BondSecret::new([8; 32]), first.hub.connection(), &proof),
        mismatch
    );
    assert_eq!(verify_join_proof(&secret, second.hub.connection(), &proof), mismatch);
    let mut damaged = *proof.as_bytes();
    damaged[31] ^= 1;
    let damaged = BondSecret::new(damaged);
    assert_eq!(verify_join_proof(&secret, first.hub.connection(), &damaged), mismatch);
}

#[test]
fn nothing_is_proved_before_the_handshake() {
    let (edge, hub) = keys();
    let mut end = end(50_000, None);
    let crypto = client_config(&edge, hub.public(), &[ALPN]).unwrap();
    #[expect(clippy::disallowed_methods, reason = "noq starts its clock at an Instant")]
    let now = Instant::now();
    let config = ClientConfig::new(Arc::new(crypto));
    let to = SocketAddr::from(([192, 0, 2, 2], 4433));
    end.connection = Some(end.endpoint.connect(now, config, to, SERVER_NAME).unwrap());
    assert_eq!(peer_public_key(end.connection()), None);
    let incomplete = Err(JoinProofError::HandshakeIncomplete);
    assert_eq!(join_proof(&BondSecret::NONE, end.connection()), incomplete);
}

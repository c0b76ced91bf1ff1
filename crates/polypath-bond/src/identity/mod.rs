//! Who a node is: an Ed25519 key, shown in TLS as a raw public key (RFC 7250), without any CA.
//!
//! An edge knows the hub's [`PublicKey`] from a [`JoinString`] and connects to nobody else. A hub
//! accepts every key that proves possession of its secret half and decides afterwards, by
//! [`peer_public_key`], what that key may do. A later path proves by [`join_proof`] that it
//! belongs to a bond.
mod hub_address;
mod join_proof;
mod join_string;
mod key;
mod tls;

pub use hub_address::{HubAddress, ParseHubAddressError};
pub use join_proof::{JoinProofError, join_proof, verify_join_proof};
pub use join_string::{JoinString, JoinStringError};
pub use key::{ParseKeyError, PublicKey, SecretKey};
pub use tls::{
    SERVER_NAME, TlsConfigError, WrongHubKey, application_protocol, client_config, peer_public_key,
    server_config,
};

#[cfg(test)]
mod handshake_tests;

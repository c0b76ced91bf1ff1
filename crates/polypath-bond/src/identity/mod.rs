//! Who a node is: an Ed25519 key, shown in TLS as a raw public key (RFC 7250), without any CA.
//!
//! An edge knows the hub's [`PublicKey`] from a [`JoinString`] and connects to nobody else. A hub
//! accepts every key that proves possession of its secret half and decides afterwards, by that key,
//! what the edge may do. A later path proves by the secret of its bond that it belongs to it.
mod bond_secret;
mod hub_address;
mod join_proof;
mod join_string;
mod key;
mod tls;

pub use bond_secret::BondSecret;
pub use hub_address::{HubAddress, ParseHubAddressError};
pub(crate) use join_proof::{join_proof, verify_join_proof};
pub use join_string::{JoinString, JoinStringError};
pub use key::{ParseKeyError, PublicKey, SecretKey};
pub use tls::{
    SERVER_NAME, TlsConfigError, WrongHubKey, client_config, server_config, stream_client_config,
    stream_server_config,
};
pub(crate) use tls::{application_protocol, peer_public_key};

#[cfg(test)]
mod handshake_tests;

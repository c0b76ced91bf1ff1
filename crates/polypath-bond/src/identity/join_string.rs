//! The one line that an edge needs to join a hub.

use core::fmt;
use core::str::FromStr;

use super::{HubAddress, ParseHubAddressError, ParseKeyError, PublicKey};

/// What an edge needs to know of a hub, as one line to copy and paste:
/// `polypath:1/192.0.2.1:4433,hub.example.org:4433/ppp1...`.
///
/// It holds no secret: which edges may join is decided by the hub's list of allowed keys. The key,
/// with its checksum, stands last, so that a line that was cut off is noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinString {
    hub: PublicKey,
    addresses: Vec<HubAddress>,
}

impl JoinString {
    /// The version of the wire protocol that this join string asks for.
    pub const VERSION: u8 = 1;
    /// How many addresses a join string can hold.
    pub const MAX_ADDRESSES: usize = 8;

    /// The join string of the hub with the key `hub`, reachable at `addresses`, the best one first.
    ///
    /// # Errors
    /// Without an address, or with more than [`JoinString::MAX_ADDRESSES`].
    pub fn new(hub: PublicKey, addresses: Vec<HubAddress>) -> Result<Self, JoinStringError> {
        match addresses.len() {
            1..=Self::MAX_ADDRESSES => Ok(Self { hub, addresses }),
            count => Err(JoinStringError::AddressCount(count)),
        }
    }

    /// The key of the hub.
    pub const fn hub(&self) -> PublicKey {
        self.hub
    }

    /// Where the hub listens: at least one address, the best one first.
    pub fn addresses(&self) -> &[HubAddress] {
        &self.addresses
    }
}

/// A text that is not a join string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinStringError {
    /// Not of the form of a join string.
    #[error(
        "not a join string: {0}; allowed: polypath:1/ADDRESS:PORT[,...]/ppp1... as the hub prints it"
    )]
    Form(&'static str),
    /// For another version of the wire protocol.
    #[error("the join string is for protocol version {0:?}; allowed: version 1")]
    Version(String),
    /// No address or too many.
    #[error("the join string has {0} hub addresses; allowed: 1 to 8")]
    AddressCount(usize),
    /// An address is malformed.
    #[error("the join string has a bad address: {0}")]
    Address(ParseHubAddressError),
    /// The key is malformed, for example because the end of the line is missing.
    #[error("the join string has a bad hub key: {0}")]
    Key(ParseKeyError),
}

impl fmt::Display for JoinString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "polypath:{}/", Self::VERSION)?;
        for (i, address) in self.addresses.iter().enumerate() {
            write!(f, "{}{address}", if i > 0 { "," } else { "" })?;
        }
        write!(f, "/{}", self.hub)
    }
}

impl FromStr for JoinString {
    type Err = JoinStringError;

    fn from_str(text: &str) -> Result<Self, JoinStringError> {
        let rest = text
            .trim()
            .strip_prefix("polypath:")
            .ok_or(JoinStringError::Form("it does not begin with \"polypath:\""))?;
        let mut parts = rest.splitn(3, '/');
        let version = parts.next().unwrap_or_default();
        if version != Self::VERSION.to_string() {
            return Err(JoinStringError::Version(version.to_owned()));
        }
        let addresses = parts.next().ok_or(JoinStringError::Form("its addresses are missing"))?;
        let hub = parts.next().ok_or(JoinStringError::Form("the hub's key is missing"))?;
        let hub = hub.parse().map_err(JoinStringError::Key)?;
        Self::new(hub, parse_addresses(addresses)?)
    }
}

fn parse_addresses(text: &str) -> Result<Vec<HubAddress>, JoinStringError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(str::parse).collect::<Result<_, _>>().map_err(JoinStringError::Address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::SecretKey;
    use proptest::prelude::*;
    use std::net::SocketAddr;

    fn hub() -> PublicKey {
        SecretKey::from_seed([7; 32]).public()
    }

    fn address() -> impl Strategy<Value = HubAddress> {
        prop_oneof![
            (any::<[u8; 4]>(), 1u16..).prop_map(|a| SocketAddr::from(a).into()),
            (any::<[u16; 8]>(), 1u16..).prop_map(|a| SocketAddr::from(a).into()),
            ("[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?(\\.[a-z]{2,6}){0,3}\\.[a-z]{2,3}", 1u16..)
                .prop_map(|(host, port)| HubAddress::Name { host, port }),
        ]
    }

    #[test]
    fn it_is_one_short_line_without_blanks() {
        let join = JoinString::new(hub(), vec!["192.0.2.1:4433".parse().unwrap()]).unwrap();
        assert_eq!(join.to_string(), format!("polypath:1/192.0.2.1:4433/{}", hub()));
        assert_eq!(join.to_string().len(), 88);
        assert_eq!(format!(" {join}\n").parse(), Ok(join));
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_is_allowed() {
        let key = hub().to_string();
        for (bad, wrong, allowed) in [
            (String::new(), "does not begin", "polypath:1/"),
            (format!("poly:1/h:1/{key}"), "does not begin", "polypath:1/"),
            (format!("polypath:2/h:1/{key}"), "version \"2\"", "version 1"),
            ("polypath:1".to_owned(), "addresses are missing", "ADDRESS:PORT"),
            ("polypath:1/h:1".to_owned(), "key is missing", "ppp1..."),
            (format!("polypath:1//{key}"), "0 hub addresses", "1 to 8"),
            (format!("polypath:1/{}/{key}", ["h:1"; 9].join(",")), "9 hub addresses", "1 to 8"),
            (format!("polypath:1/h/{key}"), "port is missing", "hub.example.org:4433"),
            (format!("polypath:1/h:1/{}", &key[..60]), "checksum is wrong", "ppp1..."),
        ] {
            let message = bad.parse::<JoinString>().unwrap_err().to_string();
            assert!(message.contains(wrong) && message.contains(allowed), "{bad}: {message}");
        }
    }

    proptest! {
        #[test]
        fn join_strings_round_trip(
            key: [u8; 32],
            addresses in prop::collection::vec(address(), 1..=JoinString::MAX_ADDRESSES),
        ) {
            let join = JoinString::new(PublicKey::from_bytes(key), addresses).unwrap();
            prop_assert_eq!(join.to_string().parse(), Ok(join));
        }

        #[test]
        fn a_cut_line_is_noticed(keep in 0usize..88) {
            let join = JoinString::new(hub(), vec!["192.0.2.1:4433".parse().unwrap()]).unwrap();
            prop_assert!(join.to_string()[..keep].parse::<JoinString>().is_err());
        }

        #[test]
        fn no_text_panics(text in "(polypath:)?(1/)?\\PC{0,60}(/ppp1[a-z0-9]{0,60})?") {
            prop_assert!(text.parse::<JoinString>().is_err());
        }
    }
}

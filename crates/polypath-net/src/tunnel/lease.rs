//! Which addresses an edge has in the network of its hub's gateway (docs/tunnel.md, section 6).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net, PrefixLenError};

use super::Progress;
use super::wire::{Reader, Short};

const TYPE_IPV4: u8 = 1;
const TYPE_IPV6: u8 = 4;

/// The addresses of an edge, each with the prefix of the network that it is in. At least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    v4: Option<Ipv4Net>,
    v6: Option<Ipv6Net>,
}

/// Bytes that are no lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// There are none, or more than one of each family.
    #[error("a lease of {0} addresses; allowed are 1 and 2, of different families")]
    Count(u8),
    /// The type is neither IPv4 nor IPv6.
    #[error("address type {0} in a lease; allowed are 1 (IPv4) and 4 (IPv6)")]
    Type(u8),
    /// Two addresses of a family.
    #[error("two addresses of a family in a lease; allowed is one of each")]
    Twice,
    /// The prefix is longer than the address.
    #[error("a prefix of {0} bits in a lease; allowed are 0 to 32 with IPv4, 0 to 128 with IPv6")]
    Prefix(u8),
}

impl Lease {
    /// The addresses of an edge; `None` without any.
    pub fn new(v4: Option<Ipv4Net>, v6: Option<Ipv6Net>) -> Option<Self> {
        (v4.is_some() || v6.is_some()).then_some(Self { v4, v6 })
    }

    /// The IPv4 address.
    pub fn v4(&self) -> Option<Ipv4Net> {
        self.v4
    }

    /// The IPv6 address.
    pub fn v6(&self) -> Option<Ipv6Net> {
        self.v6
    }

    /// Its addresses, with the prefixes of their networks.
    pub fn addresses(&self) -> impl Iterator<Item = IpNet> + use<> {
        self.v4.map(IpNet::V4).into_iter().chain(self.v6.map(IpNet::V6))
    }

    /// The lease as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.addresses().count() as u8];
        self.addresses().for_each(|net| write_address(net, &mut bytes));
        bytes
    }

    /// Decodes a lease from the front of `bytes`.
    ///
    /// # Errors
    /// When they are none.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, LeaseError> {
        let mut reader = Reader::new(bytes);
        match read(&mut reader)? {
            Ok(value) => Ok(Progress::Done { value, used: reader.position() }),
            Err(Short { total }) => Ok(Progress::NeedMore { total }),
        }
    }
}

fn read(reader: &mut Reader<'_>) -> Result<Result<Lease, Short>, LeaseError> {
    let mut lease = Lease { v4: None, v6: None };
    let count = match reader.u8() {
        Ok(count @ (1 | 2)) => count,
        Ok(count) => return Err(LeaseError::Count(count)),
        Err(short) => return Ok(Err(short)),
    };
    for _ in 0..count {
        match read_address(reader)? {
            Ok(IpNet::V4(net)) if lease.v4.is_none() => lease.v4 = Some(net),
            Ok(IpNet::V6(net)) if lease.v6.is_none() => lease.v6 = Some(net),
            Ok(_) => return Err(LeaseError::Twice),
            Err(short) => return Ok(Err(short)),
        }
    }
    Ok(Ok(lease))
}

/// Type, address and length of the prefix.
pub(super) fn write_address(net: IpNet, bytes: &mut Vec<u8>) {
    match net.addr() {
        IpAddr::V4(address) => {
            bytes.push(TYPE_IPV4);
            bytes.extend(address.octets());
        }
        IpAddr::V6(address) => {
            bytes.push(TYPE_IPV6);
            bytes.extend(address.octets());
        }
    }
    bytes.push(net.prefix_len());
}

pub(super) fn read_address(reader: &mut Reader<'_>) -> Result<Result<IpNet, Short>, LeaseError> {
    let address = match reader.u8() {
        Ok(TYPE_IPV4) => reader.array::<4>().map(|octets| IpAddr::V4(Ipv4Addr::from(octets))),
        Ok(TYPE_IPV6) => reader.array::<16>().map(|octets| IpAddr::V6(Ipv6Addr::from(octets))),
        Ok(other) => return Err(LeaseError::Type(other)),
        Err(short) => return Ok(Err(short)),
    };
    match address.and_then(|address| Ok((address, reader.u8()?))) {
        Ok((address, prefix)) => {
            let net = IpNet::new(address, prefix);
            net.map(Ok).map_err(|PrefixLenError| LeaseError::Prefix(prefix))
        }
        Err(short) => Ok(Err(short)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lease() -> Lease {
        Lease::new("10.77.0.5/16".parse().ok(), "fd77::5/48".parse().ok()).unwrap()
    }

    #[test]
    fn bytes_of_the_specification() {
        let v6 = b"\xfd\x77\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\x30";
        let bytes = [&b"\x02\x01\x0a\x4d\x00\x05\x10\x04"[..], v6].concat();
        assert_eq!(lease().encode(), bytes);
        assert_eq!(Lease::decode(&bytes), Ok(Progress::Done { value: lease(), used: 25 }));
        assert_eq!(Lease::new(None, None), None);
    }

    #[test]
    fn malformed_leases_are_named() {
        let error = |bytes: &[u8]| Lease::decode(bytes).unwrap_err();
        assert_eq!(error(&[0]), LeaseError::Count(0));
        assert_eq!(error(&[3]), LeaseError::Count(3));
        assert_eq!(error(&[1, 3]), LeaseError::Type(3));
        assert_eq!(error(&[1, 1, 10, 0, 0, 1, 33]), LeaseError::Prefix(33));
        assert_eq!(error(&[2, 1, 10, 0, 0, 1, 8, 1, 10, 0, 0, 2, 8]), LeaseError::Twice);
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged_and_a_lease_is_what_it_was(
            bytes in prop::collection::vec(any::<u8>(), 0..40)
        ) {
            if let Ok(Progress::Done { value, used }) = Lease::decode(&bytes) {
                // The order of the families is free.
                prop_assert_eq!(Lease::decode(&value.encode()), Ok(Progress::Done { value, used }));
            }
        }

        #[test]
        fn every_lease_comes_byte_by_byte(cut in 0_usize..25) {
            let bytes = lease().encode();
            let Ok(Progress::NeedMore { total }) = Lease::decode(&bytes[..cut]) else { panic!() };
            prop_assert!((cut + 1..=bytes.len()).contains(&total));
        }
    }
}

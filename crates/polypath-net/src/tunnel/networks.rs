//! Which networks are behind an edge (docs/tunnel.md, section 6).

use ipnet::IpNet;

use super::Progress;
use super::lease::{LeaseError, read_address, write_address};
use super::wire::{Reader, Short};

/// Networks that are routed to an edge, besides its own addresses. At most [`Networks::MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<IpNet>);

/// Bytes that are no list of networks, or too many networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworksError {
    /// There are too many.
    #[error("{0} networks behind an edge; allowed are up to {max}", max = Networks::MAX)]
    Count(usize),
    /// One of them is none.
    #[error(transparent)]
    Network(#[from] LeaseError),
}

impl Networks {
    /// The most that an edge may have.
    pub const MAX: usize = 64;

    /// These networks.
    ///
    /// # Errors
    /// When there are too many.
    pub fn new(networks: Vec<IpNet>) -> Result<Self, NetworksError> {
        match networks.len() {
            0..=Self::MAX => Ok(Self(networks)),
            count => Err(NetworksError::Count(count)),
        }
    }

    /// The networks.
    pub fn as_slice(&self) -> &[IpNet] {
        &self.0
    }

    /// The list as bytes.
    pub fn encode(&self) -> Vec<u8> {
        // At most 64.
        let mut bytes = vec![self.0.len() as u8];
        self.0.iter().for_each(|net| write_address(*net, &mut bytes));
        bytes
    }

    /// Decodes a list from the front of `bytes`.
    ///
    /// # Errors
    /// When they are none.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, NetworksError> {
        let mut reader = Reader::new(bytes);
        match read(&mut reader)? {
            Ok(value) => Ok(Progress::Done { value, used: reader.position() }),
            Err(Short { total }) => Ok(Progress::NeedMore { total }),
        }
    }
}

fn read(reader: &mut Reader<'_>) -> Result<Result<Networks, Short>, NetworksError> {
    let count = match reader.u8() {
        Ok(count) if usize::from(count) <= Networks::MAX => count,
        Ok(count) => return Err(NetworksError::Count(count.into())),
        Err(short) => return Ok(Err(short)),
    };
    let mut networks = Vec::with_capacity(count.into());
    for _ in 0..count {
        match read_address(reader)? {
            Ok(net) => networks.push(net.trunc()),
            Err(short) => return Ok(Err(short)),
        }
    }
    Ok(Ok(Networks(networks)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_of_the_specification() {
        let networks = ["192.168.5.0/24", "fd05::/64"].map(|net| net.parse().unwrap());
        let networks = Networks::new(networks.into()).unwrap();
        let v6 = b"\xfd\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40";
        let bytes = [&b"\x02\x01\xc0\xa8\x05\x00\x18\x04"[..], v6].concat();
        assert_eq!(networks.encode(), bytes);
        assert_eq!(Networks::decode(&bytes), Ok(Progress::Done { value: networks, used: 25 }));
        let none = Networks::default();
        assert_eq!(Networks::decode(&[0, 9]), Ok(Progress::Done { value: none, used: 1 }));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        assert_eq!(Networks::decode(&[65]), Err(NetworksError::Count(65)));
        let error = NetworksError::Network(LeaseError::Prefix(33));
        assert_eq!(Networks::decode(&[1, 1, 10, 0, 0, 0, 33]), Err(error));
        let net: IpNet = "10.0.0.0/8".parse().unwrap();
        assert_eq!(Networks::new(vec![net; 65]), Err(NetworksError::Count(65)));
    }

    proptest! {
        /// Any beginning of a list asks for more, and never for less than is there.
        #[test]
        fn a_list_that_is_cut_asks_for_more(count in 0_usize..8, cut in any::<prop::sample::Index>()) {
            let nets = (0..count).map(|n| format!("10.{n}.0.0/16").parse().unwrap()).collect();
            let bytes = Networks::new(nets).unwrap().encode();
            let cut = cut.index(bytes.len());
            let told = Networks::decode(&bytes[..cut]);
            let asks = matches!(told, Ok(Progress::NeedMore { total }) if (cut + 1..=bytes.len()).contains(&total));
            prop_assert!(asks, "{:?}", told);
        }
    }
}

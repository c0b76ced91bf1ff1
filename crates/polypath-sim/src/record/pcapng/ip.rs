//! IPv4 and UDP.

use super::conversation::PacketPath;
use crate::fabric::Ecn;
use etherparse::{IpEcn, IpNumber, Ipv4Header, UdpHeader};

/// Hops that a packet may make, as Linux sets it.
const TTL: u8 = 64;
/// Content of simulated packets, for checksums.
pub(super) static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A packet that no header can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// More than IPv4 carries.
    #[error("a packet of {bytes} bytes; IPv4 carries up to 65535")]
    TooLarge {
        /// Its size from the IP header on.
        bytes: usize,
    },
    /// More options than a TCP header has room for.
    #[error("{bytes} bytes of TCP options; a header has room for 40")]
    Options {
        /// Their size.
        bytes: usize,
    },
}

/// The IPv4 header of a packet with so many bytes behind it.
pub(super) fn header(
    way: &PacketPath<'_>,
    protocol: IpNumber,
    ecn: Ecn,
    payload: usize,
) -> Result<Ipv4Header, EncodeError> {
    let [source, destination] = way.addresses();
    let too_large = EncodeError::TooLarge { bytes: payload + Ipv4Header::MIN_LEN };
    let len = u16::try_from(payload).map_err(|_| too_large)?;
    let header = Ipv4Header::new(len, TTL, protocol, source, destination);
    let mut header = header.map_err(|_| too_large)?;
    header.ecn = match ecn {
        Ecn::NotCapable => IpEcn::NotEct,
        Ecn::Capable => IpEcn::Ect0,
        Ecn::Congested => IpEcn::CongestionExperienced,
    };
    header.header_checksum = header.calc_header_checksum();
    Ok(header)
}

/// Writes a UDP packet whose payload is `content` and zeros up to `payload` bytes.
pub(super) fn udp(
    way: &PacketPath<'_>,
    ecn: Ecn,
    content: &[u8],
    payload: usize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let payload = payload.max(content.len());
    let ip = header(way, IpNumber::UDP, ecn, UdpHeader::LEN + payload)?;
    let [source, destination] = way.ports();
    // Zeros change no checksum, but its length does.
    let padded = [content, &ZEROS[..payload - content.len()]].concat();
    let udp = UdpHeader::with_ipv4_checksum(source, destination, &ip, &padded);
    let udp = udp.map_err(|_| EncodeError::TooLarge { bytes: ip.total_len.into() })?;
    out.extend(ip.to_bytes());
    out.extend(udp.to_bytes());
    out.extend(content);
    Ok(())
}

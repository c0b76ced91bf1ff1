//! Explicit congestion notification through a tunnel (RFC 6040).

use etherparse::IpEcn;
use etherparse::IpEcn::{CongestionExperienced, Ect1, NotEct};

use crate::checksum;
use crate::hop_limit::IPV4_CHECKSUM;
use crate::packet::Packet;

/// A packet that was marked on the way, and whose transport does not understand marks: it is
/// dropped, which is the signal that its transport understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet marked on the way (CE) whose transport is not ECN-capable")]
pub struct MarkedNotCapable;

/// What a tunnel sets in the outer header of a packet with this field, in normal mode: the same
/// (RFC 6040, section 4.1).
pub const fn encapsulate(inner: IpEcn) -> IpEcn {
    inner
}

/// What the field of a packet becomes that leaves a tunnel, from what it was inside and outside
/// (RFC 6040, section 4.2, figure 4).
///
/// # Errors
/// When the packet is to be dropped.
pub const fn decapsulate(inner: IpEcn, outer: IpEcn) -> Result<IpEcn, MarkedNotCapable> {
    match (inner, outer) {
        (NotEct, CongestionExperienced) => Err(MarkedNotCapable),
        (NotEct, _) => Ok(NotEct),
        (_, CongestionExperienced) | (CongestionExperienced, _) => Ok(CongestionExperienced),
        (_, Ect1) => Ok(Ect1),
        (inner, _) => Ok(inner),
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Gives a packet that leaves a tunnel the field that [`decapsulate`] says.
    ///
    /// # Errors
    /// When the packet is to be dropped; it is as it was.
    pub fn decapsulate_ecn(&mut self, outer: IpEcn) -> Result<(), MarkedNotCapable> {
        let inner = self.ecn();
        let ecn = decapsulate(inner, outer)?;
        if ecn != inner {
            self.set_ecn(ecn);
        }
        Ok(())
    }

    /// Sets the field, and mends the checksum of IPv4.
    pub fn set_ecn(&mut self, ecn: IpEcn) {
        let is_ipv4 = self.is_ipv4();
        let header = self.header_mut();
        if is_ipv4 {
            let type_of_service = header[1] & !0b11 | ecn as u8;
            checksum::replace(header, IPV4_CHECKSUM, 1, &[type_of_service]);
        } else {
            header[1] = header[1] & !0b11_0000 | (ecn as u8) << 4;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, V4, V6};
    use etherparse::IpEcn::Ect0;

    const CE: IpEcn = CongestionExperienced;
    const ALL: [IpEcn; 4] = [NotEct, Ect0, Ect1, CE];

    /// RFC 6040, figure 4: a row for each inner field, a column for each outer one.
    const FIGURE_4: [[Option<IpEcn>; 4]; 4] = [
        [Some(NotEct), Some(NotEct), Some(NotEct), None],
        [Some(Ect0), Some(Ect0), Some(Ect1), Some(CE)],
        [Some(Ect1), Some(Ect1), Some(Ect1), Some(CE)],
        [Some(CE), Some(CE), Some(CE), Some(CE)],
    ];

    fn packet(v6: bool, ecn: IpEcn) -> Vec<u8> {
        let mut bytes = fixtures::udp(if v6 { V6 } else { V4 }, 1, 2, b"x");
        Packet::parse(&mut bytes[..]).unwrap().set_ecn(ecn);
        bytes
    }

    #[test]
    fn fields_combine_as_figure_4_of_rfc_6040_says() {
        for (inner, row) in ALL.into_iter().zip(FIGURE_4) {
            for (outer, expected) in ALL.into_iter().zip(row) {
                assert_eq!(decapsulate(inner, outer).ok(), expected, "{inner:?} in {outer:?}");
                for v6 in [false, true] {
                    let mut bytes = packet(v6, inner);
                    let done = Packet::parse(&mut bytes[..]).unwrap().decapsulate_ecn(outer);
                    assert_eq!(done.ok(), expected.map(|_| ()));
                    assert_eq!(bytes, packet(v6, expected.unwrap_or(inner)));
                }
            }
        }
    }

    #[test]
    fn nothing_but_the_field_and_the_checksum_changes() {
        for v6 in [false, true] {
            let before = packet(v6, NotEct);
            let dscp = Packet::parse(&before).unwrap().dscp();
            for ecn in ALL {
                let after = packet(v6, ecn);
                let packet = Packet::parse(&after).expect("the checksum is right");
                assert_eq!((packet.ecn(), packet.dscp()), (ecn, dscp));
                let from = if v6 { 2 } else { 12 };
                assert_eq!(after[from..], before[from..]);
            }
        }
    }

    #[test]
    fn a_tunnel_without_congestion_changes_nothing() {
        for inner in ALL {
            assert_eq!(decapsulate(inner, encapsulate(inner)), Ok(inner));
        }
    }
}

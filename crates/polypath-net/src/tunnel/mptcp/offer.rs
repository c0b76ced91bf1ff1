//! What a hub says to an edge that may have connections beside the bond.

use std::num::NonZeroU16;

use super::SessionSecret;
use crate::tunnel::Progress;
use crate::tunnel::wire::{Reader, Short};

/// A session: where connections go, and what they prove to be of it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MptcpOffer {
    /// The TCP port, at every address of the hub.
    pub port: NonZeroU16,
    /// The session's number.
    pub session: u64,
    /// Its secret.
    pub secret: SessionSecret,
    /// Whether connections are encrypted, by TLS.
    pub tls: bool,
}

/// Bytes that are no offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MptcpOfferError {
    /// Nothing can be connected to port 0.
    #[error("the hub offers TCP port 0; allowed are 1 to 65535")]
    Port,
    /// It does not say whether connections are encrypted.
    #[error("the hub's offer says {0} of TLS; allowed are 0 (none) and 1 (TLS)")]
    Tls(u8),
}

impl MptcpOffer {
    /// The offer as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let Self { port, session, secret, tls } = self;
        let tls = [u8::from(*tls)];
        [&port.get().to_be_bytes()[..], &session.to_be_bytes(), &secret.0, &tls].concat()
    }

    /// Decodes an offer from the front of `bytes`.
    ///
    /// # Errors
    /// When they are none.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, MptcpOfferError> {
        let mut reader = Reader::new(bytes);
        match read(&mut reader) {
            Ok(offer) => Ok(Progress::Done { value: offer?, used: reader.position() }),
            Err(Short { total }) => Ok(Progress::NeedMore { total }),
        }
    }
}

fn read(reader: &mut Reader<'_>) -> Result<Result<MptcpOffer, MptcpOfferError>, Short> {
    let Some(port) = NonZeroU16::new(reader.u16()?) else { return Ok(Err(MptcpOfferError::Port)) };
    let (session, secret) = (reader.u64()?, SessionSecret(reader.array()?));
    let tls = reader.flag()?.map_err(MptcpOfferError::Tls);
    Ok(tls.map(|tls| MptcpOffer { port, session, secret, tls }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_specification() {
        let port = NonZeroU16::new(4_433).unwrap();
        let secret = SessionSecret([0x5a; 32]);
        let front = [&b"\x11\x51\0\0\0\0\0\0\0\x09"[..], &[0x5a; 32]].concat();
        for tls in [false, true] {
            let offer = MptcpOffer { port, session: 9, secret: secret.clone(), tls };
            let bytes = offer.encode();
            assert_eq!(bytes, [&front[..], &[u8::from(tls)]].concat());
            assert_eq!(MptcpOffer::decode(&bytes), Ok(Progress::Done { value: offer, used: 43 }));
            for cut in 0..43 {
                let Ok(Progress::NeedMore { total }) = MptcpOffer::decode(&bytes[..cut]) else {
                    panic!("{cut} bytes are no offer")
                };
                assert!(cut < total && total <= 43, "{cut}: {total}");
            }
        }
        let unknown = [&front[..], &[2]].concat();
        assert_eq!(MptcpOffer::decode(&unknown), Err(MptcpOfferError::Tls(2)));
        assert_eq!(MptcpOffer::decode(&[0, 0]), Err(MptcpOfferError::Port));
    }
}

//! The key pair of a node and its text forms.

use core::fmt;
use core::str::FromStr;

use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32m, Hrp};
use ring::signature::{Ed25519KeyPair, KeyPair};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of an Ed25519 seed and of an Ed25519 public key (RFC 8032, section 5.1.5).
const KEY_LEN: usize = 32;

/// The DER of an Ed25519 SubjectPublicKeyInfo, up to the key (RFC 8410, section 4).
const SPKI_PREFIX: [u8; 12] = [0x30, 42, 0x30, 5, 0x06, 3, 0x2b, 0x65, 0x70, 0x03, 33, 0];

/// The DER of an Ed25519 PKCS #8 private key, version 0, up to the seed (RFC 8410, section 7).
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 46, 0x02, 1, 0, 0x30, 5, 0x06, 3, 0x2b, 0x65, 0x70, 0x04, 34, 0x04, 32];

const PUBLIC_PREFIX: Hrp = Hrp::parse_unchecked("ppp");
const SECRET_PREFIX: Hrp = Hrp::parse_unchecked("ppk");

/// The secret half of a node's identity: an Ed25519 seed (RFC 8032). Wiped from memory on drop.
///
/// [`Debug`](fmt::Debug) shows the public key only. The text form, [`SecretKey::to_text`], is
/// Bech32m (BIP 350) with the prefix `ppk1`: its checksum finds every typing error of up to four
/// characters.
#[derive(Clone)]
pub struct SecretKey {
    seed: Zeroizing<[u8; KEY_LEN]>,
    public: PublicKey,
}

impl SecretKey {
    /// The key of `seed`: 32 bytes from a cryptographic random number generator.
    pub fn from_seed(mut seed: [u8; KEY_LEN]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed)
            .expect("every string of 32 bytes is an Ed25519 seed (RFC 8032, section 5.1.5)");
        let mut public = [0; KEY_LEN];
        public.copy_from_slice(pair.public_key().as_ref());
        let secret = Self { seed: Zeroizing::new(seed), public: PublicKey(public) };
        seed.zeroize();
        secret
    }

    /// A key for another purpose, named by `label`, that only the holder of this key can make.
    pub(crate) fn derive(&self, label: &[u8]) -> [u8; KEY_LEN] {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &*self.seed);
        let mut derived = [0; KEY_LEN];
        derived.copy_from_slice(ring::hmac::sign(&key, label).as_ref());
        derived
    }

    /// The public half.
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    /// The text form, `ppk1...`: whoever reads it can act as this node.
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(to_bech32(SECRET_PREFIX, &self.seed))
    }

    /// A liar that signs with this key and presents `public` as its own.
    #[cfg(test)]
    pub(super) fn presenting(mut self, public: PublicKey) -> Self {
        self.public = public;
        self
    }

    /// The PKCS #8 form that TLS signs with.
    pub(super) fn pkcs8(&self) -> Zeroizing<[u8; PKCS8_PREFIX.len() + KEY_LEN]> {
        let mut der = Zeroizing::new([0; PKCS8_PREFIX.len() + KEY_LEN]);
        der[..PKCS8_PREFIX.len()].copy_from_slice(&PKCS8_PREFIX);
        der[PKCS8_PREFIX.len()..].copy_from_slice(&*self.seed);
        der
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl FromStr for SecretKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        from_bech32(text, SECRET_PREFIX).map(Self::from_seed)
    }
}

/// The public half of a node's identity: what others know it by.
///
/// Its text form is Bech32m (BIP 350) with the prefix `ppp1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; KEY_LEN]);

impl PublicKey {
    /// The key of these bytes (RFC 8032, section 5.1.5).
    #[cfg(test)]
    pub(crate) const fn from_bytes(bytes: [u8; KEY_LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes of the key.
    pub const fn as_bytes(&self) -> &[u8; KEY_LEN] {
        &self.0
    }

    /// The SubjectPublicKeyInfo that TLS sends as a raw public key (RFC 7250, section 3).
    pub(super) fn to_spki(self) -> [u8; SPKI_PREFIX.len() + KEY_LEN] {
        let mut der = [0; SPKI_PREFIX.len() + KEY_LEN];
        der[..SPKI_PREFIX.len()].copy_from_slice(&SPKI_PREFIX);
        der[SPKI_PREFIX.len()..].copy_from_slice(&self.0);
        der
    }

    /// The key in a SubjectPublicKeyInfo; `None` if that holds anything but an Ed25519 key.
    pub(super) fn from_spki(der: &[u8]) -> Option<Self> {
        let key = der.strip_prefix(SPKI_PREFIX.as_slice())?;
        key.try_into().ok().map(Self)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_bech32(PUBLIC_PREFIX, &self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        from_bech32(text, PUBLIC_PREFIX).map(Self)
    }
}

/// A text that is not a key. It never repeats the text, which might be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseKeyError {
    /// Not Bech32m at all, or damaged.
    #[error("not a key: {reason}; allowed: {allowed} as `polypath key` prints it")]
    Malformed {
        /// What is wrong with the text.
        reason: String,
        /// The form that is allowed.
        allowed: &'static str,
    },
    /// A secret key where a public one belongs.
    #[error(
        "this is a secret key (ppk1...), which must never leave its node; \
         allowed: the public key (ppp1...), which `polypath key --show FILE` prints"
    )]
    SecretForPublic,
    /// A public key where a secret one belongs.
    #[error("this is a public key (ppp1...); allowed: the secret key (ppk1...) of this node")]
    PublicForSecret,
}

fn to_bech32(prefix: Hrp, bytes: &[u8; KEY_LEN]) -> String {
    bech32::encode::<Bech32m>(prefix, bytes).expect("32 bytes are far below the Bech32m limit")
}

fn from_bech32(text: &str, prefix: Hrp) -> Result<[u8; KEY_LEN], ParseKeyError> {
    let malformed = |reason: String| ParseKeyError::Malformed { reason, allowed: form(prefix) };
    let parsed = CheckedHrpstring::new::<Bech32m>(text.trim())
        .map_err(|error| malformed(describe(&error).to_owned()))?;
    match parsed.hrp() {
        found if found == prefix => {}
        found if found == SECRET_PREFIX => return Err(ParseKeyError::SecretForPublic),
        found if found == PUBLIC_PREFIX => return Err(ParseKeyError::PublicForSecret),
        _ => return Err(malformed("its prefix is unknown".to_owned())),
    }
    let mut key = [0; KEY_LEN];
    if parsed.byte_iter().len() != KEY_LEN {
        let length = parsed.byte_iter().len();
        return Err(malformed(format!("it holds {length} bytes, not {KEY_LEN}")));
    }
    key.iter_mut().zip(parsed.byte_iter()).for_each(|(to, from)| *to = from);
    Ok(key)
}

fn form(prefix: Hrp) -> &'static str {
    if prefix == SECRET_PREFIX { "a secret key (ppk1...)" } else { "a public key (ppp1...)" }
}

/// What is wrong, without the characters that the library's own messages repeat.
fn describe(error: &bech32::primitives::decode::CheckedHrpstringError) -> &'static str {
    use bech32::primitives::decode::CheckedHrpstringError as E;
    match error {
        E::Checksum(_) => "its checksum is wrong, so a character is missing or mistyped",
        _ => "it has no prefix or holds a character that keys never use",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 8032, section 7.1, test 1.
    const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    const PUBLIC: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    fn hex(text: &str) -> [u8; 32] {
        core::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
    }

    #[test]
    fn the_public_half_is_that_of_rfc_8032() {
        assert_eq!(SecretKey::from_seed(hex(SEED)).public().as_bytes(), &hex(PUBLIC));
    }

    #[test]
    fn the_text_forms_never_change() {
        let secret = SecretKey::from_seed(hex(SEED));
        assert_eq!(
            secret.to_text().as_str(),
            "ppk1n4smr800l4dxpw5yft6f9mpvc3zyn3tf0vexjxts8wkqx89w0asqyszjpc"
        );
        assert_eq!(
            secret.public().to_string(),
            "ppp16adfsqvzky9t042tlmfujeq88g8wzuhnm2nzxfd0qgdx3ac82ydq6ppyhu"
        );
    }

    #[test]
    fn debug_never_shows_the_secret() {
        let secret = SecretKey::from_seed(hex(SEED));
        let shown = format!("{secret:?}");
        assert!(shown.contains(&secret.public().to_string()), "{shown}");
        assert!(!shown.contains("ppk1") && !shown.contains("9d"), "{shown}");
    }

    #[test]
    fn each_half_is_refused_where_the_other_belongs() {
        let secret = SecretKey::from_seed(hex(SEED));
        let error = secret.to_text().parse::<PublicKey>().unwrap_err();
        assert_eq!(error, ParseKeyError::SecretForPublic);
        let error = secret.public().to_string().parse::<SecretKey>().unwrap_err();
        assert_eq!(error, ParseKeyError::PublicForSecret);
    }

    #[test]
    fn errors_say_what_is_allowed_and_never_repeat_the_text() {
        let text = SecretKey::from_seed(hex(SEED)).to_text();
        let cut = &text[..text.len() - 3];
        for bad in ["", "hello", "ppk1", "ppk1!!", "abc1qqqqqqqq", cut] {
            let message = bad.parse::<SecretKey>().unwrap_err().to_string();
            assert!(message.contains("ppk1..."), "{message}");
            assert!(!message.contains(&text[6..20]), "{message}");
        }
    }

    #[test]
    fn an_spki_of_another_algorithm_is_no_key() {
        let mut spki = SecretKey::from_seed(hex(SEED)).public().to_spki();
        assert_eq!(PublicKey::from_spki(&spki).unwrap().as_bytes(), &hex(PUBLIC));
        assert_eq!(PublicKey::from_spki(&spki[..43]), None);
        spki[8] = 0x71; // Ed448
        assert_eq!(PublicKey::from_spki(&spki), None);
    }

    proptest! {
        #[test]
        fn keys_round_trip_and_damage_is_found(seed: [u8; 32], at in 5usize..62, by in 1u8..32) {
            let secret = SecretKey::from_seed(seed);
            let text = secret.to_text();
            prop_assert_eq!(&*text.parse::<SecretKey>().unwrap().seed, &seed);
            let public = secret.public().to_string();
            prop_assert_eq!(public.parse::<PublicKey>().unwrap(), secret.public());
            prop_assert_eq!(public.to_uppercase().parse::<PublicKey>().unwrap(), secret.public());

            const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
            let mut damaged = public.into_bytes();
            let old = ALPHABET.iter().position(|&c| c == damaged[at]).unwrap();
            damaged[at] = ALPHABET[(old + usize::from(by)) % 32];
            prop_assert!(String::from_utf8(damaged).unwrap().parse::<PublicKey>().is_err());
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,80}") {
            prop_assert!(text.parse::<SecretKey>().is_err());
            prop_assert!(text.parse::<PublicKey>().is_err());
        }
    }
}

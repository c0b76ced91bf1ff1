//! Keys as text. A text is a public key, a secret key or neither; what parses prints as text that
//! parses to the same; an error never shows what might be a secret.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_bond::identity::{PublicKey, SecretKey};

fuzz_target!(|text: &str| {
    let public = text.parse::<PublicKey>();
    let secret = text.parse::<SecretKey>();
    assert!(public.is_err() || secret.is_err(), "both a public and a secret key");
    if let Ok(key) = public {
        assert_eq!(key.to_string().parse(), Ok(key));
    }
    match secret {
        Ok(key) => {
            let again: SecretKey = key.to_text().parse().expect("its own text");
            assert_eq!(again.public(), key.public());
        }
        // What is shorter, or has spaces, can stand in the sentence itself.
        Err(error) if text.len() >= 32 && !text.contains(' ') => {
            assert!(!format!("{error} {error:?}").contains(text))
        }
        Err(_) => {}
    }
});

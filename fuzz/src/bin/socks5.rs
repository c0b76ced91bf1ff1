//! What a SOCKS5 client sends. The first byte of the input chooses the message: greeting, login,
//! request or UDP datagram.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_fuzz::whole_message;
use polypath_net::proxy::socks5::{
    Greeting, Method, PasswordRequest, SocksRequest, decode_udp, encode_udp,
};

fuzz_target!(|input: &[u8]| {
    let Some((kind, bytes)) = input.split_first() else { return };
    match kind % 4 {
        0 => greeting(bytes),
        1 => login(bytes),
        2 => request(bytes),
        _ => datagram(bytes),
    }
});

fn greeting(bytes: &[u8]) {
    if let Some((greeting, used)) = whole_message(bytes, Greeting::decode) {
        let offered = &bytes[2..used];
        for method in [Method::NoAuthentication, Method::Password] {
            assert_eq!(greeting.offers(method), offered.contains(&(method as u8)));
        }
    }
}

fn login(bytes: &[u8]) {
    if let Some((login, used)) = whole_message(bytes, PasswordRequest::decode) {
        assert_eq!(used, 3 + login.user.len() + login.password.len());
        assert!(bytes[..used].ends_with(&login.password));
    }
}

fn request(bytes: &[u8]) {
    if let Some((request, used)) = whole_message(bytes, SocksRequest::decode) {
        let mut again = bytes[..3].to_vec();
        request.target.encode(&mut again);
        let (read, length) = whole_message(&again, SocksRequest::decode).expect("was valid");
        assert_eq!(read, request);
        assert!(length <= used.max(again.len()));
    }
}

fn datagram(bytes: &[u8]) {
    if let Ok((target, payload)) = decode_udp(bytes) {
        assert!(bytes.ends_with(payload));
        assert_eq!(decode_udp(&encode_udp(&target, payload)), Ok((target, payload)));
    }
}

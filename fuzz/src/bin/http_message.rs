//! What an HTTP client or origin sends through the proxy: a head, then a body. The first byte of
//! the input chooses (even: request, odd: response). What goes on must be read by the next
//! recipient as it was read here, or requests could be smuggled; where a body ends does not depend
//! on how its bytes arrive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_net::proxy::http::{
    BodyScanner, Form, Framing, RequestHead, ResponseHead, head_length,
};

fuzz_target!(|input: &[u8]| {
    let Some((kind, bytes)) = input.split_first() else { return };
    let Some(length) = head_length(bytes, 0) else { return };
    for searched in 0..length {
        assert_eq!(head_length(bytes, searched), Some(length), "after {searched} bytes");
    }
    let (head, rest) = bytes.split_at(length);
    let framing = if kind % 2 == 0 { request(head) } else { response(head) };
    if let Some(framing) = framing {
        body(framing, rest);
    }
});

fn request(head: &[u8]) -> Option<Framing> {
    let request = RequestHead::parse(head).ok()?;
    if let Form::Absolute { authority, .. } = request.form() {
        let sent = request.origin_form();
        assert_eq!(head_length(&sent, 0), Some(sent.len()), "what is sent holds two heads");
        // The next proxy would read an absolute form; an origin knows the authority from `Host`.
        let origin = String::from_utf8_lossy(&sent).into_owned();
        assert!(origin.contains(&format!("\r\nHost: {authority}\r\n")), "{origin}");
        let absolute = prefixed(&sent, request.method(), &format!("http://{authority}"));
        let again = RequestHead::parse(&absolute).expect("what is sent can be read");
        assert_eq!(again.framing(), request.framing());
        assert_eq!(again.target(), request.target());
    }
    Some(request.framing())
}

/// The head with `scheme_and_host` put before its path; `OPTIONS *` has none.
fn prefixed(head: &[u8], method: &str, scheme_and_host: &str) -> Vec<u8> {
    let path = &head[method.len() + 1..];
    let path = path.strip_prefix(b"* ").map_or(path, |_| &path[1..]);
    [method.as_bytes(), b" ", scheme_and_host.as_bytes(), path].concat()
}

fn response(head: &[u8]) -> Option<Framing> {
    let response = ResponseHead::parse(head, "GET").ok()?;
    let sent = response.encode();
    assert_eq!(head_length(&sent, 0), Some(sent.len()), "what is sent holds two heads");
    let again = ResponseHead::parse(&sent, "GET").expect("what is sent can be read");
    assert_eq!(again.framing(), response.framing());
    assert_eq!(again.is_interim(), response.is_interim());
    Some(response.framing())
}

fn body(framing: Framing, bytes: &[u8]) {
    let mut whole = BodyScanner::new(framing);
    let at_once = whole.push(bytes);
    let mut scanner = BodyScanner::new(framing);
    let one_by_one = bytes.chunks(1).try_fold(0, |sum, byte| Ok(sum + scanner.push(byte)?));
    match (at_once, one_by_one) {
        (Ok(at_once), Ok::<usize, polypath_net::proxy::http::BodyError>(one_by_one)) => {
            assert_eq!(at_once, one_by_one);
            assert_eq!(whole.is_done(), scanner.is_done());
            assert!(at_once == bytes.len() || whole.is_done());
        }
        (Err(_), Err(_)) => {}
        (at_once, one_by_one) => panic!("{at_once:?} at once, {one_by_one:?} one by one"),
    }
}

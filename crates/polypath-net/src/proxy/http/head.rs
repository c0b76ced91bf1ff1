//! Heads of requests and responses: parsing with `httparse`, and what a proxy changes in them.
//! Sans-I/O.

use httparse::{EMPTY_HEADER, Status};

use super::body::Framing;
use crate::tunnel::{Target, TargetParseError};

/// Longest head in bytes.
pub(super) const MAX_HEAD: usize = 64 * 1024;
const MAX_FIELDS: usize = 128;
const SCHEME: &str = "http://";

/// Fields that concern one connection and not the message (RFC 9110, section 7.6.1), and the
/// proxy's own.
const HOP_BY_HOP: [&str; 7] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "te",
    "upgrade",
    "proxy-authorization",
    "proxy-authenticate",
];
/// Fields that `Connection` may not name: the message would change its meaning.
const PROTECTED: [&str; 3] = ["host", "content-length", "transfer-encoding"];

/// A head that a proxy cannot pass on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// More bytes or fields than allowed.
    #[error("head is larger than {MAX_HEAD} bytes or has more than {MAX_FIELDS} fields")]
    TooLarge,
    /// Not HTTP/1.0 or HTTP/1.1.
    #[error("HTTP version is not supported; allowed are 1.0 and 1.1")]
    Version,
    /// Not HTTP.
    #[error("head is malformed: {0}")]
    Malformed(httparse::Error),
    /// The head ends early.
    #[error("head is not complete")]
    Incomplete,
    /// Neither `host:port` nor `http://host...`.
    #[error("request target {0:?}: allowed are CONNECT host:port and http://host[:port]/path")]
    Form(String),
    /// The host is malformed.
    #[error(transparent)]
    Target(#[from] TargetParseError),
    /// `Content-Length` is not one number, or comes together with `Transfer-Encoding`.
    #[error("body length is ambiguous")]
    Length,
    /// A transfer coding other than a final chunked.
    #[error("transfer coding is not supported; allowed is chunked")]
    UnknownCoding,
    /// HTTP/1.0 has no transfer codings (RFC 9112, section 6.1): who sent it, or forwarded it, may
    /// not know where it ends.
    #[error("a message of HTTP/1.0 has a Transfer-Encoding; allowed in HTTP/1.1")]
    CodingInOldVersion,
    /// A status code below 100, which no recipient understands (RFC 9110, section 15).
    #[error("status code {0}; allowed are 100 to 999")]
    StatusCode(u16),
    /// A switch of protocols that was not asked for.
    #[error("unexpected status 101")]
    Upgrade,
}

impl From<httparse::Error> for HeadError {
    fn from(error: httparse::Error) -> Self {
        match error {
            httparse::Error::TooManyHeaders => Self::TooLarge,
            httparse::Error::Version => Self::Version,
            other => Self::Malformed(other),
        }
    }
}

/// The length of the head at the front of `bytes`, if its end is there; the first `searched` bytes
/// are known not to hold it. Only looking at new bytes keeps a head that comes byte by byte cheap.
pub fn head_length(bytes: &[u8], searched: usize) -> Option<usize> {
    let from = searched.saturating_sub(3);
    let tail = bytes.get(from..)?;
    let ends = |i: usize| tail[i..].starts_with(b"\r\n\r\n").then_some(from + i + 4);
    // A bare LF may end a line too (RFC 9112, section 2.2), and httparse takes it.
    let bare = |i: usize| tail[i..].starts_with(b"\n\n").then_some(from + i + 2);
    (0..tail.len()).find_map(|i| ends(i).or_else(|| bare(i)).or_else(|| mixed(tail, i, from)))
}

/// LF, then CRLF.
fn mixed(tail: &[u8], i: usize, from: usize) -> Option<usize> {
    tail[i..].starts_with(b"\n\r\n").then_some(from + i + 3)
}

/// What kind of request it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// CONNECT: a tunnel.
    Connect,
    /// A plain request; in origin form its target is `path`.
    Absolute {
        /// Path and query.
        path: String,
        /// Host and port as the client wrote them, for the `Host` field.
        authority: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    value: Vec<u8>,
}

impl Field {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The members of a list field, lower case.
    fn members(&self) -> impl Iterator<Item = String> {
        let text = String::from_utf8_lossy(&self.value).to_ascii_lowercase();
        text.split(',').map(|member| member.trim().to_owned()).collect::<Vec<_>>().into_iter()
    }
}

/// A request to the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    target: Target,
    form: Form,
    method: String,
    minor_version: u8,
    fields: Vec<Field>,
    framing: Framing,
}

impl RequestHead {
    /// Parses one whole head.
    pub fn parse(head: &[u8]) -> Result<Self, HeadError> {
        let mut fields = [EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        if request.parse(head)? == Status::Partial {
            return Err(HeadError::Incomplete);
        }
        let method = request.method.unwrap_or_default().to_owned();
        let (target, form) = request_target(&method, request.path.unwrap_or_default())?;
        let fields = owned(request.headers);
        let minor_version = request.version.unwrap_or(1);
        check_version(&fields, minor_version)?;
        // Without length there is no body (RFC 9112, section 6.3, rule 7).
        let framing = framing(&fields)?.unwrap_or(Framing::Length(0));
        Ok(Self { target, form, method, minor_version, fields, framing })
    }

    /// Host and port that the request is for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// CONNECT or plain.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The request method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// How the end of the body is found.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    pub(super) fn proxy_authorization(&self) -> Option<&[u8]> {
        let field = self.fields.iter().find(|f| f.is("proxy-authorization"))?;
        Some(&field.value)
    }

    /// The head for the origin: origin form, the `Host` of the request target (RFC 9112, section
    /// 3.2.2), nothing that concerned the connection to the proxy, and no further request on this
    /// connection.
    ///
    /// The client's own version goes on (RFC 9110, section 2.5 wants the proxy's): the response
    /// goes back unchanged, and a client of version 1.0 would not understand chunks.
    pub fn origin_form(&self) -> Vec<u8> {
        let Form::Absolute { path, authority } = &self.form else { return Vec::new() };
        let mut out = format!(
            "{} {path} HTTP/1.{}\r\nHost: {authority}\r\n",
            self.method, self.minor_version
        )
        .into_bytes();
        let kept = end_to_end(&self.fields).filter(|f| !f.is("host"));
        write_fields(&mut out, kept);
        out.extend(format!("Via: 1.{} polypath\r\n", self.minor_version).bytes());
        out.extend(b"Connection: close\r\n\r\n");
        out
    }
}

/// A response of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    code: u16,
    reason: String,
    minor_version: u8,
    fields: Vec<Field>,
    framing: Framing,
}

impl ResponseHead {
    /// Parses one whole head; the method of the request decides whether a body follows.
    pub fn parse(head: &[u8], method: &str) -> Result<Self, HeadError> {
        let mut fields = [EMPTY_HEADER; MAX_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        if response.parse(head)? == Status::Partial {
            return Err(HeadError::Incomplete);
        }
        let code = response.code.unwrap_or_default();
        let fields = owned(response.headers);
        let minor_version = response.version.unwrap_or(1);
        check_version(&fields, minor_version)?;
        // RFC 9112, section 6.3, rules 1 and 8.
        let framing = match code {
            0..100 => return Err(HeadError::StatusCode(code)),
            101 => return Err(HeadError::Upgrade),
            100..=199 | 204 | 304 => Framing::Length(0),
            _ if method == "HEAD" => Framing::Length(0),
            _ => framing(&fields)?.unwrap_or(Framing::UntilEnd),
        };
        let reason = response.reason.unwrap_or_default().to_owned();
        Ok(Self { code, reason, minor_version, fields, framing })
    }

    /// Whether a final response is still to come.
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.code)
    }

    /// How the end of the body is found.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// The head for the client, which learns that the connection ends after a final response.
    pub fn encode(&self) -> Vec<u8> {
        let mut out =
            format!("HTTP/1.{} {} {}\r\n", self.minor_version, self.code, self.reason).into_bytes();
        write_fields(&mut out, end_to_end(&self.fields));
        if !self.is_interim() {
            out.extend(b"Connection: close\r\n");
        }
        out.extend(b"\r\n");
        out
    }
}

fn owned(fields: &[httparse::Header<'_>]) -> Vec<Field> {
    fields.iter().map(|f| Field { name: f.name.to_owned(), value: f.value.to_owned() }).collect()
}

fn end_to_end(fields: &[Field]) -> impl Iterator<Item = &Field> {
    let connection = fields.iter().filter(|f| f.is("connection"));
    let named: Vec<_> = connection.flat_map(Field::members).collect();
    fields.iter().filter(move |field| {
        let name = field.name.to_ascii_lowercase();
        let protected = PROTECTED.contains(&name.as_str());
        protected || !(HOP_BY_HOP.contains(&name.as_str()) || named.contains(&name))
    })
}

fn write_fields<'a>(out: &mut Vec<u8>, fields: impl Iterator<Item = &'a Field>) {
    for field in fields {
        out.extend(field.name.bytes());
        out.extend(b": ");
        out.extend(&field.value);
        out.extend(b"\r\n");
    }
}

fn request_target(method: &str, text: &str) -> Result<(Target, Form), HeadError> {
    if method == "CONNECT" {
        return Ok((text.parse()?, Form::Connect));
    }
    let wrong = || HeadError::Form(text.to_owned());
    let (scheme, rest) = text.split_at_checked(SCHEME.len()).ok_or_else(wrong)?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return Err(wrong());
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = match path {
        "" if method == "OPTIONS" => "*".to_owned(), // RFC 9112, section 3.2.4
        "" => "/".to_owned(),
        query if query.starts_with('?') => format!("/{query}"),
        path => path.to_owned(),
    };
    let target = match authority.parse() {
        Err(TargetParseError::NoPort(_)) => format!("{authority}:80").parse()?,
        parsed => parsed?,
    };
    Ok((target, Form::Absolute { path, authority: authority.to_owned() }))
}

/// RFC 9112, section 6.1: a message of HTTP/1.0 with a transfer coding is faulty, whether or not it
/// has a body and a length.
fn check_version(fields: &[Field], minor_version: u8) -> Result<(), HeadError> {
    let coded = fields.iter().any(|field| field.is("transfer-encoding"));
    if coded && minor_version == 0 { Err(HeadError::CodingInOldVersion) } else { Ok(()) }
}

/// RFC 9112, section 6.3. Whatever two recipients could read differently is an error (section
/// 11.2).
fn framing(fields: &[Field]) -> Result<Option<Framing>, HeadError> {
    let codings = fields.iter().filter(|f| f.is("transfer-encoding"));
    let codings: Vec<_> = codings.flat_map(Field::members).collect();
    let lengths = fields.iter().filter(|f| f.is("content-length"));
    let lengths: Vec<_> = lengths.flat_map(Field::members).collect();
    match (&codings[..], &lengths[..]) {
        ([], []) => Ok(None),
        ([], [first, others @ ..]) => {
            let digits = !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit());
            let agree = digits && others.iter().all(|other| other == first);
            let length = first.parse().ok().filter(|_| agree).ok_or(HeadError::Length)?;
            Ok(Some(Framing::Length(length)))
        }
        ([coding], []) if coding == "chunked" => Ok(Some(Framing::Chunked)),
        ([.., last], []) if last == "chunked" && !codings[..codings.len() - 1].contains(last) => {
            Ok(Some(Framing::Chunked))
        }
        (_, []) => Err(HeadError::UnknownCoding),
        _ => Err(HeadError::Length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RequestHead, HeadError> {
        RequestHead::parse(text.as_bytes())
    }

    #[test]
    fn a_plain_request_becomes_origin_form() {
        let head = parse(
            "GET http://example.com:8080/a?b HTTP/1.1\r\nHost: other\r\nProxy-Connection: keep-alive\r\n\
             Connection: X-Hop, host\r\nX-Hop: 1\r\nProxy-Authorization: Basic eA==\r\nAccept: */*\r\n\r\n",
        )
        .unwrap();
        assert_eq!(head.target().to_string(), "example.com:8080");
        assert_eq!(
            String::from_utf8(head.origin_form()).unwrap(),
            "GET /a?b HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\nVia: 1.1 polypath\r\n\
             Connection: close\r\n\r\n"
        );
    }

    #[test]
    fn request_targets() {
        let form = |line: &str| {
            parse(&format!("{line} HTTP/1.1\r\n\r\n")).map(|h| (h.target.to_string(), h.form))
        };
        let plain = |path: &str, authority: &str| Form::Absolute {
            path: path.into(),
            authority: authority.into(),
        };
        assert_eq!(form("CONNECT a.example:443"), Ok(("a.example:443".into(), Form::Connect)));
        assert_eq!(
            form("GET HTTP://a.example"),
            Ok(("a.example:80".into(), plain("/", "a.example")))
        );
        assert_eq!(form("GET http://[::1]?q#f"), Ok(("[::1]:80".into(), plain("/?q", "[::1]"))));
        assert_eq!(form("OPTIONS http://a:81"), Ok(("a:81".into(), plain("*", "a:81"))));
        for wrong in ["GET /", "GET https://a/", "OPTIONS *"] {
            assert!(matches!(form(wrong), Err(HeadError::Form(_))), "{wrong}");
        }
        for wrong in
            ["CONNECT a", "CONNECT a:x", "GET http://", "GET http://u@a/", "GET http://:1/"]
        {
            assert!(matches!(form(wrong), Err(HeadError::Target(_))), "{wrong}");
        }
    }

    #[test]
    fn ambiguous_lengths_are_errors() {
        let framing = |fields: &str| {
            parse(&format!("POST http://a/ HTTP/1.1\r\n{fields}\r\n\r\n")).map(|h| h.framing)
        };
        assert_eq!(framing("A: b"), Ok(Framing::Length(0)));
        assert_eq!(framing("Content-Length: 5\r\nContent-Length: 5"), Ok(Framing::Length(5)));
        assert_eq!(framing("Transfer-Encoding: gzip, chunked"), Ok(Framing::Chunked));
        for wrong in [
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: +5",
            "Content-Length:",
            "Content-Length: 99999999999999999999",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
        ] {
            assert_eq!(framing(wrong), Err(HeadError::Length), "{wrong}");
        }
        for wrong in ["Transfer-Encoding: gzip", "Transfer-Encoding: chunked, chunked"] {
            assert_eq!(framing(wrong), Err(HeadError::UnknownCoding), "{wrong}");
        }
    }

    #[test]
    fn responses_tell_the_client_that_the_connection_ends() {
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nKeep-Alive: timeout=5\r\n\r\n";
        let head = ResponseHead::parse(response, "GET").unwrap();
        assert_eq!(head.framing(), Framing::Length(3));
        assert_eq!(
            String::from_utf8(head.encode()).unwrap(),
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        );
        let head = ResponseHead::parse(response, "HEAD").unwrap();
        assert_eq!(head.framing(), Framing::Length(0));
        let interim = ResponseHead::parse(b"HTTP/1.1 100 Continue\r\n\r\n", "GET").unwrap();
        assert_eq!(interim.encode(), b"HTTP/1.1 100 Continue\r\n\r\n");
        let endless = ResponseHead::parse(b"HTTP/1.0 200 OK\r\n\r\n", "GET").unwrap();
        assert_eq!(endless.framing(), Framing::UntilEnd);
    }

    #[test]
    fn transfer_codings_in_http_1_0_are_errors() {
        for fields in ["", "Content-Length: 5\r\n"] {
            let fields = format!("{fields}Transfer-Encoding: chunked\r\n\r\n");
            for line in ["POST http://a/", "CONNECT a:1"] {
                let request = parse(&format!("{line} HTTP/1.0\r\n{fields}"));
                assert_eq!(request, Err(HeadError::CodingInOldVersion), "{line} {fields}");
            }
            for code in ["200", "204"] {
                let response = format!("HTTP/1.0 {code} OK\r\n{fields}");
                let parsed = ResponseHead::parse(response.as_bytes(), "GET");
                assert_eq!(parsed, Err(HeadError::CodingInOldVersion), "{code} {fields}");
            }
        }
    }

    #[test]
    fn a_status_code_has_three_digits_and_no_leading_zero() {
        let parse = |code: &str| {
            ResponseHead::parse(format!("HTTP/1.1 {code} OK\r\n\r\n").as_bytes(), "GET")
        };
        assert_eq!(parse("020"), Err(HeadError::StatusCode(20)));
        assert_eq!(parse("999").map(|head| head.code), Ok(999));
    }

    #[test]
    fn the_end_of_a_head_is_found_at_every_cut() {
        for head in ["A\r\n\r\n", "A\n\n", "A\n\r\n"] {
            let whole = [head, "rest"].concat();
            for searched in 0..head.len() {
                assert_eq!(head_length(whole.as_bytes(), searched), Some(head.len()), "{searched}");
                assert_eq!(head_length(&head.as_bytes()[..searched], 0), None);
            }
        }
    }
}

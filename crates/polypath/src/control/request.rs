//! What may be asked at the control socket.

use std::time::Duration;

use polypath_net::conversations::Wanted;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

/// Time for a client to say what it asks for. One that says nothing gets the status, so late.
const GRACE: Duration = Duration::from_millis(100);
/// The longest request, in bytes.
const LONGEST: usize = 1_024;
/// Conversations that are told where nobody says how many.
pub(crate) const CONVERSATIONS: u16 = 100;
/// As many as may be asked for: an answer of half a megabyte.
pub(crate) const MOST_CONVERSATIONS: u16 = 1_000;

/// A line of JSON that a client sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Request {
    /// The status, as by a client that sends nothing.
    Status {},
    /// Conversations, those of most bytes.
    Conversations {
        /// So many at most.
        #[serde(default = "conversations")]
        most: u16,
        /// Of this rule alone.
        #[serde(default)]
        rule: Option<String>,
    },
}

const fn conversations() -> u16 {
    CONVERSATIONS
}

/// Why a client does not get what it asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum Refusal {
    /// The line does not end.
    #[error("the request is too long; allowed: a line of {allowed_bytes} bytes")]
    TooLong {
        /// As long as it may be.
        allowed_bytes: usize,
    },
    /// The line came too late.
    #[error("the request did not come whole within {allowed_ms} ms")]
    Unfinished {
        /// The time for it.
        allowed_ms: u64,
    },
    /// It asks for nothing that is known.
    #[error("the request makes no sense: {detail}")]
    Malformed {
        /// Why.
        detail: String,
    },
    /// So many conversations are not told at once.
    #[error("{most} conversations cannot be asked for; allowed: 1 to {allowed}")]
    Most {
        /// How many were asked for.
        most: u16,
        /// As many as may be.
        allowed: u16,
    },
    /// There is no rule of this name.
    #[error("there is no rule {rule:?} here; allowed: a rule of the edge's policy")]
    UnknownRule {
        /// The name.
        rule: String,
    },
}

impl Request {
    /// Reads what a client asks for.
    ///
    /// # Errors
    /// When that is nothing that can be answered.
    pub(super) async fn read(client: &mut UnixStream) -> Result<Self, Refusal> {
        let deadline = Instant::now() + GRACE;
        let mut line = Vec::with_capacity(LONGEST + 1);
        loop {
            match timeout_at(deadline, client.read_buf(&mut line)).await {
                Err(_) if line.is_empty() => return Ok(Self::Status {}),
                Err(_) => {
                    let allowed_ms = GRACE.as_millis() as u64;
                    return Err(Refusal::Unfinished { allowed_ms });
                }
                // Who has left needs no answer either.
                Ok(Ok(0) | Err(_)) => return Self::parse(&line),
                Ok(Ok(_)) => {}
            }
            if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                return Self::parse(&line[..end]);
            }
            if line.len() > LONGEST {
                return Err(Refusal::TooLong { allowed_bytes: LONGEST });
            }
        }
    }

    fn parse(line: &[u8]) -> Result<Self, Refusal> {
        if line.is_empty() {
            return Ok(Self::Status {});
        }
        let malformed = |error: serde_json::Error| Refusal::Malformed { detail: error.to_string() };
        serde_json::from_slice(line).map_err(malformed)
    }
}

/// Which conversations are wanted by so many of them and a rule.
///
/// # Errors
/// When they are too many, or none.
pub(super) fn wanted(most: u16, rule: Option<String>) -> Result<Wanted, Refusal> {
    match most {
        1..=MOST_CONVERSATIONS => Ok(Wanted { most: most.into(), rule }),
        _ => Err(Refusal::Most { most, allowed: MOST_CONVERSATIONS }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    async fn read(sent: &[u8], ends: bool) -> Result<Request, Refusal> {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        near.write_all(sent).await.unwrap();
        if ends {
            near.shutdown().await.unwrap();
        }
        Request::read(&mut far).await
    }

    #[tokio::test]
    async fn a_line_is_a_request_and_nothing_asks_for_the_status() {
        let all = Request::Conversations { most: 100, rule: None };
        let some = Request::Conversations { most: 7, rule: Some("a b".to_owned()) };
        for ends in [true, false] {
            assert_eq!(read(b"", ends).await, Ok(Request::Status {}));
            assert_eq!(read(b"\n", ends).await, Ok(Request::Status {}));
            assert_eq!(read(b"{\"ask\":\"status\"}\n", ends).await, Ok(Request::Status {}));
            let asked = read(b"{\"ask\":\"conversations\"}\nmore", ends).await;
            assert_eq!(asked.as_ref(), Ok(&all));
            let asked = [serde_json::to_string(&some).unwrap().as_bytes(), b"\n"].concat();
            assert_eq!(read(&asked, ends).await, Ok(some.clone()));
        }
        assert_eq!(read(b"{\"ask\":\"conversations\"}", true).await, Ok(all), "without an end");
    }

    #[tokio::test]
    async fn what_is_no_request_is_refused_with_what_is_wrong() {
        for bad in [
            &b"{\"ask\":\"secrets\"}\n"[..],
            b"{\"ask\":\"conversations\",\"all\":true}\n",
            b"{\"ask\":\"conversations\",\"most\":-1}\n",
            b"status\n",
            b"\xff\xfe\n",
            b"[[[[[[[[\n",
        ] {
            let refused = read(bad, false).await;
            assert!(matches!(refused, Err(Refusal::Malformed { .. })), "{bad:?}: {refused:?}");
        }
        let half = read(b"{\"ask\":", false).await;
        assert_eq!(half, Err(Refusal::Unfinished { allowed_ms: 100 }));
        let longest = [vec![b' '; LONGEST - 17], b"{\"ask\":\"status\"}\n".to_vec()].concat();
        assert_eq!(longest.len(), LONGEST);
        assert_eq!(read(&longest, false).await, Ok(Request::Status {}));
        let endless = read(&vec![b' '; 50_000], false).await;
        assert_eq!(endless, Err(Refusal::TooLong { allowed_bytes: LONGEST }));
    }

    #[test]
    fn as_many_can_be_asked_for_as_an_answer_may_have() {
        let asked = |most| wanted(most, None).map(|wanted| wanted.most);
        let refused = |most| Err(Refusal::Most { most, allowed: 1_000 });
        assert_eq!(asked(0), refused(0));
        assert_eq!((asked(1), asked(1_000)), (Ok(1), Ok(1_000)));
        assert_eq!(asked(1_001), refused(1_001));
    }
}

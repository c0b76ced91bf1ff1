//! Messages of DNS (RFC 1035), as far as they say which addresses a name has.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, OPCODE, Packet, PacketFlag, QCLASS, QTYPE, RCODE, TYPE};

/// The longest message that is read, in bytes: what resolvers offer by EDNS at most (RFC 6891,
/// section 6.2.5). The time to read one grows with the square of its length.
const MAX_MESSAGE: usize = 4096;

/// Bytes of the header of a message (RFC 1035, section 4.1.1).
const HEADER: usize = 12;

/// Bytes of the smallest record: the root's name, type, class, time to live and length.
const SMALLEST_RECORD: usize = 11;

/// Aliases that are followed from a name: more than resolvers do.
const MAX_ALIASES: usize = 16;

/// Addresses that are taken from an answer.
pub(super) const MAX_ADDRESSES_OF_ANSWER: usize = 64;

/// What is asked for the addresses of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// What the answer has too.
    pub(super) id: u16,
    /// In lower case, without a dot at its end.
    pub(super) name: String,
    /// `A` or `AAAA`.
    kind: TYPE,
}

/// An address of the name that was asked for, and for how long that holds.
pub(super) type Told = (IpAddr, Duration);

/// Reads a question for the addresses of a name; `None` if the message is something else.
pub(super) fn read_question(bytes: &[u8]) -> Option<Question> {
    let message = parse(bytes).filter(|message| !message.has_flags(PacketFlag::RESPONSE))?;
    question(&message)
}

/// Reads an answer: what it answers to, and the addresses that it tells. `None` if the message is
/// something else, tells of an error or is not whole.
pub(super) fn read_answer(bytes: &[u8]) -> Option<(Question, Vec<Told>)> {
    let message = parse(bytes).filter(|message| message.has_flags(PacketFlag::RESPONSE))?;
    if message.rcode() != RCODE::NoError || message.has_flags(PacketFlag::TRUNCATION) {
        return None;
    }
    let question = question(&message)?;
    let addresses = addresses(&message)?;
    Some((question, addresses))
}

/// The library makes room for as many records as the header says before it reads the first.
fn parse(bytes: &[u8]) -> Option<Packet<'_>> {
    let counts = bytes.get(4..HEADER).filter(|_| bytes.len() <= MAX_MESSAGE)?;
    let count = |at: usize| usize::from(u16::from_be_bytes([counts[at], counts[at + 1]]));
    let records = count(2) + count(4) + count(6);
    if count(0) != 1 || records * SMALLEST_RECORD > bytes.len() {
        return None;
    }
    Packet::parse(bytes).ok().filter(|message| message.opcode() == OPCODE::StandardQuery)
}

fn question(message: &Packet<'_>) -> Option<Question> {
    let question = message.questions.first()?;
    let (QTYPE::TYPE(kind @ (TYPE::A | TYPE::AAAA)), QCLASS::CLASS(CLASS::IN)) =
        (question.qtype, question.qclass)
    else {
        return None;
    };
    Some(Question { id: message.id(), name: text(&question.qname)?, kind })
}

/// A name of the letters that names in rules have; `None` for the root and for others, which no
/// rule is for.
fn text(name: &Name<'_>) -> Option<String> {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let mut text = String::new();
    for label in name.as_bytes() {
        if !text.is_empty() {
            text.push('.');
        }
        let label =
            std::str::from_utf8(label).ok().filter(|label| label.bytes().all(|b| allowed(&b)))?;
        text.push_str(&label.to_ascii_lowercase());
    }
    (!text.is_empty()).then_some(text)
}

/// The addresses of the name that was asked for, by way of its aliases (RFC 1034, section 3.6.2).
/// What holds for them is the shortest time of all records on the way.
fn addresses(message: &Packet<'_>) -> Option<Vec<Told>> {
    let records = || message.answers.iter().filter(|record| record.class == CLASS::IN);
    let (mut owner, mut holds) = (&message.questions.first()?.qname, u32::MAX);
    for _ in 0..MAX_ALIASES {
        let alias = records().find_map(|record| match &record.rdata {
            RData::CNAME(alias) if record.name == *owner => Some((&alias.0, record.ttl)),
            _ => None,
        });
        let Some((target, ttl)) = alias else { break };
        (owner, holds) = (target, holds.min(time_to_live(ttl)));
    }
    let of_owner = records().filter(|record| record.name == *owner);
    let told = of_owner.filter_map(|record| {
        let address = match &record.rdata {
            RData::A(a) => Ipv4Addr::from(a.address).into(),
            RData::AAAA(aaaa) => Ipv6Addr::from(aaaa.address).into(),
            _ => return None,
        };
        let seconds = holds.min(time_to_live(record.ttl));
        Some((address, Duration::from_secs(seconds.into())))
    });
    Some(told.take(MAX_ADDRESSES_OF_ANSWER).collect())
}

/// In seconds. One whose highest bit is set is zero (RFC 2181, section 8).
fn time_to_live(ttl: u32) -> u32 {
    if ttl > i32::MAX as u32 { 0 } else { ttl }
}

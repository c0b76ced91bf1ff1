use std::net::{Ipv4Addr, Ipv6Addr};

use simple_dns::rdata::{A, AAAA, CNAME, RData};
use simple_dns::{CLASS, Name, PacketFlag, Question, RCODE, ResourceRecord, TYPE};

use super::message::MAX_ADDRESSES_OF_ANSWER;
use super::*;
use crate::fixtures::{self, Ends, V4, V6, reversed};

const CLIENT: u16 = 40_000;
const START: Timestamp = Timestamp::ZERO;

/// A message of DNS, and in which packet it travels.
#[derive(Clone)]
struct Message {
    ends: Ends,
    port: u16,
    id: u16,
    name: &'static str,
    kind: TYPE,
}

/// A question that a client asks.
fn question(name: &'static str) -> Message {
    Message { ends: V4, port: CLIENT, id: 7, name, kind: TYPE::A }
}

/// Owner, time to live, data.
type Record = (&'static str, u32, RData<'static>);

fn a(owner: &'static str, ttl: u32, last: u8) -> Record {
    (owner, ttl, RData::A(A { address: u32::from_be_bytes([192, 0, 2, last]) }))
}

fn alias(owner: &'static str, ttl: u32, of: &'static str) -> Record {
    (owner, ttl, RData::CNAME(CNAME(Name::new(of).unwrap())))
}

fn address(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

impl Message {
    fn with(&self, mut message: simple_dns::Packet<'_>, records: &[Record]) -> Vec<u8> {
        let name = Name::new(self.name).unwrap();
        let question = Question::new(name, self.kind.into(), CLASS::IN.into(), false);
        message.questions.push(question);
        for (owner, ttl, data) in records {
            let owner = Name::new(owner).unwrap();
            message.answers.push(ResourceRecord::new(owner, CLASS::IN, *ttl, data.clone()));
        }
        message.build_bytes_vec_compressed().unwrap()
    }

    fn asked(&self) -> Vec<u8> {
        let message = self.with(simple_dns::Packet::new_query(self.id), &[]);
        fixtures::udp(self.ends, self.port, DNS, &message)
    }

    fn answer(&self, message: simple_dns::Packet<'_>, records: &[Record]) -> Vec<u8> {
        let message = self.with(message, records);
        fixtures::udp(reversed(self.ends), DNS, self.port, &message)
    }

    fn answered(&self, records: &[Record]) -> Vec<u8> {
        self.answer(simple_dns::Packet::new_reply(self.id), records)
    }
}

impl NameTable {
    fn sees(&mut self, sent: &[u8], received: &[u8]) {
        self.on_sent(&Packet::parse(sent).unwrap(), START);
        self.on_received(&Packet::parse(received).unwrap(), START);
    }

    fn of(&self, last: u8, now: Timestamp) -> Vec<String> {
        self.names(address(last), now).iter().map(ToString::to_string).collect()
    }
}

fn seconds(seconds: u64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

#[test]
fn an_answer_gives_its_addresses_the_name_that_was_asked_for() {
    let (mut table, asked) = (NameTable::default(), question("WWW.example.org"));
    let records = [
        a("other.example.org", 300, 9),
        a("cdn.example.net", 300, 1),
        alias("www.example.org", 300, "b.example.net"),
        alias("b.example.net", 300, "cdn.example.net"),
        a("cdn.example.net", 300, 2),
    ];
    table.sees(&asked.asked(), &asked.answered(&records));
    for last in [1, 2] {
        assert_eq!(table.of(last, START), ["www.example.org"]);
    }
    assert!(table.of(9, START).is_empty(), "it is not what was asked for");
}

#[test]
fn addresses_of_both_families_are_told_over_either() {
    let mut table = NameTable::default();
    let asked = Message { kind: TYPE::AAAA, ends: V6, ..question("a.example.org") };
    let v6 = "2001:db8::9".parse::<Ipv6Addr>().unwrap();
    let record = ("a.example.org", 300, RData::AAAA(AAAA { address: v6.into() }));
    table.sees(&asked.asked(), &asked.answered(&[record]));
    assert_eq!(table.names(v6.into(), START).len(), 1);
}

#[test]
fn what_nobody_has_asked_for_counts_for_nothing() {
    let asked = question("a.example.org");
    let records = [a("a.example.org", 300, 1)];
    let router = fixtures::router(V4.0);
    let refused = {
        let mut message = simple_dns::Packet::new_reply(7);
        *message.rcode_mut() = RCODE::Refused;
        asked.answer(message, &records)
    };
    let cut = {
        let mut message = simple_dns::Packet::new_reply(7);
        message.set_flags(PacketFlag::TRUNCATION);
        asked.answer(message, &records)
    };
    for (what, answer) in [
        ("number", Message { id: 8, ..asked.clone() }.answered(&records)),
        ("name", Message { name: "b.example.org", ..asked.clone() }.answered(&records)),
        ("kind", Message { kind: TYPE::AAAA, ..asked.clone() }.answered(&records)),
        ("server", Message { ends: (V4.0, router), ..asked.clone() }.answered(&records)),
        ("client", Message { ends: (router, V4.1), ..asked.clone() }.answered(&records)),
        ("port", Message { port: CLIENT + 1, ..asked.clone() }.answered(&records)),
        ("error", refused),
        ("truncation", cut),
        ("a question", Message { ends: reversed(V4), ..asked.clone() }.asked()),
    ] {
        let mut table = NameTable::default();
        table.sees(&asked.asked(), &answer);
        assert!(table.named.is_empty(), "{what}");
        table.on_received(&Packet::parse(&asked.answered(&records)[..]).unwrap(), START);
        assert_eq!(table.of(1, START), ["a.example.org"], "{what}");
    }
}

#[test]
fn a_question_is_answered_once_and_in_time() {
    let asked = question("a.example.org");
    let (first, second) = (
        asked.answered(&[a("a.example.org", 300, 1)]),
        asked.answered(&[a("a.example.org", 1, 2)]),
    );
    let mut table = NameTable::default();
    table.sees(&asked.asked(), &first);
    table.on_received(&Packet::parse(&second[..]).unwrap(), START);
    assert!(table.of(2, START).is_empty());

    let mut table = NameTable::default();
    table.on_sent(&Packet::parse(&asked.asked()[..]).unwrap(), START);
    table.on_received(&Packet::parse(&first[..]).unwrap(), seconds(11));
    assert!(table.named.is_empty());
}

#[test]
fn names_hold_for_as_long_as_they_were_told_but_at_least_a_minute_and_at_most_a_day() {
    const DAY: u64 = 24 * 3600;
    for (alias_ttl, ttl, holds) in
        [(600, 300, 300), (200, 300, 200), (9, 9, 60), (1 << 30, 1 << 30, DAY), (1 << 31, 9, 60)]
    {
        let (mut table, asked) = (NameTable::default(), question("a.example.org"));
        let records =
            [alias("a.example.org", alias_ttl, "b.example.org"), a("b.example.org", ttl, 1)];
        table.sees(&asked.asked(), &asked.answered(&records));
        assert_eq!(table.of(1, seconds(holds - 1)).len(), 1, "{alias_ttl} {ttl}");
        assert!(table.of(1, seconds(holds)).is_empty(), "{alias_ttl} {ttl}");
    }
}

#[test]
fn an_address_has_several_names_and_forgets_the_one_told_longest_ago() {
    const NAMES: [&str; 9] =
        ["a.org", "b.org", "c.org", "d.org", "e.org", "f.org", "g.org", "h.org", "i.org"];
    let mut table = NameTable::default();
    for name in ["a.org", "b.org", "a.org"] {
        table.sees(&question(name).asked(), &question(name).answered(&[a(name, 300, 1)]));
    }
    assert_eq!(table.of(1, START), ["a.org", "b.org"]);
    for name in &NAMES[2..] {
        table.sees(&question(name).asked(), &question(name).answered(&[a(name, 300, 1)]));
    }
    let names = table.of(1, START);
    assert_eq!(names.len(), MAX_NAMES_OF_ADDRESS);
    assert!(!names.contains(&"b.org".to_owned()) && names.contains(&"a.org".to_owned()));
}

/// Whoever asks for much, or has servers of his own, takes no more memory than others.
#[test]
fn what_is_remembered_has_bounds() {
    let mut table = NameTable::default();
    for port in 0..2 * MAX_QUESTIONS {
        let asked = Message { port: port as u16, ..question("a.org") };
        table.on_sent(&Packet::parse(&asked.asked()[..]).unwrap(), START);
    }
    assert_eq!(table.asked.len(), MAX_QUESTIONS);
    let last = Message { port: 2 * MAX_QUESTIONS as u16 - 1, ..question("a.org") };
    table.on_received(&Packet::parse(&last.answered(&[a("a.org", 9, 1)])[..]).unwrap(), START);
    assert_eq!(table.of(1, START), ["a.org"], "the newest questions are those that are kept");

    let name: Arc<str> = "b.org".into();
    for number in 0..MAX_NAMED_ADDRESSES as u32 {
        table.name(Ipv4Addr::from(number).into(), &name, seconds(60));
    }
    assert_eq!((table.named.len(), table.order.len()), (MAX_NAMED_ADDRESSES, MAX_NAMED_ADDRESSES));
    assert!(table.of(1, START).is_empty(), "it was told longest ago");

    let many: Vec<_> = (0..200).map(|last| a("c.org", 300, last)).collect();
    table.sees(&question("c.org").asked(), &question("c.org").answered(&many));
    let last = MAX_ADDRESSES_OF_ANSWER as u8;
    assert_eq!((table.of(last - 1, START).len(), table.of(last, START).len()), (1, 0));
}

#[test]
fn an_alias_of_itself_has_no_addresses() {
    let (mut table, asked) = (NameTable::default(), question("a.org"));
    let records = [alias("a.org", 9, "b.org"), alias("b.org", 9, "a.org")];
    table.sees(&asked.asked(), &asked.answered(&records));
    assert!(table.named.is_empty());
}

/// A header alone may say that 65,535 records follow, for which the library would make room.
#[test]
fn messages_that_are_none_are_left_out() {
    let asked = question("a.org").asked();
    let message = &asked[28..];
    assert!(read_question(message).is_some());
    for length in 0..message.len() {
        assert!(read_question(&message[..length]).is_none(), "{length}");
    }
    let with = |at: usize, bytes: [u8; 2]| {
        let mut changed = message.to_vec();
        changed[at..at + 2].copy_from_slice(&bytes);
        read_question(&changed)
    };
    for (what, at, bytes) in [
        ("no question", 4, [0, 0]),
        ("two questions", 4, [0, 2]),
        ("records that are not there", 6, [0xff, 0xff]),
        ("an update", 2, [0x28, 0]),
        ("a name with a dot in it", 12, [1, b'.']),
    ] {
        assert!(with(at, bytes).is_none(), "{what}");
    }
}

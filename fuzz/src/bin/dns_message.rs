//! A message of DNS that passes a gateway, as a question and as the answer to one. Names have the
//! letters that rules know, and there are no more of them, nor of addresses, than is allowed; an
//! answer tells of the name alone that was asked for.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};

use libfuzzer_sys::fuzz_target;
use polypath_ip::{
    IpHeader, LEAST_TIME, LONGEST_TIME, MAX_NAMES_OF_ADDRESS, NameTable, Packet, Ports,
};
use polypath_units::Timestamp;

const START: Timestamp = Timestamp::ZERO;
/// The question for the addresses of `a.org`, with the number 7, and its answer: 192.0.2.1.
const QUESTION: &[u8] = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01a\x03org\0\0\x01\0\x01";
const ANSWER: &[u8] = b"\0\x07\x81\x80\0\x01\0\x01\0\0\0\0\x01a\x03org\0\0\x01\0\x01\
                        \xc0\x0c\0\x01\0\x01\0\0\x01\x2c\0\x04\xc0\0\x02\x01";

fuzz_target!(|message: &[u8]| {
    let ends = [1, 2].map(|last| IpAddr::from([10, 0, 0, last]));
    let Some(question) = packet(ends, Ports { source: 9, destination: 53 }, message) else {
        return;
    };
    let [server, client] = [ends[1], ends[0]];
    let answer = |message| packet([server, client], Ports { source: 53, destination: 9 }, message);

    let mut table = NameTable::default();
    see(&mut table, &question, &answer(ANSWER).expect("it is short"));
    let told = table.names(Ipv4Addr::new(192, 0, 2, 1).into(), START);
    assert!(told.is_empty() || told.iter().map(AsRef::as_ref).eq(["a.org"]));

    let mut table = NameTable::default();
    let asked = packet(ends, Ports { source: 9, destination: 53 }, QUESTION).expect("it is short");
    see(&mut table, &asked, &answer(message).expect("the question was as long"));
    for address in addresses(message) {
        let names = table.names(address, START);
        assert!(names.len() <= MAX_NAMES_OF_ADDRESS && names.iter().all(|name| **name == *"a.org"));
        assert_eq!(table.names(address, START + LEAST_TIME / 2), names);
        assert!(table.names(address, START + LONGEST_TIME).is_empty());
    }
});

fn packet([source, destination]: [IpAddr; 2], ports: Ports, message: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let header = IpHeader::new(source, destination).expect("one family");
    header.write_udp(ports, message, &mut bytes).ok()?;
    Some(bytes)
}

fn see(table: &mut NameTable, sent: &[u8], received: &[u8]) {
    table.on_sent(&Packet::parse(sent).expect("it is a packet"), START);
    table.on_received(&Packet::parse(received).expect("it is a packet"), START);
}

/// All that may be addresses in it.
fn addresses(message: &[u8]) -> impl Iterator<Item = IpAddr> {
    let v4 = message.windows(4).filter_map(|bytes| <[u8; 4]>::try_from(bytes).ok());
    let v6 = message.windows(16).filter_map(|bytes| <[u8; 16]>::try_from(bytes).ok());
    v4.map(IpAddr::from).chain(v6.map(IpAddr::from))
}

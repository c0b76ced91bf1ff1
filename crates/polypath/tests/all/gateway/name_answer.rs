//! A name server that answers.

use std::net::{IpAddr, UdpSocket};

use simple_dns::rdata::RData;
use simple_dns::{CLASS, Packet, PacketFlag, QTYPE, ResourceRecord, TYPE};

/// Answers a query, whatever the name, with the address of the family that it asks for.
pub(super) fn answer(server: &UdpSocket, addresses: (IpAddr, IpAddr)) {
    let mut message = [0; 4_096];
    let (length, from) = server.recv_from(&mut message).unwrap();
    let mut reply = Packet::parse(&message[..length]).unwrap().into_reply();
    reply.set_flags(PacketFlag::RECURSION_DESIRED | PacketFlag::RECURSION_AVAILABLE);
    let [question] = reply.questions.as_slice() else { panic!("{reply:?}") };
    let data = match (question.qtype, addresses) {
        (QTYPE::TYPE(TYPE::A), (IpAddr::V4(address), _)) => Some(RData::A(address.into())),
        (QTYPE::TYPE(TYPE::AAAA), (_, IpAddr::V6(address))) => Some(RData::AAAA(address.into())),
        _ => None,
    };
    let record = |data| ResourceRecord::new(question.qname.clone(), CLASS::IN, 300, data);
    reply.answers = data.map(record).into_iter().collect();
    server.send_to(&reply.build_bytes_vec().unwrap(), from).unwrap();
}

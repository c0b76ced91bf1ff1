//! Who was behind an address that this host has translated (conntrack).

use std::io;
use std::net::{IpAddr, SocketAddr};

use netlink_packet_netfilter::conntrack::{
    ConntrackAttribute, ConntrackMessage, IPTuple, ProtoTuple, Protocol, Tuple,
};
use netlink_packet_netfilter::{
    NetfilterHeader, NetfilterMessage, NetfilterMessageInner, NetfilterProtoFamily,
};
use rtnetlink::packet_core::NetlinkPayload;
use rtnetlink::sys::protocols::NETLINK_NETFILTER;

use super::Ends;
use super::netlink::ask;

/// Who has begun a conversation whose packets leave this host with these ends; `None` if conntrack
/// does not know it.
pub(super) fn source(ends: Ends) -> io::Result<Option<SocketAddr>> {
    // Answers to it come from where it goes to.
    let answer = vec![
        Tuple::Ip(vec![
            IPTuple::SourceAddress(ends.destination.ip()),
            IPTuple::DestinationAddress(ends.source.ip()),
        ]),
        Tuple::Proto(vec![
            ProtoTuple::Protocol(Protocol::from(ends.protocol)),
            ProtoTuple::SourcePort(ends.destination.port()),
            ProtoTuple::DestinationPort(ends.source.port()),
        ]),
    ];
    let family = match ends.source {
        SocketAddr::V4(_) => NetfilterProtoFamily::IPv4,
        SocketAddr::V6(_) => NetfilterProtoFamily::IPv6,
    };
    let question = ConntrackMessage::Get(vec![ConntrackAttribute::CtaTupleReply(answer)]);
    let question = NetfilterMessage::new(NetfilterHeader::new(family, 0, 0), question);
    let answer = ask(NETLINK_NETFILTER, NetlinkPayload::from(question))?;
    Ok(answer.and_then(|message| match message.inner {
        NetfilterMessageInner::Conntrack(ConntrackMessage::New(attributes)) => {
            original(&attributes)
        }
        _ => None,
    }))
}

fn original(attributes: &[ConntrackAttribute]) -> Option<SocketAddr> {
    let tuples = attributes.iter().find_map(|attribute| match attribute {
        ConntrackAttribute::CtaTupleOrig(tuples) => Some(tuples),
        _ => None,
    })?;
    let (mut address, mut port) = (None::<IpAddr>, None);
    for tuple in tuples {
        match tuple {
            Tuple::Ip(parts) => address = parts.iter().find_map(source_address).or(address),
            Tuple::Proto(parts) => port = parts.iter().find_map(source_port).or(port),
            _ => {}
        }
    }
    Some(SocketAddr::new(address?, port?))
}

fn source_address(part: &IPTuple) -> Option<IpAddr> {
    match part {
        IPTuple::SourceAddress(address) => Some(*address),
        _ => None,
    }
}

fn source_port(part: &ProtoTuple) -> Option<u16> {
    match part {
        ProtoTuple::SourcePort(port) => Some(*port),
        _ => None,
    }
}

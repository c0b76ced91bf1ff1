//! Connections that go through a bond, as through a gateway, and the policies of bonds.

use super::{ConnectionKeys, ConnectionSpec, InnerTcp, Through, Transport, known};
use crate::endpoint::InnerTraffic;
use crate::scenario::ScenarioError;
use crate::scenario::declare::Located;
use crate::scenario::read::Reader;
use polypath_config::DocumentError;
use polypath_policy::{Policy, Protocol, Traffic};

/// The policy that a bond names.
pub(super) fn read_policy(
    transport: &Transport,
    reader: &mut Reader<'_>,
) -> Result<Option<Policy>, ScenarioError> {
    let Transport::Bond(bond) = transport else { return Ok(None) };
    let Some(file) = &bond.policy else { return Ok(None) };
    let policy = reader.policy(file)?;
    if bond.tcp == InnerTcp::Split {
        policy.check_for_streams().map_err(|error| file.wrong(format_args!("has {error}")))?;
    }
    Ok(Some(policy))
}

/// A connection through one of those that stand before it.
pub(super) fn read_inner(
    name: String,
    table: &Located<ConnectionKeys>,
    through: &Located<String>,
    before: &[ConnectionSpec],
) -> Result<ConnectionSpec, DocumentError> {
    let keys = &table.value;
    let own = keys.from.as_ref().or(keys.to.as_ref()).map(|host| host.wrong(OF_THE_BOND));
    let own = own.or_else(|| keys.paths.as_ref().map(|paths| paths.wrong(OF_THE_BOND)));
    if let Some(error) = own {
        return Err(error);
    }
    known("connection before this one", through, before.iter().map(|spec| spec.name.as_str()))?;
    let bond = before.iter().find(|spec| spec.name == through.value);
    let is_bond = |spec: &&ConnectionSpec| matches!(spec.transport, Transport::Bond(_));
    let bond = bond.filter(is_bond).filter(|spec| spec.count == 1);
    let bond = bond.ok_or_else(|| through.wrong("is not one connection by \"bond\""))?;
    let through = Through { bond: bond.name.clone(), traffic: read_traffic(table)? };
    Ok(ConnectionSpec {
        name,
        count: keys.count,
        stagger: keys.stagger,
        class: keys.class,
        ends: bond.ends.clone(),
        paths: bond.paths.clone(),
        transport: keys.transport.clone(),
        policy: None,
        through: Some(through),
    })
}

const OF_THE_BOND: &str = "is that of the bond, for a connection that goes `through` one";

fn read_traffic(table: &Located<ConnectionKeys>) -> Result<InnerTraffic, DocumentError> {
    let transport = &table.value.transport;
    let protocol = match transport {
        Transport::Tcp(_) => Protocol::TCP,
        Transport::Quic(_) | Transport::Udp(_) => Protocol::UDP,
        Transport::Bond(_) | Transport::Mptcp(_) | Transport::Tunnel(_) => {
            let name = transport.name();
            return Err(table.wrong(format_args!(
                "a connection by {name:?} goes through no bond; allowed are \"tcp\", \"quic\" \
                 and \"udp\""
            )));
        }
    };
    let Some(given) = &table.value.traffic else { return Ok(InnerTraffic::of(protocol)) };
    let traffic = Traffic::parse(&given.value).map_err(|error| given.wrong(error))?;
    if traffic.packet_size.is_some() {
        return Err(given.wrong("says a size, which the packets of the connection have"));
    }
    // What is sent as datagrams may be of any protocol that is not TCP.
    let fits = match transport {
        Transport::Udp(_) => traffic.protocol != Protocol::TCP,
        _ => traffic.protocol == protocol,
    };
    if !fits {
        let (name, given_protocol) = (transport.name(), traffic.protocol);
        return Err(given.wrong(format_args!(
            "is {given_protocol}, and the connection by {name:?}; allowed: the protocol of it"
        )));
    }
    Ok(InnerTraffic::new(&traffic))
}

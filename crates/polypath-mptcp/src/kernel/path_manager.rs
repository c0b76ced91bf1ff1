//! Commands of the kernel's path manager for user space (generic netlink, family `mptcp_pm`;
//! `Documentation/netlink/specs/mptcp_pm.yaml`).

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};

use netlink_packet_generic::ctrl::nlas::{GenlCtrlAttrs, McastGrpAttrs};
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_packet_generic::{GenlFamily, GenlHeader, GenlMessage};
use rtnetlink::packet_core::{
    DecodeError, DefaultNla, Emitable, NLA_F_NESTED, ParseableParametrized,
};
use rtnetlink::sys::protocols::NETLINK_GENERIC;

use super::channel::{Channel, Extent};
use crate::state::{Ends, NewSubflow};

const FAMILY: &str = "mptcp_pm";
const VERSION: u8 = 1;
const EVENTS: &str = "mptcp_pm_events";

/// Commands: `MPTCP_PM_CMD_*`.
const SET_FLAGS: u8 = 7;
const REMOVE: u8 = 9;
const SUBFLOW_CREATE: u8 = 10;
const SUBFLOW_DESTROY: u8 = 11;
/// Attributes of commands: `MPTCP_PM_ATTR_*`.
const LOCAL: u16 = 1;
const TOKEN: u16 = 4;
const LOCAL_ID: u16 = 5;
const REMOTE: u16 = 6;
/// Attributes of addresses: `MPTCP_PM_ADDR_ATTR_*`.
const ADDRESS_FAMILY: u16 = 1;
const ADDRESS_ID: u16 = 2;
const ADDRESS_V4: u16 = 3;
const ADDRESS_V6: u16 = 4;
const ADDRESS_PORT: u16 = 5;
const ADDRESS_FLAGS: u16 = 6;
const ADDRESS_INTERFACE: u16 = 7;
/// `MPTCP_PM_ADDR_FLAG_BACKUP`.
const BACKUP: u32 = 1 << 2;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// Commands connections of the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct PathManager {
    channel: Channel,
    family: u16,
    events: u32,
}

impl PathManager {
    /// # Errors
    /// If the kernel has no Multipath TCP.
    pub fn open() -> io::Result<Self> {
        let mut channel = Channel::open(NETLINK_GENERIC)?;
        let payload = GenlCtrl {
            cmd: GenlCtrlCmd::GetFamily,
            nlas: vec![GenlCtrlAttrs::FamilyName(FAMILY.to_owned())],
        };
        let question = GenlMessage::from_payload(payload);
        let answers: Vec<GenlMessage<GenlCtrl>> = channel.ask(question, Extent::One)?;
        let attributes = || answers.iter().flat_map(|answer| &answer.payload.nlas);
        let family = attributes().find_map(|attribute| match attribute {
            GenlCtrlAttrs::FamilyId(id) => Some(*id),
            _ => None,
        });
        let groups = attributes().filter_map(|attribute| match attribute {
            GenlCtrlAttrs::McastGroups(groups) => Some(groups),
            _ => None,
        });
        let events = groups.flatten().find_map(|group| event_group(group));
        let unknown = || io::Error::from(ErrorKind::InvalidData);
        let family = family.ok_or_else(unknown)?;
        Ok(Self { channel, family, events: events.ok_or_else(unknown)? })
    }

    /// The multicast group of events.
    pub(super) const fn events(&self) -> u32 {
        self.events
    }

    /// Makes a subflow. Whether the peer answers is seen later.
    ///
    /// # Errors
    /// What the kernel says: `EINVAL` of a connection with the kernel's own path manager.
    pub fn create(&mut self, new: &NewSubflow) -> io::Result<()> {
        let mut local = address(SocketAddr::new(new.local, 0));
        local.push(DefaultNla::new(ADDRESS_ID, vec![new.local_id]));
        local.push(DefaultNla::new(ADDRESS_INTERFACE, new.interface.to_ne_bytes().into()));
        if new.backup {
            local.push(DefaultNla::new(ADDRESS_FLAGS, BACKUP.to_ne_bytes().into()));
        }
        let remote = address(new.remote);
        self.command(
            SUBFLOW_CREATE,
            vec![token(new.token), nested(LOCAL, &local), nested(REMOTE, &remote)],
        )
    }

    /// Ends a subflow; what was not acknowledged is sent over others.
    ///
    /// # Errors
    /// What the kernel says: `ESRCH` if there is no such subflow.
    pub fn destroy(&mut self, of: u32, ends: Ends) -> io::Result<()> {
        let (local, remote) = (address(ends.local), address(ends.remote));
        let attributes = vec![token(of), nested(LOCAL, &local), nested(REMOTE, &remote)];
        self.command(SUBFLOW_DESTROY, attributes)
    }

    /// Tells the peer that a local address is gone (REMOVE_ADDR, RFC 8684 section 3.4.2): it ends
    /// its side of the subflows there.
    ///
    /// # Errors
    /// What the kernel says: `EINVAL` of an address that has no subflow.
    pub fn withdraw(&mut self, of: u32, local_id: u8) -> io::Result<()> {
        self.command(REMOVE, vec![token(of), DefaultNla::new(LOCAL_ID, vec![local_id])])
    }

    /// Makes a subflow a backup or not, here and at the peer (MP_PRIO, RFC 8684 section 3.3.8).
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_backup(&mut self, of: u32, ends: Ends, backup: bool) -> io::Result<()> {
        let mut local = address(ends.local);
        let flags = if backup { BACKUP } else { 0 };
        local.push(DefaultNla::new(ADDRESS_FLAGS, flags.to_ne_bytes().into()));
        let remote = address(ends.remote);
        let attributes = vec![token(of), nested(LOCAL, &local), nested(REMOTE, &remote)];
        self.command(SET_FLAGS, attributes)
    }

    fn command(&mut self, command: u8, attributes: Vec<DefaultNla>) -> io::Result<()> {
        let message = GenlMessage::new(
            GenlHeader { cmd: command, version: VERSION },
            Command { command, attributes },
            self.family,
        );
        self.channel.ask(message, Extent::One).map(drop)
    }
}

/// The number of the group of events, if it is that.
fn event_group(group: &[McastGrpAttrs]) -> Option<u32> {
    let named = |attribute: &McastGrpAttrs| matches!(attribute, McastGrpAttrs::Name(name) if name == EVENTS);
    let number = |attribute: &McastGrpAttrs| match attribute {
        McastGrpAttrs::Id(id) => Some(*id),
        McastGrpAttrs::Name(_) => None,
    };
    group.iter().any(named).then(|| group.iter().find_map(number)).flatten()
}

fn token(token: u32) -> DefaultNla {
    DefaultNla::new(TOKEN, token.to_ne_bytes().into())
}

fn address(address: SocketAddr) -> Vec<DefaultNla> {
    let (family, kind, bytes) = match address.ip() {
        IpAddr::V4(v4) => (AF_INET, ADDRESS_V4, v4.octets().to_vec()),
        IpAddr::V6(v6) => (AF_INET6, ADDRESS_V6, v6.octets().to_vec()),
    };
    let mut attributes = vec![
        DefaultNla::new(ADDRESS_FAMILY, family.to_ne_bytes().into()),
        DefaultNla::new(kind, bytes),
    ];
    if address.port() > 0 {
        attributes.push(DefaultNla::new(ADDRESS_PORT, address.port().to_ne_bytes().into()));
    }
    attributes
}

fn nested(kind: u16, attributes: &[DefaultNla]) -> DefaultNla {
    let mut value = vec![0; attributes.buffer_len()];
    attributes.emit(&mut value);
    DefaultNla::new(kind | NLA_F_NESTED, value)
}

/// A command with its attributes. Its answer is whether it was done.
#[derive(Debug)]
struct Command {
    command: u8,
    attributes: Vec<DefaultNla>,
}

impl GenlFamily for Command {
    fn family_name() -> &'static str {
        FAMILY
    }

    fn command(&self) -> u8 {
        self.command
    }

    fn version(&self) -> u8 {
        VERSION
    }
}

impl Emitable for Command {
    fn buffer_len(&self) -> usize {
        self.attributes.as_slice().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        self.attributes.as_slice().emit(buffer);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for Command {
    fn parse_with_param(_: &[u8], header: GenlHeader) -> Result<Self, DecodeError> {
        Ok(Self { command: header.cmd, attributes: Vec::new() })
    }
}

//! What sits at the ends of a network.

mod bond;
mod bond_datagrams;
mod bond_end;
mod bond_stream;
mod bond_traffic;
mod gateway;
mod log;
mod mptcp;
pub mod nodes;
mod quic;
mod quic_bond;
mod received;
mod report;
mod split;
mod tcp;
mod tunnel;
mod udp;

pub use bond::{LightBond, LightPath};
pub(crate) use bond_datagrams::NUMBER_BYTES;
pub use bond_end::BondEnd;
pub use gateway::{Conversation, GatewayRules, InnerTraffic};
pub use log::{EndEvent, LogEntry};
pub use mptcp::MptcpEnd;
pub use quic::{QuicConfig, QuicEnd};
pub use quic_bond::QuicBond;
pub use report::{EndReport, PathReport};
pub use split::SplitEnd;
pub(crate) use tcp::TcpWay;
pub use tcp::{TcpEnd, TcpSettings};
pub use tunnel::{Tunnel, TunnelRoute};
pub(crate) use udp::Asking;
pub use udp::{UdpArrivals, UdpSink, UdpSource, UdpTraffic};

use crate::fabric::{EndpointId, Fabric, Packet};
use crate::tcp::LogDetail;
use core::any::Any;
use core::fmt::Debug;
use polypath_bond::FlowConfig;
use polypath_units::Timestamp;

/// One end of a connection, or a source of traffic.
///
/// The simulator hands it packets and tells it when it is due; it sends through the [`Fabric`].
pub trait Endpoint: Any + Debug {
    /// A packet has come.
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric);

    /// It is [`due`](Self::next_due), or its application has changed something.
    fn on_due(&mut self, fabric: &mut Fabric);

    /// When to call [`Endpoint::on_due`]; [`Timestamp::MAX`]: no need to.
    fn next_due(&self) -> Timestamp;

    /// What it has done so far.
    fn report(&self) -> EndReport;

    /// Keeps a log from now on; to be called before it connects.
    fn keep_log(&mut self, _detail: LogDetail) {}

    /// The log, by time, as far as it was kept.
    fn log(&self) -> Vec<LogEntry> {
        Vec::new()
    }

    /// The byte stream that applications use, if it has one.
    fn stream(&mut self) -> Option<&mut dyn Stream> {
        None
    }

    /// The datagrams that applications use, if it carries any beside its stream.
    fn datagrams(&mut self) -> Option<&mut dyn Datagrams> {
        None
    }

    /// The end of a bond that it is.
    fn bond_end(&self) -> Option<&dyn BondEnd> {
        None
    }

    /// The same, to use it.
    fn bond_end_mut(&mut self) -> Option<&mut dyn BondEnd> {
        None
    }

    /// The endpoint among whose streams its own is, and the number of its conversation there.
    fn within(&self) -> Option<(EndpointId, u32)> {
        None
    }
}

/// The datagrams of one end, as its application sees them.
pub trait Datagrams {
    /// Says how those that this end sends are carried; before the first of them.
    fn open(&mut self, config: FlowConfig);

    /// Gives it one to send, of so many bytes, in which its number is.
    fn send(&mut self, number: u64, bytes: u64);

    /// Whether any has come since [`Datagrams::take_arrived`].
    fn has_arrived(&self) -> bool;

    /// The numbers of those that have come since this was asked last, in the order of delivery.
    fn take_arrived(&mut self) -> Vec<u64>;
}

/// A byte stream as its application sees it. Bytes are counted, not carried.
pub trait Stream {
    /// Gives it bytes to send.
    fn write(&mut self, bytes: u64);

    /// Takes back what was written and has not been sent for the first time; returns how many
    /// bytes that is. So an application stops at once that writes without end, as one would that
    /// hands over each segment just before it leaves.
    fn withdraw(&mut self) -> u64;

    /// Holds back no small segments from now on (the socket option TCP_NODELAY), where it did.
    fn set_no_delay(&mut self) {}

    /// Nothing more will be written.
    fn close(&mut self);

    /// Bytes that have come in order.
    fn delivered(&self) -> u64;

    /// Whether the other side has closed and all its bytes have come.
    fn is_finished(&self) -> bool;
}

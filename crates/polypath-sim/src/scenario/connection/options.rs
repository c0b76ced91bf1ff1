//! What can be said of a transport.

use crate::scenario::algorithms::registered;
use crate::scenario::declare::{Located, Readable, Refine, Shape, choices, keys, tagged};
use crate::tcp::{Pacing, ReceiveBuffer};
use polypath_config::{DocumentError, Table, Value};
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::registry::{Configured, Kind};
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_units::ByteCount;
use std::time::Duration;

tagged! {
    /// How a connection transports.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Transport by "transport" = "bond" {
        /// A bond: a QUIC connection for each path and one byte sequence over all.
        Bond(BondOptions) = "bond",
        /// TCP over one path.
        Tcp(Tcp) = "tcp",
        /// Multipath TCP (RFC 8684): a subflow for each path.
        Mptcp(Mptcp) = "mptcp",
        /// TCP through a tunnel that spreads its packets over all paths.
        Tunnel(Tunnel) = "tunnel",
        /// QUIC over one path, as a browser speaks it: it takes reordering by three packets for
        /// loss.
        Quic(Quic) = "quic",
        /// Datagrams over one path, without acknowledgements.
        Udp(Udp) = "udp",
    }
}

keys! {
    /// Congestion control.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct WindowControl {
        /// The congestion control after slow start.
        congestion: Option<Configured<CongestionKind>> as registered(Kind::Congestion);
        /// The slow start.
        slow_start: Option<Configured<SlowStartKind>> as registered(Kind::SlowStart);
    }
}

keys! {
    /// The algorithms of a connection over several paths, and the switches between them. What is
    /// not said is as the transport has it.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct CompositionOptions {
        /// Whether one congestion control sees the subflows of all paths.
        coupled: Option<bool>;
        /// What chooses the path of the next segment.
        scheduler: Option<Configured<SchedulerKind>> as registered(Kind::Scheduler);
        /// Whether the scheduler is shown only the paths that the receive buffer has room for, so
        /// that no path makes the others wait (Oh and Lee, ToN 24(6), 2016).
        blocking_protection: Option<bool>;
        /// What decides that a path is dead.
        failure: Option<Configured<FailureKind>> as registered(Kind::Failure);
        /// Whether an idle fast path sends again what blocks the shared receive window, if it would
        /// deliver it earlier (Raiciu et al., NSDI 2012, section 4.2).
        opportunistic_retransmission: Option<bool>;
        /// Whether the slower path that blocks the receive window has its window halved (ibid.).
        penalisation: Option<bool>;
        ..control: WindowControl;
    }
}

keys! {
    /// The options of a bond.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BondOptions {
        /// What carries the frames of the bond on a path.
        carrier: Carrier = "quic";
        /// What decides about the connections that go `through` the bond: a file as `polypath edge
        /// --policy` reads it, relative to this one. If not given, the standard policy.
        policy: Option<Located<String>>;
        /// What becomes of TCP connections that go `through` the bond.
        tcp: InnerTcp = "split";
        ..composition: CompositionOptions;
        ..receive: ReceiveOptions;
    }
}

keys! {
    /// The options of TCP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Tcp {
        /// Options of TCP itself.
        tcp: TcpOptions = {};
        ..control: WindowControl;
        ..receive: ReceiveOptions;
    }
}

keys! {
    /// The options of Multipath TCP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Mptcp {
        /// Whether data is dealt to send buffers of the subflows ahead of time, as Linux does, in
        /// place of the scheduler, opportunistic retransmission and penalisation.
        subflow_buffers: Option<bool>;
        /// The paths that carry data only when no other one can: some of `paths`.
        backup: Vec<Located<PathChoice>> = [];
        /// Options of each subflow's TCP.
        tcp: TcpOptions = {};
        ..composition: CompositionOptions;
        ..receive: ReceiveOptions;
    }
}

keys! {
    /// The options of a tunnel and of the TCP inside it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Tunnel {
        /// What chooses the path of the next packet.
        scheduler: Option<Configured<SchedulerKind>> as registered(Kind::Scheduler);
        /// What decides that a path is dead.
        failure: Option<Configured<FailureKind>> as registered(Kind::Failure);
        /// How long the far end holds packets back to put them in order; at zero it does not.
        resequencing: Duration = "0 s" where "0 s" to "10 s";
        /// Options of the TCP inside.
        tcp: TcpOptions = {};
        ..control: WindowControl;
        ..receive: ReceiveOptions;
    }
}

choices! {
    /// What a gateway makes of TCP connections.
    pub enum InnerTcp {
        /// Streams of the bond: they end at the edge and begin anew at the hub.
        Split = "split",
        /// Packets like all others.
        Tunnel = "tunnel",
    }
}

keys! {
    /// The options of QUIC.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Quic {
        /// So many later packets must be acknowledged before one is taken for lost (RFC 9002,
        /// section 6.1.1).
        packet_threshold: u32 = 3 where 1 to 1000;
        /// The UDP payload of a full packet.
        max_packet: ByteCount = "1350 B" where "1200 B" to "65507 B";
        ..control: WindowControl;
    }
}

keys! {
    /// UDP has no options.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Udp {}
}

choices! {
    /// What carries the frames of a bond on a path.
    pub enum Carrier {
        /// A QUIC connection: the real one.
        Quic = "quic",
        /// A model of it without encryption, for speed.
        Light = "light",
    }
}

choices! {
    for Pacing {
        /// Nothing: segments leave when the window has room.
        Off = "off",
        /// The transport, at a rate from window and round-trip time.
        Internal = "internal",
        /// The congestion control, at the rate it gives.
        Controller = "controller",
    }
}

keys! {
    /// Options of TCP; what is not said is as in the simulator's TCP.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct TcpOptions {
        /// The maximum segment size.
        mss: Option<ByteCount> where "88 B" to "65495 B";
        /// Selective acknowledgements (RFC 2018).
        sack: Option<bool>;
        /// Timestamps (RFC 7323).
        timestamps: Option<bool>;
        /// Explicit congestion notification (RFC 3168).
        ecn: Option<bool>;
        /// This many duplicate acknowledgements mean a loss (RFC 5681).
        dupack_threshold: Option<u32> where 1 to 1000;
        /// Loss detection by time (RFC 8985).
        rack: Option<bool>;
        /// Tail loss probes (RFC 8985, section 7).
        tlp: Option<bool>;
        /// The shortest retransmission timeout (RFC 6298).
        min_rto: Option<Duration> where "1 ms" to "60 s";
        /// How long an acknowledgement may wait; at zero each segment is acknowledged at once.
        delayed_ack: Option<Duration> where "0 s" to "500 ms";
        /// What spreads the segments of a window over time.
        pacing: Option<Pacing>;
        /// The initial window, in segments (RFC 6928).
        initial_window: Option<u32> where 1 to 1000;
        /// Whether the window starts anew after an idle time (RFC 5681, section 4.1).
        idle_restart: Option<bool>;
        /// Whether the sender leaves it to the network card to cut bursts into segments: what is
        /// paced leaves in bursts of a millisecond then, otherwise segment by segment (that is so
        /// in the namespaces of the emulator). If not given, it does.
        gso: Option<bool>;
        /// Whether the receiver merges segments that arrive together before it acknowledges.
        gro: Option<bool>;
    }
}

keys! {
    /// The size of the receive buffer.
    pub(in crate::scenario) struct ReceiveBufferKeys {
        /// The receive buffer that all paths share, of a fixed size.
        receive_buffer: Option<ByteCount> where "1 kB" to "1000 GB";
        /// The size up to which the receive buffer grows as it is needed.
        receive_buffer_max: Option<Located<ByteCount>> where "1 kB" to "1000 GB";
    }
}

/// What is said of the receiving side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveOptions {
    /// The receive buffer; `None` is for the transport to choose.
    pub buffer: Option<ReceiveBuffer>,
}

impl Refine for ReceiveOptions {
    type Raw = ReceiveBufferKeys;

    fn refine(keys: ReceiveBufferKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        let buffer = match (keys.receive_buffer, keys.receive_buffer_max) {
            (None, None) => None,
            (Some(fixed), None) => Some(ReceiveBuffer::Fixed(fixed.get())),
            (None, Some(most)) => Some(ReceiveBuffer::up_to(most.value.get())),
            (Some(_), Some(most)) => return Err(most.wrong(
                "a buffer has a fixed `receive_buffer` or grows to `receive_buffer_max`, not both",
            )),
        };
        Ok(Self { buffer })
    }
}

/// A path of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathChoice {
    /// The path over this link of the host that opens the connection.
    Link(String),
    /// The path over these nodes, from end to end.
    Nodes(Vec<String>),
}

impl Readable for PathChoice {
    fn shape() -> Shape {
        Shape::OneOf(vec![String::shape(), Vec::<String>::shape()])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        if value.is_list() {
            return Vec::read(value).map(Self::Nodes);
        }
        String::read(value).map(Self::Link)
    }
}

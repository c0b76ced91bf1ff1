//! The bond: one connection over several paths.
//!
//! A sans-I/O state machine between the application (streams, datagram flows) and the carriers
//! (one QUIC connection for each path). A driver feeds it what carriers report and asks it what to
//! send:
//!
//! - carrier to bond: [`Bond::on_datagram`], [`Bond::on_packet_sent`], [`Bond::on_packet_acked`],
//!   [`Bond::on_packet_lost`] and their batch ends;
//! - bond to carrier: [`Bond::poll_transmit`], then [`Bond::poll_timeout`];
//! - application: [`Bond::open_stream`], [`Bond::write`], [`Bond::read`], flows, [`Bond::close`],
//!   with [`Bond::poll_event`] saying when to try again.

mod acknowledge;
#[cfg(test)]
mod any_sizes;
mod api;
mod build;
mod carrier;
mod close;
mod copies;
mod delays;
mod failure;
#[cfg(test)]
mod fixtures;
mod flow_status;
mod flows;
mod late;
mod lifecycle;
mod limits;
mod losses;
mod paths;
mod preferences;
mod receive;
mod scratch;
mod selection;
mod status;
mod steering;
mod stream_credit;
mod stream_data;
mod suspected;
mod timers;
mod transmit;
mod turns;
mod unread;
mod views;

pub use carrier::{PathSettings, Transmit};
pub use flow_status::FlowStatus;
pub use status::{BondStatus, PathRates, PathStatus};

use crate::codec::{Control, Frame, Parameters, Side};
use crate::config::BondConfig;
use crate::control::ControlSender;
use crate::event::Event;
use crate::flow::Flows;
use crate::log_limit::LogLimit;
use crate::recv::{AckState, RecvStreams};
use crate::send::{Chunks, SendStreams};
use delays::Delays;
use lifecycle::Lifecycle;
use limits::RateLimits;
use paths::Paths;
use polypath_core::congestion::Congestion;
use polypath_core::failure::FailureDetector;
use polypath_units::{PathSet, Timestamp};
use scratch::Scratch;
use selection::PathSelection;
use std::collections::VecDeque;
use std::time::Duration;
use stream_credit::StreamCredit;
use turns::Turns;
use unread::NOTICE_INTERVAL;

/// What the peer allows us, from its join message and later frames.
#[derive(Debug)]
struct Peer {
    /// DSN below this may be used.
    window: u64,
    stream_window: u64,
    max_ack_delay: Duration,
    idle_timeout: Duration,
}

/// A frame for a certain path, or for the best one.
#[derive(Debug)]
struct Urgent {
    frame: Frame,
    avoid: PathSet,
}

/// One connection over several paths.
///
/// A driver feeds it what its carriers report, asks it what to send, and tells it the time.
#[derive(Debug)]
pub struct Bond {
    side: Side,
    config: BondConfig,
    lifecycle: Lifecycle,
    congestion: Congestion,
    selection: PathSelection,
    detector: Box<dyn FailureDetector>,
    paths: Paths,
    send: SendStreams,
    chunks: Chunks,
    recv: RecvStreams,
    acks: AckState,
    control: ControlSender,
    flows: Flows,
    /// Whether flows or streams are served first.
    turns: Turns,
    delays: Delays,
    peer: Peer,
    stream_credit: StreamCredit,
    urgent: VecDeque<Urgent>,
    /// The last packet of streams was a copy of what a suspected path carries.
    copied_suspected: bool,
    /// A congestion window has grown by sending.
    window_opened: bool,
    limits: RateLimits,
    unread_notice: LogLimit,
    events: VecDeque<Event>,
    counters: BondCounters,
    scratch: Scratch,
}

/// Counters of a bond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BondCounters {
    /// Stream bytes that applications have read.
    pub bytes_read: u64,
    /// Stream bytes that the peer has acknowledged.
    pub bytes_delivered: u64,
    /// DSN space that was sent again.
    pub bytes_reinjected: u64,
    /// DSN space that arrived more than once.
    pub bytes_duplicate: u64,
    /// Datagrams refused because the receive buffer was full of fragments.
    pub fragments_refused: u64,
    /// Streams given up because more waited for readers than may.
    pub streams_unread: u64,
}

impl Bond {
    /// A bond without paths. `peer` is what the other end's join message allows.
    pub fn new(side: Side, config: BondConfig, peer: &Parameters, now: Timestamp) -> Self {
        let scheduler = config.composition.build_scheduler();
        let acks = AckState::new(config.ack_every, config.max_ack_delay, config.receive_buffer);
        let mut bond = Self {
            side,
            lifecycle: Lifecycle::new(),
            congestion: Congestion::new(config.composition.congestion.clone()),
            selection: PathSelection::new(scheduler),
            detector: config.composition.failure.build(),
            paths: Paths::new(now),
            send: SendStreams::default(),
            chunks: Chunks::default(),
            recv: RecvStreams::new(&config),
            acks,
            control: ControlSender::default(),
            flows: Flows::new(side, config.flow_buffers()),
            turns: Turns::default(),
            delays: Delays::default(),
            peer: Peer {
                window: peer.initial_window,
                stream_window: peer.stream_window,
                max_ack_delay: peer.max_ack_delay,
                idle_timeout: peer.idle_timeout,
            },
            stream_credit: StreamCredit::new(side, peer.max_streams, config.max_streams),
            urgent: VecDeque::new(),
            copied_suspected: false,
            window_opened: false,
            limits: RateLimits::new(config.max_rate, now),
            unread_notice: LogLimit::every(NOTICE_INTERVAL),
            events: VecDeque::new(),
            counters: BondCounters::default(),
            scratch: Scratch::default(),
            config,
        };
        bond.tell_first_windows();
        bond
    }

    /// What this end allows the peer, for the join message.
    pub fn parameters(config: &BondConfig) -> Parameters {
        Parameters {
            initial_window: config.receive_buffer,
            stream_window: config.stream_window,
            max_streams: config.max_streams,
            idle_timeout: config.idle_timeout,
            max_ack_delay: config.max_ack_delay,
        }
    }

    /// Takes the peer's parameters over, when its join answer arrives after the bond was made.
    pub(crate) fn set_peer(&mut self, peer: &Parameters) {
        self.peer.window = self.peer.window.max(peer.initial_window);
        self.peer.stream_window = peer.stream_window;
        for id in self.send.ids().collect::<Vec<_>>() {
            self.send.raise_limit(id, peer.stream_window);
        }
        self.on_max_streams(peer.max_streams);
        self.peer.max_ack_delay = peer.max_ack_delay;
        self.peer.idle_timeout = peer.idle_timeout;
    }

    /// The next thing that the application may act on.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn tell(&mut self, message: Control) {
        self.control.push(message);
    }
}

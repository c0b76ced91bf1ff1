//! Links between the interfaces of a network namespace.
//!
//! A wire joins two interfaces, usually ends of veth pairs whose other ends are in the namespaces
//! of hosts. What comes out of one passes a [`Link`], the very model of the simulator, and goes
//! into the other; so it does in the other direction.
//!
//! * The link counts the bytes of the IP packet, as the simulator does: no Ethernet header.
//! * Flows are told apart by addresses, protocol and ports. The class of a packet is its DSCP, so
//!   that class n of a scenario is the traffic of programs that set DSCP n. Queues with ECN set
//!   Congestion Experienced in packets that are ECN-capable.
//! * ARP, IPv6 neighbour and router discovery and IPv6 multicast of link scope pass at once and
//!   without the link, unless it is down: the links of a simulator carry no such packets, so they
//!   must not count where every n-th one is lost. Other frames without an IP packet are dropped.
//! * The interfaces must give packets as they would be on a real link: no larger than the MTU,
//!   which means `gso_max_segs 1` at the sender and no GRO. Larger ones are dropped and counted
//!   as oversized. Checksums may be left to the wire. The MTU is read at the start.
//! * Schedules, traces and outages of wires with the same [`Clock`] agree.
//!
//! # Accuracy
//!
//! Packets enter the link at the time that the kernel has stamped on them when they arrived,
//! however late the thread of the wire sees them. They leave it when the thread is awake: see
//! [`DirectionReport::lateness`]. It asks for real-time priority (`SCHED_FIFO`), which keeps it
//! punctual on a busy host; Linux gives such threads up to 95 % of each second by default
//! (`kernel.sched_rt_runtime_us`). At high packet rates it moves several packets at a time.
//!
//! Only on Linux, and with `CAP_NET_RAW` and `CAP_NET_ADMIN` in the namespace of the interfaces.

pub mod frame;
mod one_way;
mod os;
mod parcel;
mod report;
mod socket;
mod worker;

pub use parcel::Parcel;
pub use report::{DirectionReport, WireReport};

use crate::realtime::{Clock, Mover, Shared};
use polypath_link::{ConfigError, Link, LinkConfig};
use polypath_sim::Direction;
use polypath_units::Timestamp;
use socket::PacketSocket;
use std::io;
use std::sync::{Arc, mpsc};
use worker::{State, Worker};

/// A wire to be.
#[derive(Clone, Debug)]
pub struct WireSpec {
    /// Its name, for errors, reports and threads.
    pub name: String,
    /// The interface whose packets go up.
    pub up_from: String,
    /// The interface whose packets go down.
    pub down_from: String,
    /// The link from `up_from` to `down_from`.
    pub up: LinkConfig,
    /// The link from `down_from` to `up_from`.
    pub down: LinkConfig,
    /// The seeds of the two links.
    pub seeds: [u64; 2],
}

/// Why a wire cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The settings of a link cannot be used.
    #[error("wire {wire}, {}: {error}", direction.name())]
    Link {
        /// The wire.
        wire: String,
        /// The direction of the link.
        direction: Direction,
        /// What is wrong.
        error: ConfigError,
    },
    /// The thread could not enter the namespace.
    #[error("wire {wire}: cannot enter its network namespace: {error}")]
    Namespace {
        /// The wire.
        wire: String,
        /// Why.
        error: io::Error,
    },
    /// No packet socket for an interface.
    #[error("wire {wire}: no packet socket on interface {interface}: {error}")]
    Socket {
        /// The wire.
        wire: String,
        /// The interface.
        interface: String,
        /// Why.
        error: io::Error,
    },
    /// No thread.
    #[error("wire {wire}: cannot start its thread: {error}")]
    Thread {
        /// The wire.
        wire: String,
        /// Why.
        error: io::Error,
    },
}

/// A running wire. Dropping it stops it.
#[derive(Debug)]
pub struct Wire {
    name: String,
    clock: Clock,
    sockets: Arc<[PacketSocket; 2]>,
    thread: Mover<State>,
}

impl Wire {
    /// Starts a wire. Its thread first calls `enter`, which moves it into the namespace of the
    /// interfaces. From the return of this on, no packet is missed.
    ///
    /// # Errors
    /// See [`WireError`]; nothing is left running then.
    pub fn start(
        spec: WireSpec,
        clock: Clock,
        enter: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> Result<Self, WireError> {
        let WireSpec { name, up_from, down_from, up, down, seeds } = spec;
        let links =
            [link(&name, Direction::Up, up, seeds)?, link(&name, Direction::Down, down, seeds)?];
        let thread_error = |error| WireError::Thread { wire: name.clone(), error };
        let (ready, started) = mpsc::sync_channel(1);
        let wire = name.clone();
        let work = move |shared: &Shared<State>| {
            let sockets = open(&wire, enter, [up_from, down_from]);
            let worker = sockets.as_ref().ok().map(|sockets| Worker::new(sockets.clone(), clock));
            // The other end waits for this.
            let _ = ready.send(sockets);
            if let Some(worker) = worker {
                worker.run(shared);
            }
        };
        let thread = Mover::start(format!("wire {name}"), State::new(links), work);
        let thread = thread.map_err(thread_error)?;
        let ended = || Err(thread_error(io::Error::other("it ended at once")));
        let sockets = started.recv().unwrap_or_else(|_| ended())?;
        Ok(Self { name, clock, sockets, thread })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Switches a direction off, silently, or on again. It has happened when this returns.
    pub fn set_down(&self, direction: Direction, down: bool) {
        self.change(direction, |link, now| link.set_down(now, down));
    }

    /// Changes the settings of a link.
    ///
    /// # Errors
    /// What [`LinkConfig::check`] finds; the link is then unchanged.
    pub fn set_config(&self, direction: Direction, config: LinkConfig) -> Result<(), ConfigError> {
        self.change(direction, |link, now| link.set_config(now, config))
    }

    /// Does anything to a link at the present time. Packets wait meanwhile.
    pub fn change<T>(
        &self,
        direction: Direction,
        change: impl FnOnce(&mut Link<Parcel>, Timestamp) -> T,
    ) -> T {
        let mut state = self.thread.shared().lock();
        let result = change(&mut state.ways[direction as usize].link, self.clock.now());
        drop(state);
        self.thread.shared().wake();
        result
    }

    /// What it has done so far.
    pub fn report(&self) -> WireReport {
        self.thread.shared().lock().report(&self.name, &self.sockets)
    }

    /// Stops it and waits for its thread. What is still in the links is lost.
    pub fn stop(mut self) -> WireReport {
        self.thread.stop();
        self.report()
    }
}

fn link(
    wire: &str,
    direction: Direction,
    config: LinkConfig,
    seeds: [u64; 2],
) -> Result<Link<Parcel>, WireError> {
    Link::new(config, seeds[direction as usize]).map_err(|error| WireError::Link {
        wire: wire.to_owned(),
        direction,
        error,
    })
}

/// Enters the namespace and takes the interfaces.
fn open(
    wire: &str,
    enter: impl FnOnce() -> io::Result<()>,
    interfaces: [String; 2],
) -> Result<Arc<[PacketSocket; 2]>, WireError> {
    enter().map_err(|error| WireError::Namespace { wire: wire.to_owned(), error })?;
    let bind = |interface: String| {
        PacketSocket::bind(&interface).map_err(|error| WireError::Socket {
            wire: wire.to_owned(),
            interface,
            error,
        })
    };
    let [up, down] = interfaces;
    Ok(Arc::new([bind(up)?, bind(down)?]))
}

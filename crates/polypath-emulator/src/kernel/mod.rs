//! The connections of a scenario on the kernel's own TCP and Multipath TCP, in a live network.

mod buffer;
mod congestion;
mod plan;
mod socket;
mod tcp_info;
mod timeline;
mod transfer;
mod watch;
mod window;

pub use buffer::BufferSample;
pub use congestion::{KernelCongestion, LoadedCongestion, Loading};
pub(crate) use plan::ends;
pub use plan::{KernelConnection, KernelFlow, Unsuited, connections, host_sysctls, kernel_has};
pub use socket::KernelTransport;
pub(crate) use tcp_info::tcp_info;
pub use timeline::Timeline;
pub(crate) use transfer::Transfer;
pub use transfer::{Pace, Source};
pub use window::WindowSample;

use crate::live::{Network, NetworkReport};
use crate::netns::enter;
use crate::realtime::{Clock, rest};
use polypath_sim::Direction;
use polypath_units::Timestamp;
use socket::Connected;
use std::io;
use std::thread;
use std::time::Duration;
use watch::next_multiple;

/// Why the kernel did not run a scenario.
#[derive(Debug, thiserror::Error)]
#[error("connection {connection:?}: {error}")]
pub struct KernelError {
    /// The connection.
    pub connection: String,
    /// What the operating system said.
    pub error: io::Error,
}

impl KernelConnection {
    fn failed(&self, problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> KernelError {
        KernelError { connection: self.name.clone(), error: io::Error::other(problem) }
    }
}

/// How long a scenario goes on, and when it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// When the links are looked at first.
    pub warm_up: Timestamp,
    /// The end.
    pub end: Timestamp,
    /// What is looked at meanwhile.
    pub looks: Looks,
}

/// What is looked at while a scenario runs, and how often: now and at all multiples of the time.
/// What has none is not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// The windows of senders. Of Multipath TCP that is the window of the first subflow.
    pub windows: Option<Duration>,
    /// The receive buffers.
    pub buffers: Option<Duration>,
    /// The links.
    pub links: Option<Duration>,
}

/// What the kernel did of a flow.
#[derive(Clone, Debug, Default)]
pub struct FlowOutcome {
    /// What the receiver got.
    pub received: Timeline,
    /// What the windows of the sender were, if they were looked at.
    pub windows: Vec<WindowSample>,
    /// What the receiver held, if that was looked at.
    pub buffers: Vec<BufferSample>,
}

/// What the kernel did of a scenario.
#[derive(Clone, Debug)]
pub struct KernelOutcome {
    /// Of each flow of each connection.
    pub flows: Vec<Vec<FlowOutcome>>,
    /// The links at the end of the warm-up.
    pub warm: NetworkReport,
    /// The links at the end.
    pub end: NetworkReport,
    /// The links on the way there with the time, if they were looked at.
    pub links: Vec<(Timestamp, NetworkReport)>,
}

/// Runs connections until the end. What their congestion controls take has been loaded
/// ([`Loading`]): that takes longer than a transfer may, and the network's time runs.
///
/// # Errors
/// If one of them cannot be opened, or breaks.
pub fn run(
    network: &Network,
    connections: &[KernelConnection],
    schedule: Schedule,
) -> Result<KernelOutcome, KernelError> {
    let clock = network.clock();
    thread::scope(|scope| {
        let spawn = |connection| scope.spawn(move || serve(connection, clock, schedule));
        let running: Vec<_> = connections.iter().map(spawn).collect();
        let mut links = Vec::new();
        look_until(network, schedule.warm_up, schedule.looks.links, &mut links);
        let warm = network.report();
        look_until(network, schedule.end, schedule.looks.links, &mut links);
        let end = network.report();
        let join = |(running, connection): (thread::ScopedJoinHandle<'_, _>, &KernelConnection)| {
            let panicked = |_| Err(io::Error::other("its thread panicked"));
            let outcome: io::Result<Vec<FlowOutcome>> = running.join().unwrap_or_else(panicked);
            outcome.map_err(|error| KernelError { connection: connection.name.clone(), error })
        };
        let flows = running.into_iter().zip(connections).map(join).collect::<Result<_, _>>()?;
        Ok(KernelOutcome { flows, warm, end, links })
    })
}

/// Runs the first flow of a connection alone, which ends by itself, and tells how long it took from
/// its first byte on. What the connection needs must be [loaded](Loading).
pub(crate) fn single_transfer(connection: &KernelConnection) -> Result<Duration, KernelError> {
    let run = || {
        let Connected { client, server, .. } = &open(connection)?;
        let clock = Clock::start();
        let flow = connection.flows[0];
        Transfer::start(client, server, flow.source, clock, Looks::default())?.finish()?;
        Ok(clock.now().since(Timestamp::ZERO))
    };
    run().map_err(|error| KernelError { connection: connection.name.clone(), error })
}

/// A connection from its start to its end.
fn serve(
    connection: &KernelConnection,
    clock: Clock,
    schedule: Schedule,
) -> io::Result<Vec<FlowOutcome>> {
    wait_until(clock, connection.start);
    let ends = open(connection)?;
    let mut order: Vec<usize> = (0..connection.flows.len()).collect();
    order.sort_by_key(|&flow| connection.flows[flow].start);
    let mut running = Vec::new();
    for number in order {
        let flow = connection.flows[number];
        wait_until(clock, flow.start);
        let (sender, receiver) = match flow.direction {
            Direction::Up => (&ends.client, &ends.server),
            Direction::Down => (&ends.server, &ends.client),
        };
        let transfer = Transfer::start(sender, receiver, flow.source, clock, schedule.looks)?;
        running.push((flow.stop.min(schedule.end), number, transfer));
    }
    running.sort_by_key(|&(stop, ..)| stop);
    let mut outcomes = vec![FlowOutcome::default(); running.len()];
    for (stop, number, transfer) in running {
        wait_until(clock, stop);
        outcomes[number] = transfer.stop()?;
    }
    Ok(outcomes)
}

fn open(connection: &KernelConnection) -> io::Result<Connected> {
    let KernelConnection { transport, client, server, .. } = connection;
    let congestion = connection.congestion.name();
    let listening =
        in_namespace(&server.0, || socket::listening(*transport, congestion, server.1))?;
    let client = in_namespace(&client.0, || socket::bound(*transport, congestion, client.1))?;
    socket::connect(client, listening)
}

/// Does something in a thread that has moved into a namespace; sockets stay in the one in which
/// they were made.
pub(crate) fn in_namespace<T: Send>(
    name: &str,
    act: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let panicked = |_| Err(io::Error::other("its thread panicked"));
    thread::scope(|scope| {
        let acting = scope.spawn(|| enter(name).and_then(|()| act()));
        acting.join().unwrap_or_else(panicked)
    })
}

/// Looks at the links until a time.
fn look_until(
    network: &Network,
    until: Timestamp,
    every: Option<Duration>,
    looks: &mut Vec<(Timestamp, NetworkReport)>,
) {
    let clock = network.clock();
    while let Some(every) = every {
        let next = next_multiple(clock.now(), every);
        if next > until {
            break;
        }
        wait_until(clock, next);
        looks.push((clock.now(), network.report()));
    }
    wait_until(clock, until);
}

fn wait_until(clock: Clock, at: Timestamp) {
    rest(at.since(clock.now()));
}

//! Opening connections at an edge.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use polypath_bond::{FlowMode, PathState, PathStatus};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::channel::Channel;
use super::counts::{Counters, MptcpCounts, WhyBond};
use super::edge::EdgeSession;
use super::socket;
use super::stream::{MptcpOrBond, MptcpStream};
use crate::attempts;
use crate::driver::{BondSnapshot, Driver};
use crate::edge::{EdgeFlow, EdgeOpener, Uplink, Uplinks};
use crate::limit::Notices;
use crate::proxy::{Carriage, FlowOptions, GuardedStream, OpenError, Opener, Way};
use crate::tunnel::handshake::receive;
use crate::tunnel::{ConnectionHeader, Refusal, Status, Target, decode_answer};

/// Time for one of the first subflows to come about. A SYN that is lost is sent again after 1 s
/// (RFC 6298, section 2), so that this covers a loss on a path with a long round trip.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Where nothing could be reached, connections of the next time go over the bond without waiting
/// for it again.
const PAUSE: Duration = Duration::from_secs(10);

/// Opens connections over Multipath TCP, and over the bond what cannot go there. Clones are the
/// same one.
#[derive(Clone, Debug)]
pub struct MptcpOpener {
    bond: EdgeOpener,
    ways: Arc<Ways>,
}

/// What is known of the ways to the hub.
#[derive(Debug)]
pub(super) struct Ways {
    session: watch::Receiver<Option<Arc<EdgeSession>>>,
    uplinks: watch::Receiver<Uplinks>,
    mark: Option<u32>,
    is_supported: bool,
    /// Until when nothing is tried.
    pause: Mutex<Option<Instant>>,
    counters: Arc<Counters>,
    notices: Notices<WhyBond>,
}

/// Why there is no connection over Multipath TCP.
#[derive(Debug)]
enum Failed {
    /// The hub has answered so, as it would in the bond.
    Refused(Refusal),
    /// It goes over the bond.
    Way(WhyBond, Option<io::Error>),
}

impl Failed {
    fn broken(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Way(WhyBond::Broken, Some(io::Error::other(error)))
    }
}

impl Ways {
    pub(super) fn new(
        session: watch::Receiver<Option<Arc<EdgeSession>>>,
        uplinks: watch::Receiver<Uplinks>,
        mark: Option<u32>,
    ) -> Self {
        Self {
            session,
            uplinks,
            mark,
            is_supported: socket::is_supported(),
            pause: Mutex::default(),
            counters: Arc::default(),
            notices: Notices::default(),
        }
    }

    pub(super) fn counts(&self) -> MptcpCounts {
        self.counters.counts()
    }

    /// The session, if a connection that is carried so may take this way now.
    fn session_for(&self, carriage: &Carriage) -> Result<Arc<EdgeSession>, WhyBond> {
        if !suits(carriage) {
            return Err(WhyBond::Steered);
        }
        if !self.is_supported {
            return Err(WhyBond::Unsupported);
        }
        let session = self.session.borrow().clone().ok_or(WhyBond::NotOffered)?;
        let pause = *self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        match pause {
            Some(until) if Instant::now() < until => Err(WhyBond::Unreachable),
            _ => Ok(session),
        }
    }

    /// Connects by the best path that answers.
    async fn dial(&self, driver: &Driver, session: &EdgeSession) -> Result<TcpStream, Failed> {
        let bond = driver.snapshot(session.bond);
        let ways = bond.map(|bond| by_worth(&bond, &self.uplinks.borrow())).unwrap_or_default();
        let attempts = ways.into_iter().map(|Uplink { from, hub }| {
            socket::connect(from, self.mark, SocketAddr::new(hub.ip(), session.port.get()))
        });
        let first = timeout(CONNECT_WITHIN, attempts::first(attempts)).await;
        first.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(|error| {
            let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
            *pause = Some(Instant::now() + PAUSE);
            Failed::Way(WhyBond::Unreachable, Some(error))
        })
    }

    /// Says who it is and where it leads, and waits for the answer.
    async fn introduce(
        &self,
        tcp: TcpStream,
        session: &EdgeSession,
        target: Target,
    ) -> Result<MptcpStream, Failed> {
        let stream = GuardedStream::new(tcp).map_err(Failed::broken)?;
        let mut channel = match &session.tls {
            Some(tls) => tls.connect(stream).await.map_err(Failed::broken)?,
            None => Channel::Plain(stream),
        };
        let number = session.next_connection();
        let header = ConnectionHeader { session: session.number, number, target };
        channel.write_all(&header.encode(&session.keys)).await.map_err(Failed::broken)?;
        channel.flush().await.map_err(Failed::broken)?;
        let answer = receive(&mut channel, decode_answer).await.map_err(Failed::broken)?;
        match answer.open(number, &session.keys).map_err(Failed::broken)? {
            Status::Ok => Ok(MptcpStream::new(channel, Arc::clone(&self.counters))),
            Status::Refused(refusal) => Err(Failed::Refused(refusal)),
        }
    }

    /// One goes over the bond. What rules want is no news; of the rest the log has a line a minute.
    fn give_up(&self, why: WhyBond, error: Option<&io::Error>) {
        self.counters.go_over_bond(why);
        if why == WhyBond::Steered {
            return;
        }
        if let Some(times) = self.notices.happens(why) {
            let why = why.reason();
            let error = error.map(tracing::field::display);
            tracing::warn!(times, error, "connections go over the bond {why}");
        }
    }
}

/// Whether the kernel's scheduler does what is asked for: it uses all subflows for their rates, and
/// knows nothing of the names of paths.
fn suits(carriage: &Carriage) -> bool {
    carriage.mode == FlowMode::Aggregate && carriage.paths.is_empty()
}

/// The uplinks of paths that work, the one of lowest round-trip time in front; backups behind all
/// others. Each leads to where the path has joined.
fn by_worth(bond: &BondSnapshot, uplinks: &Uplinks) -> Vec<Uplink> {
    let mut paths: Vec<_> = bond.status.paths.iter().collect();
    paths.retain(|path| path.state == PathState::Active);
    paths.sort_by_key(|path| (path.backup, path.srtt.unwrap_or(Duration::MAX)));
    let of_path = |path: &&PathStatus| {
        let ways = uplinks.get(&path.id)?;
        let remote = bond.remotes.get(&path.id);
        let joined = ways.iter().find(|way| Some(&way.hub) == remote);
        joined.or(ways.first()).cloned()
    };
    paths.iter().filter_map(of_path).collect()
}

impl MptcpOpener {
    pub(super) fn new(bond: EdgeOpener, ways: Arc<Ways>) -> Self {
        Self { bond, ways }
    }

    async fn beside_bond(
        &self,
        carriage: &Carriage,
        target: Target,
    ) -> Result<MptcpStream, Failed> {
        let session = self.ways.session_for(carriage).map_err(|why| Failed::Way(why, None))?;
        let tcp = self.ways.dial(self.bond.driver(), &session).await?;
        self.ways.introduce(tcp, &session, target).await
    }
}

impl Opener for MptcpOpener {
    type Stream = MptcpOrBond;
    type Flow = EdgeFlow;

    async fn connect(&self, target: Target) -> Result<MptcpOrBond, OpenError> {
        self.connect_as(&Carriage::default(), target).await
    }

    async fn connect_as(
        &self,
        carriage: &Carriage,
        target: Target,
    ) -> Result<MptcpOrBond, OpenError> {
        match self.beside_bond(carriage, target.clone()).await {
            Ok(stream) => Ok(MptcpOrBond::Mptcp(stream)),
            Err(Failed::Refused(refusal)) => Err(refusal.into()),
            Err(Failed::Way(why, error)) => {
                self.ways.give_up(why, error.as_ref());
                self.bond.connect(target).await.map(MptcpOrBond::Bond)
            }
        }
    }

    async fn associate(&self, options: FlowOptions) -> Result<EdgeFlow, OpenError> {
        self.bond.associate(options).await
    }

    fn way(&self) -> Way {
        self.bond.way()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::BindTo;
    use polypath_bond::identity::SecretKey;
    use polypath_bond::{BondCounters, BondKey, BondStatus, PathCounters};
    use polypath_policy::SteeringPath;
    use polypath_units::PathId;
    use std::collections::BTreeMap;

    fn path(number: u8, state: PathState, backup: bool, ms: Option<u64>) -> PathStatus {
        PathStatus {
            id: PathId::new(number).unwrap(),
            name: number.to_string(),
            state,
            backup,
            srtt: ms.map(Duration::from_millis),
            min_rtt: None,
            cwnd: 0,
            in_flight: 0,
            delivery_rate: 0.0,
            loss: 0.0,
            counters: PathCounters::default(),
        }
    }

    fn snapshot(paths: Vec<PathStatus>, joined_at: u8) -> BondSnapshot {
        let remotes = paths.iter().map(|path| (path.id, hub(joined_at))).collect();
        let counters = BondCounters::default();
        let status = BondStatus { paths, counters, unsent: 0, unacked: 0, buffered: 0, gaps: 0 };
        let peer = SecretKey::from_seed([1; 32]).public();
        let (rates, same_key) = (BTreeMap::new(), Vec::new());
        BondSnapshot { key: BondKey(1), peer, status, remotes, rates, same_key }
    }

    fn hub(host: u8) -> SocketAddr {
        ([192, 0, 2, host], 4_433).into()
    }

    #[test]
    fn the_fastest_path_that_works_is_first_and_backups_are_last() {
        use PathState::{Active, Failed};
        let paths = vec![
            path(0, Active, true, Some(1)),
            path(1, Active, false, Some(30)),
            path(2, Failed, false, Some(2)),
            path(3, Active, false, None),
            path(4, Active, false, Some(10)),
            path(5, Active, false, Some(5)),
        ];
        let way = |number: u8, host| Uplink {
            from: BindTo::Address([10, 0, 0, number].into()),
            hub: hub(host),
        };
        // The last of them has gone meanwhile.
        let uplinks: Uplinks = (0..5)
            .map(|number| (PathId::new(number).unwrap(), vec![way(number, 1), way(number, 2)]))
            .collect();
        for (joined_at, leads_to) in [(2, 2), (9, 1)] {
            let order = by_worth(&snapshot(paths.clone(), joined_at), &uplinks);
            let order: Vec<_> = order.into_iter().map(|way| (way.from, way.hub)).collect();
            let expected = [4, 1, 3, 0]
                .map(|number| (BindTo::Address([10, 0, 0, number].into()), hub(leads_to)));
            assert_eq!(order, expected);
        }
    }

    #[test]
    fn only_what_the_kernel_can_obey_leaves_the_bond() {
        let path = SteeringPath { name: "lte".to_owned(), weight: None };
        let listed = Carriage { paths: vec![path].into(), ..Carriage::default() };
        assert!(!suits(&listed));
        let suited: Vec<_> =
            FlowMode::ALL.into_iter().filter(|mode| suits(&(*mode).into())).collect();
        assert_eq!(suited, [FlowMode::Aggregate]);
    }
}

//! The links of the paths between an edge and a hub.

use polypath_link::{ConfigError, Counters, Link, Packet, RunSeed, SendOutcome};
use polypath_sim::{Direction, PathLinks};
use polypath_units::Timestamp;

/// A packet that came out of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival<P> {
    /// The index of its path.
    pub(crate) path: usize,
    /// Which way it went.
    pub(crate) direction: Direction,
    /// The packet.
    pub(crate) packet: P,
}

/// The paths between an edge and a hub, known by their index.
///
/// Like a [`Link`], it is driven by time passed in. Link `2 * path` (up) and `2 * path + 1`
/// (down) take the streams of these numbers from the seed.
///
/// # Panics
/// Methods that take a path panic if there is none of that index.
#[derive(Clone, Debug)]
pub(crate) struct Network<P> {
    links: Vec<Link<P>>,
}

impl<P: Packet> Network<P> {
    /// A network of these paths.
    ///
    /// # Errors
    /// When a link's settings cannot be used.
    pub(crate) fn new(
        paths: impl IntoIterator<Item = PathLinks>,
        seed: RunSeed,
    ) -> Result<Self, ConfigError> {
        let configs = paths.into_iter().flat_map(|path| [path.up, path.down]);
        let links = (0..).zip(configs).map(|(i, config)| Link::new(config, seed.stream(i)));
        Ok(Self { links: links.collect::<Result<_, _>>()? })
    }

    /// How many paths there are.
    pub(crate) fn paths(&self) -> usize {
        self.links.len() / 2
    }

    /// Sends a packet of `bytes` bytes.
    pub(crate) fn send(
        &mut self,
        now: Timestamp,
        path: usize,
        direction: Direction,
        bytes: u32,
        packet: P,
    ) -> SendOutcome {
        self.link_mut(path, direction).send(now, bytes, packet)
    }

    /// Takes the next packet that has arrived by `now`; call until `None`. The earliest comes
    /// first, among equals that of the lowest path, up before down.
    pub(crate) fn poll(&mut self, now: Timestamp) -> Option<Arrival<P>> {
        loop {
            let (at, index) = self.earliest()?;
            if at > now {
                return None;
            }
            // Polled at its own event time, a link gives the packet of that event or none, and
            // its next event is then later.
            if let Some(packet) = self.links[index].poll(at) {
                let direction = if index % 2 == 0 { Direction::Up } else { Direction::Down };
                return Some(Arrival { path: index / 2, direction, packet });
            }
        }
    }

    /// When to call [`poll`](Self::poll) next; see [`Link::next_event`].
    pub(crate) fn next_event(&self) -> Option<Timestamp> {
        self.earliest().map(|(at, _)| at)
    }

    /// Switches both directions of a path off, silently, or on again: [`Link::set_down`].
    pub(crate) fn set_down(&mut self, now: Timestamp, path: usize, down: bool) {
        for direction in [Direction::Up, Direction::Down] {
            self.link_mut(path, direction).set_down(now, down);
        }
    }

    /// One link, to look at.
    pub(crate) fn link(&self, path: usize, direction: Direction) -> &Link<P> {
        &self.links[index(path, direction)]
    }

    /// One link, to change it. Send and poll through the network.
    pub(crate) fn link_mut(&mut self, path: usize, direction: Direction) -> &mut Link<P> {
        &mut self.links[index(path, direction)]
    }

    /// The books of one link.
    pub(crate) fn counters(&self, path: usize, direction: Direction) -> Counters {
        self.link(path, direction).counters()
    }

    fn earliest(&self) -> Option<(Timestamp, usize)> {
        let events = self.links.iter().enumerate();
        events.filter_map(|(index, link)| Some((link.next_event()?, index))).min()
    }
}

fn index(path: usize, direction: Direction) -> usize {
    2 * path + usize::from(direction == Direction::Down)
}

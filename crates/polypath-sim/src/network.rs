//! Paths between two hosts, each of two links.

use core::ops::Not;
use polypath_link::LinkConfig;

/// What IPv4 and UDP add to a datagram, in bytes.
pub const IP_UDP_HEADER: u32 = 20 + 8;

/// A direction of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the edge to the hub.
    Up,
    /// From the hub to the edge.
    Down,
}

impl Direction {
    /// What it is called in files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

impl Not for Direction {
    type Output = Self;
    fn not(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// The two links of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathLinks {
    /// From the edge to the hub.
    pub up: LinkConfig,
    /// From the hub to the edge.
    pub down: LinkConfig,
}

impl PathLinks {
    /// The same link in both directions.
    pub fn symmetric(link: LinkConfig) -> Self {
        Self { up: link.clone(), down: link }
    }
}

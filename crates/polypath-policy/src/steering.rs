//! How traffic is spread, and over which paths.

use std::fmt;
use std::time::Duration;

use crate::SteeringMode;

/// Most paths that a rule can name.
pub const MAX_STEERING_PATHS: usize = 8;

/// The longest name of a path, in bytes of UTF-8: what both ends of a bond call it.
pub const MAX_PATH_NAME: usize = 64;

/// Most copies that a rule can ask for: a bond has no more paths.
pub const MAX_COPIES: u8 = 64;

/// The highest [`SteeringPath::weight`].
pub const MAX_WEIGHT: u8 = 100;

/// The highest [`Redundancy::rtt_above`].
pub const MAX_RTT_ABOVE: Duration = Duration::from_secs(60);

/// How the packets of some traffic are spread over the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steering {
    /// How each packet gets its path.
    pub mode: SteeringMode,
    /// The paths that it may be, in the order of their priority; if there are none, every path.
    pub paths: Vec<SteeringPath>,
    /// Of mode [`SteeringMode::Redundant`]: which packets have how many copies.
    pub redundancy: Redundancy,
    /// Whether packets that are lost are sent again; `None` if the rule does not say.
    pub resend: Option<bool>,
    /// Of the modes that put packets in order: whether they do; `None` if the rule does not say.
    /// Without order packets are delivered as they arrive.
    pub in_order: Option<bool>,
    /// Of mode [`SteeringMode::SmallestDelay`]: packets have a copy on a second path while copies
    /// take no more than this share of what the paths carry, in millionths; 0 if none has.
    pub copy_share: u32,
}

/// A path that traffic may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteeringPath {
    /// What the edge calls it.
    pub name: String,
    /// Of mode [`SteeringMode::LoadBalancing`]: its share of the traffic in proportion to those of
    /// the other paths, from 1 to [`MAX_WEIGHT`]; `None` where none has one.
    pub weight: Option<u8>,
}

/// Which packets have how many copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redundancy {
    /// One on each of so many paths, those of smallest RTT, from 2 to [`MAX_COPIES`]; `None`: on
    /// each path.
    pub copies: Option<u8>,
    /// There are copies only while there is no path of at most this RTT, up to [`MAX_RTT_ABOVE`].
    pub rtt_above: Option<Duration>,
    /// There are copies only while there is no path that loses at most this share of its packets,
    /// in millionths.
    pub loss_above: Option<u32>,
}

impl Redundancy {
    /// The share of lost packets from 0 to 1 above which there are copies.
    pub fn loss_share(&self) -> Option<f64> {
        self.loss_above.map(|millionths| f64::from(millionths) / 1e6)
    }
}

impl Steering {
    /// The share from 0 to 1 of what the paths carry that copies may take, if there are any.
    pub fn copy_share(&self) -> Option<f64> {
        (self.copy_share > 0).then(|| f64::from(self.copy_share) / 1e6)
    }
}

impl From<SteeringMode> for Steering {
    fn from(mode: SteeringMode) -> Self {
        Self { mode, ..Self::default() }
    }
}

/// All that a rule says of it, such as `load_balancing over wifi (80), lte (20)`.
impl fmt::Display for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.mode, self.redundancy)?;
        if let Some(share) = self.copy_share() {
            write!(f, " with copies up to {share} of the rate")?;
        }
        for (at, path) in self.paths.iter().enumerate() {
            write!(f, "{}{path}", if at == 0 { " over " } else { ", " })?;
        }
        f.write_str(match self.resend {
            None => "",
            Some(true) => ", lost ones again",
            Some(false) => ", lost ones not again",
        })?;
        f.write_str(match self.in_order {
            None => "",
            Some(true) => ", in order",
            Some(false) => ", in any order",
        })
    }
}

impl fmt::Display for SteeringPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.weight.map_or(Ok(()), |weight| write!(f, " ({weight})"))
    }
}

/// What differs from copies of all packets on all paths, such as ` with 2 copies while RTT is above
/// 80 ms`.
impl fmt::Display for Redundancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(copies) = self.copies {
            write!(f, " with {copies} copies")?;
        }
        match (self.rtt_above, self.loss_share()) {
            (None, None) => Ok(()),
            (Some(rtt), None) => write!(f, " while RTT is above {rtt:?}"),
            (None, Some(loss)) => write!(f, " while loss is above {loss}"),
            (Some(rtt), Some(loss)) => {
                write!(f, " while RTT is above {rtt:?} or loss above {loss}")
            }
        }
    }
}

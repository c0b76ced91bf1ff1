//! How a datagram flow is carried: what FLOW_OPEN says of it behind its number.

use super::control::path;
use super::path_list::{ListedPath, MAX_LISTED_PATHS, MAX_WEIGHT, PathList, PathListError};
use super::varint::{Reader, put_varint, varint_size};
use super::{DecodeError, FlowMode};
use bytes::BufMut;
use core::num::NonZeroU8;
use polypath_units::PathId;
use std::time::Duration;

/// The longest [`FlowConfig::resequence`] and [`Redundancy::rtt_above`]; a longer one is sent as
/// this.
pub(crate) const MAX_FLOW_TIME: Duration = Duration::from_secs(60);

/// All packets, in millionths.
const WHOLE: u64 = 1_000_000;

/// How a datagram flow is carried, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlowConfig {
    /// How its datagrams use the paths.
    pub mode: FlowMode,
    /// Which paths they may take. Weights are told in mode [`FlowMode::LoadBalancing`] alone.
    pub paths: PathList,
    /// Which datagrams have how many copies; told in mode [`FlowMode::Redundant`] alone.
    pub redundancy: Redundancy,
    /// The longest that the receiver holds a datagram back to restore order, in whole microseconds,
    /// at most 60 s. `None`: as long as datagrams come late; zero: not at all.
    pub resequence: Option<Duration>,
    /// Whether datagrams that are lost are sent again, a few times. Where order is waited for, they
    /// are, too.
    pub resend: bool,
    /// Datagrams have a copy on a second path while copies take no more than this share of what the
    /// paths carry, in millionths, at most 1,000,000; told in mode [`FlowMode::SmallestDelay`]
    /// alone. Zero: none has one.
    pub copy_share: u32,
}

/// Which datagrams of a redundant flow have how many copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Redundancy {
    /// One on each of so many paths, those of smallest RTT; `None`: on each path.
    pub copies: Option<NonZeroU8>,
    /// There are copies only while there is no path of at most this RTT, in whole microseconds, at
    /// most 60 s.
    pub rtt_above: Option<Duration>,
    /// There are copies only while there is no path that loses at most this share of its packets,
    /// in millionths, less than 1,000,000.
    pub loss_above: Option<u32>,
}

impl Redundancy {
    /// Whether there are copies at some times and none at others.
    pub(crate) const fn is_conditional(&self) -> bool {
        self.rtt_above.is_some() || self.loss_above.is_some()
    }
}

impl FlowConfig {
    /// A flow of this mode over all paths, with all that is not said otherwise.
    pub const fn of(mode: FlowMode) -> Self {
        let redundancy = Redundancy { copies: None, rtt_above: None, loss_above: None };
        let (paths, resequence) = (PathList::ALL, None);
        Self { mode, paths, redundancy, resequence, resend: false, copy_share: 0 }
    }

    /// The longest that the receiver waits for order, `None` for as long as datagrams come late.
    /// Only where a flow is spread over paths is order lost all the time: in other modes there is
    /// no wait that was not asked for.
    pub fn wait_for_order(&self) -> Option<Duration> {
        self.resequence.or((!self.mode.spreads()).then_some(Duration::ZERO))
    }

    /// The values of the message, in their order.
    fn values(&self) -> impl Iterator<Item = u64> {
        let listed = self.paths.listed();
        let paths = listed.iter().map(|listed| listed.path.get().into());
        let weights = listed.iter().map(|listed| listed.weight.into());
        let Redundancy { copies, rtt_above, loss_above } = self.redundancy;
        let redundancy = [
            copies.map_or(0, |copies| copies.get().into()),
            time_number(rtt_above),
            loss_above.map_or(0, |loss| u64::from(loss).min(WHOLE - 1) + 1),
        ];
        let copy_share = u64::from(self.copy_share).min(WHOLE);
        let resequence = time_number(self.resequence);
        [self.mode.number(), resequence, self.resend.into(), listed.len() as u64]
            .into_iter()
            .chain(paths)
            .chain(redundancy.into_iter().filter(|_| self.mode == FlowMode::Redundant))
            .chain([copy_share].into_iter().filter(|_| self.mode == FlowMode::SmallestDelay))
            .chain(weights.filter(|_| self.mode == FlowMode::LoadBalancing))
    }

    pub(super) fn encode(&self, buf: &mut impl BufMut) {
        self.values().for_each(|value| put_varint(buf, value));
    }

    pub(super) fn encoded_size(&self) -> usize {
        self.values().map(varint_size).sum()
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mode = FlowMode::decode(reader)?;
        let resequence = time(reader, "FLOW_OPEN resequencing")?;
        let resend = reader.bounded(1, "FLOW_OPEN resending", "0 or 1")? == 1;
        let mut paths = decode_paths(reader)?;
        let redundancy = match mode {
            FlowMode::Redundant => Redundancy::decode(reader)?,
            _ => Redundancy::default(),
        };
        let copy_share = match mode {
            FlowMode::SmallestDelay => {
                reader.bounded(WHOLE, "FLOW_OPEN share of copies", "0 to 1,000,000")? as u32
            }
            _ => 0,
        };
        if mode == FlowMode::LoadBalancing {
            for listed in &mut paths {
                let max = MAX_WEIGHT.into();
                listed.weight = reader.bounded(max, "FLOW_OPEN weight", "0 to 100")? as u8;
            }
        }
        let paths = PathList::new(&paths).map_err(|error| refusal(&error))?;
        Ok(Self { mode, paths, redundancy, resequence, resend, copy_share })
    }
}

fn decode_paths(reader: &mut Reader<'_>) -> Result<Vec<ListedPath>, DecodeError> {
    let max = MAX_LISTED_PATHS as u64;
    let count = reader.bounded(max, "FLOW_OPEN number of paths", "0 to 8")?;
    let listed = |path: PathId| ListedPath { path, weight: 0 };
    (0..count).map(|_| path(reader).map(listed)).collect()
}

/// What is wrong with paths whose number and weights are within their limits.
fn refusal(error: &PathListError) -> DecodeError {
    match error {
        PathListError::Weights(_) => DecodeError::OutOfRange {
            field: "FLOW_OPEN weight",
            value: 0,
            allowed: "0 for all paths or for none",
        },
        PathListError::Twice(_) | PathListError::TooMany(_) => {
            DecodeError::Repeated { field: "FLOW_OPEN paths" }
        }
    }
}

impl Redundancy {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let max = PathId::COUNT as u64;
        let copies = reader.bounded(max, "FLOW_OPEN copies", "0 to 64")? as u8;
        let rtt_above = time(reader, "FLOW_OPEN RTT")?;
        let loss = reader.bounded(WHOLE, "FLOW_OPEN loss", "0 to 1,000,000")? as u32;
        Ok(Self { copies: NonZeroU8::new(copies), rtt_above, loss_above: loss.checked_sub(1) })
    }
}

/// 0 is none, any other value the microseconds plus one.
fn time_number(time: Option<Duration>) -> u64 {
    time.map_or(0, |time| time.min(MAX_FLOW_TIME).as_micros() as u64 + 1)
}

fn time(reader: &mut Reader<'_>, field: &'static str) -> Result<Option<Duration>, DecodeError> {
    let max = MAX_FLOW_TIME.as_micros() as u64 + 1;
    let value = reader.bounded(max, field, "0 to 60,000,001")?;
    Ok(value.checked_sub(1).map(Duration::from_micros))
}

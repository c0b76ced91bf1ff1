//! `struct replay_event` and `struct replay_result` of `bpf/include/replay.h`.

use polypath_units::PathId;

/// Fraction bits of a window.
const FRACTION: f64 = (1 << 22) as f64;

/// `enum replay_kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Join,
    Leave,
    Sent,
    Ack,
    Loss,
    Timeout,
    SpuriousLoss,
    IdleRestart,
    Usable,
    Mss,
}

/// `struct replay_event`. Times are nanoseconds, sizes bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    pub(crate) flow: PathId,
    pub(crate) cwnd_limited: bool,
    pub(crate) round_start: bool,
    pub(crate) recovered: bool,
    pub(crate) yes: bool,
    pub(crate) mss: u64,
    pub(crate) now: u64,
    pub(crate) bytes: u64,
    pub(crate) rtt: u64,
    pub(crate) srtt: u64,
    pub(crate) min_rtt: u64,
    pub(crate) in_flight: u64,
    pub(crate) prior_in_flight: u64,
}

impl Event {
    pub(crate) fn new(kind: Kind, flow: PathId, now: u64) -> Self {
        Self {
            kind,
            flow,
            cwnd_limited: false,
            round_start: false,
            recovered: false,
            yes: false,
            mss: 0,
            now,
            bytes: 0,
            rtt: 0,
            srtt: 0,
            min_rtt: 0,
            in_flight: 0,
            prior_in_flight: 0,
        }
    }

    /// As the program reads it.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> {
        let flags = [self.cwnd_limited, self.round_start, self.recovered, self.yes];
        let flags = (0..).zip(flags).map(|(bit, on)| u32::from(on) << bit).sum();
        let short = [self.kind as u32, self.flow.get().into(), flags, self.mss as u32];
        let long = [
            self.now,
            self.bytes,
            self.rtt,
            self.srtt,
            self.min_rtt,
            self.in_flight,
            self.prior_in_flight,
        ];
        let short = short.into_iter().flat_map(u32::to_ne_bytes);
        short.chain(long.into_iter().flat_map(u64::to_ne_bytes))
    }
}

/// Window and threshold of a subflow in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Windows {
    pub(crate) window: f64,
    pub(crate) threshold: f64,
}

impl Windows {
    /// What the program wrote, one for each event.
    pub(crate) fn read(output: &[u8]) -> Vec<Self> {
        let word = |row: &[u8], at: usize| u64::from_ne_bytes(row[at..at + 8].try_into().unwrap());
        let threshold =
            |word| if word == u64::MAX { f64::INFINITY } else { word as f64 / FRACTION };
        let of = |row: &[u8]| Self {
            window: word(row, 0) as f64 / FRACTION,
            threshold: threshold(word(row, 8)),
        };
        output.chunks(16).map(of).collect()
    }

    /// By how much another differs, as a share of this.
    pub(crate) fn difference(&self, other: &Self) -> f64 {
        let share = |this: f64, other: f64| {
            if this == other { 0.0 } else { (other - this).abs() / this.max(f64::MIN_POSITIVE) }
        };
        share(self.window, other.window).max(share(self.threshold, other.threshold))
    }
}

//! The algorithms of polypath-core for the subflows of Linux's Multipath TCP.
//!
//! They are written in C, in the folder `bpf` of the repository, with integers alone, and held to
//! polypath-core by tests that give both the same events: `docs/kernel.md`. [`CONGESTION`] and
//! [`SLOW_STARTS`] are the table of what there is.
//! With the feature `load` it loads them (`Loaded`, and `Pins` for longer than a process), tells
//! which connections use them (`Status`), and runs programs by them (`supervise`).
#![deny(unsafe_code)]

#[cfg(feature = "load")]
mod coupling;
#[cfg(feature = "load")]
mod load;
#[cfg(feature = "load")]
mod pins;
#[cfg(feature = "load")]
mod run_time_count;
#[cfg(feature = "load")]
mod settings;
#[cfg(feature = "load")]
mod sockets;
#[cfg(feature = "load")]
mod status;
#[cfg(feature = "load")]
pub mod supervise;

#[cfg(feature = "load")]
pub use coupling::FlowState;
#[cfg(feature = "load")]
pub use load::{KernelConfig, LoadError, Loaded};
#[cfg(feature = "load")]
pub use pins::{InUse, Outcome, Pinned, Pins, PinsError, Unloaded, Wanted};
#[cfg(feature = "load")]
pub use run_time_count::RunTimeCount;
#[cfg(feature = "load")]
pub use settings::Settings;
#[cfg(feature = "load")]
pub use sockets::{Subflow, TcpState};
#[cfg(feature = "load")]
pub use status::{Connection, Control, Status, StatusError};

use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;
use std::time::Duration;

/// A congestion control that the kernel has, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelCongestion {
    /// Which one; its name in the registry is that of its source, `bpf/congestion/NAME.bpf.c`.
    pub kind: CongestionKind,
    /// Its name in the kernel, as `tcp_congestion_control` takes it: at most 15 bytes.
    pub kernel_name: &'static str,
    #[cfg(feature = "load")]
    object: &'static [u8],
}

/// The row of a congestion control: its name in the registry, and in the kernel.
macro_rules! row {
    ($kind:ident, $file:literal, $kernel_name:literal) => {
        KernelCongestion {
            kind: CongestionKind::$kind,
            kernel_name: $kernel_name,
            #[cfg(feature = "load")]
            object: include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".bpf.o")),
        }
    };
}

/// All congestion controls that the kernel has, too.
pub const CONGESTION: &[KernelCongestion] = &[
    row!(Balia, "balia", "pp_balia"),
    row!(Cabe, "cabe", "pp_cabe"),
    row!(Lia, "lia", "pp_lia"),
    row!(Olia, "olia", "pp_olia"),
    row!(Tustin, "tustin", "pp_tustin"),
    row!(Westwood, "westwood", "pp_westwood"),
    // "pp_westwood_plus" has a byte too many.
    row!(WestwoodPlus, "westwood_plus", "pp_westwoodplus"),
    row!(Wvegas, "wvegas", "pp_wvegas"),
];

/// A slow start, and its number in the programs (`enum pp_slow_start_kind`).
pub const SLOW_STARTS: &[(SlowStartKind, u32)] = &[
    (SlowStartKind::Standard, 0),
    (SlowStartKind::Bess, 1),
    (SlowStartKind::Css, 2),
    (SlowStartKind::HystartPp, 3),
];

/// What programs have taken while it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTime {
    /// How often one was called.
    pub calls: u64,
    /// How long they have run, with about one reading of the clock for each call.
    pub time: Duration,
}

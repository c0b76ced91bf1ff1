//! The algorithms of polypath-core for the subflows of Linux's Multipath TCP.
//!
//! They are written in C, in the folder `bpf` of the repository, with integers alone, and held to
//! polypath-core by tests that give both the same events: `docs/kernel.md`. [`CONGESTION`] and
//! [`SLOW_STARTS`] are the table of what there is.
#![forbid(unsafe_code)]

use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;

/// A congestion control that the kernel has, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelCongestion {
    /// Which one; its name in the registry is that of its source, `bpf/congestion/NAME.bpf.c`.
    pub kind: CongestionKind,
    /// Its name in the kernel, as `tcp_congestion_control` takes it: at most 15 bytes.
    pub kernel_name: &'static str,
}

/// All congestion controls that the kernel has, too.
pub const CONGESTION: &[KernelCongestion] = &[
    of(CongestionKind::Balia, "pp_balia"),
    of(CongestionKind::Cabe, "pp_cabe"),
    of(CongestionKind::Lia, "pp_lia"),
    of(CongestionKind::Olia, "pp_olia"),
    of(CongestionKind::Tustin, "pp_tustin"),
    of(CongestionKind::Westwood, "pp_westwood"),
    // "pp_westwood_plus" has a byte too many.
    of(CongestionKind::WestwoodPlus, "pp_westwoodplus"),
    of(CongestionKind::Wvegas, "pp_wvegas"),
];

const fn of(kind: CongestionKind, kernel_name: &'static str) -> KernelCongestion {
    KernelCongestion { kind, kernel_name }
}

/// A slow start, and its number in the programs (`enum pp_slow_start_kind`).
pub const SLOW_STARTS: &[(SlowStartKind, u32)] = &[
    (SlowStartKind::Standard, 0),
    (SlowStartKind::Bess, 1),
    (SlowStartKind::Css, 2),
    (SlowStartKind::HystartPp, 3),
];

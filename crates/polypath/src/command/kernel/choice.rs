//! Flags and arguments that choose an algorithm for the kernel.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_kernel::{CONGESTION, SLOW_STARTS};

/// Reads the name of a congestion control that the kernel has, too.
pub(super) fn congestion() -> impl TypedValueParser<Value = CongestionKind> {
    let names = CONGESTION.iter().map(|row| row.kind.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Reads the name of a slow start that the kernel has, too.
pub(super) fn slow_start() -> impl TypedValueParser<Value = SlowStartKind> {
    let names = SLOW_STARTS.iter().map(|(kind, _)| kind.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

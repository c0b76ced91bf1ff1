//! What congestion controls in eBPF cost the processor, beside the kernel's own `reno`.
//!
//! A connection of Multipath TCP carries a transfer over two pairs of veth as Linux has them, with
//! segmentation offload and no limit but the processor. Sender, receiver and what the kernel does
//! for both share one processor: what it was busy is what the transfer cost. Each pair of transfers
//! has one by the control and one by `reno`, in turns first, so that a machine that becomes slower
//! or faster does so for both.

mod busy;
mod site;

use crate::kernel::{KernelCongestion, KernelError, LoadedCongestion, Loading, single_transfer};
use crate::netns::{CleanError, NetnsError};
use crate::plan::{PlanError, Prefix};
use crate::validate::death::Spread;
use busy::Busy;
use polypath_core::slow_start::SlowStartKind;
pub use polypath_kernel::{CONGESTION as CONTROLS, KernelCongestion as Control};
use polypath_units::ByteCount;
use serde::Serialize;
use site::Site;
use std::io;
use std::num::NonZeroU64;

/// The kernel's own.
const RENO: &str = "reno";

/// How costs are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostSettings {
    /// What the names of the namespaces begin with.
    pub prefix: Prefix,
    /// What one transfer carries.
    pub transfer: ByteCount,
    /// How many pairs of transfers there are.
    pub pairs: NonZeroU64,
}

/// Why there is no cost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// There is no network.
    #[error(transparent)]
    Network(#[from] NetnsError),
    /// The network cannot be made of namespaces.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A transfer failed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The processor, or how busy it is, could not be had.
    #[error("the processor: {0}")]
    Processor(io::Error),
    /// The network could not be removed.
    #[error(transparent)]
    Clean(#[from] CleanError),
}

/// What a transfer cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// How long the processor was busy for each 10^9 bytes, in seconds.
    pub busy_s_per_gb: f64,
    /// How fast it was, in Gbit/s.
    pub gbit_s: f64,
}

/// Two transfers, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostPair {
    /// By the control.
    pub control: Cost,
    /// By the kernel's own.
    pub reno: Cost,
}

/// What a control cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostRow {
    /// The control.
    pub control: &'static str,
    /// Whether its subflows see each other.
    pub coupled: bool,
    /// How much more than `reno` it cost, in percent, over the pairs.
    pub more_percent: Spread,
    /// How fast it was, in Gbit/s.
    pub gbit_s: Spread,
    /// The transfers.
    pub pairs: Vec<CostPair>,
}

impl CostRow {
    /// Of these transfers; nothing if there are none.
    pub fn new(control: &'static str, coupled: bool, pairs: Vec<CostPair>) -> Option<Self> {
        let more =
            |pair: &CostPair| (pair.control.busy_s_per_gb / pair.reno.busy_s_per_gb - 1.0) * 100.0;
        let more_percent = Spread::of(pairs.iter().map(more))?;
        let gbit_s = Spread::of(pairs.iter().map(|pair| pair.control.gbit_s))?;
        Some(Self { control, coupled, more_percent, gbit_s, pairs })
    }
}

/// Measures what a control costs: coupled if it is a coupled one, after standard slow start.
///
/// # Errors
/// See [`CostError`].
///
/// # Panics
/// Never: there is at least one pair.
pub fn cost(control: &Control, settings: &CostSettings) -> Result<CostRow, CostError> {
    let coupled = control.kind.is_coupled();
    let loaded = KernelCongestion::Loaded(LoadedCongestion {
        kernel_name: control.kernel_name,
        congestion: control.kind,
        slow_start: SlowStartKind::Standard,
        coupled,
    });
    let reno = KernelCongestion::Own(RENO.to_owned());
    let busy = Busy::of_one_processor().map_err(CostError::Processor)?;
    let site = Site::new(&settings.prefix)?;
    // Once, so that no transfer has the cost of it.
    let _loading = Loading::of(&[site.connection(loaded.clone(), settings.transfer)])?;
    let measure = |congestion: &KernelCongestion| -> Result<Cost, CostError> {
        let connection = site.connection(congestion.clone(), settings.transfer);
        let before = busy.read().map_err(CostError::Processor)?;
        let taken = single_transfer(&connection)?;
        let after = busy.read().map_err(CostError::Processor)?;
        let bytes = settings.transfer.get() as f64;
        Ok(Cost {
            busy_s_per_gb: (after - before).as_secs_f64() / (bytes / 1e9),
            gbit_s: bytes * 8.0 / 1e9 / taken.as_secs_f64(),
        })
    };
    let pair = |number: u64| -> Result<CostPair, CostError> {
        if number.is_multiple_of(2) {
            let control = measure(&loaded)?;
            Ok(CostPair { control, reno: measure(&reno)? })
        } else {
            let reno = measure(&reno)?;
            Ok(CostPair { control: measure(&loaded)?, reno })
        }
    };
    let pairs = (0..settings.pairs.get()).map(pair).collect::<Result<_, _>>()?;
    site.remove()?;
    Ok(CostRow::new(control.kind.name(), coupled, pairs).expect("there is at least one pair"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_what_the_control_cost_more_in_each_pair() {
        let cost = |busy_s_per_gb| Cost { busy_s_per_gb, gbit_s: 8.0 / busy_s_per_gb };
        let pair = |control, reno| CostPair { control: cost(control), reno: cost(reno) };
        // The machine was half as fast in the second pair, and the control 1 % more in both.
        let pairs = vec![pair(0.404, 0.4), pair(0.808, 0.8), pair(0.8, 0.8)];
        let row = CostRow::new("lia", true, pairs).unwrap();
        assert!((row.more_percent.median - 1.0).abs() < 1e-9, "{row:?}");
        assert!(row.more_percent.least.abs() < 1e-9, "{row:?}");
        assert_eq!(CostRow::new("lia", true, Vec::new()), None);
    }
}

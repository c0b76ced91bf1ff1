//! What congestion controls in eBPF cost the processor, beside the kernel's own `reno`.
//!
//! A connection of Multipath TCP carries a transfer over two pairs of veth as Linux has them, with
//! segmentation offload and no limit but the processor. Sender, receiver and what the kernel does
//! for both share one processor: what it was busy is what the transfer cost. Each pair of transfers
//! has one by the control and one by `reno`, in turns first, so that a machine that becomes slower
//! or faster does so for both. In further transfers by the control the kernel counts how long its
//! programs run, which is free of what else the machine does.

mod busy;
mod row;
mod site;

pub use row::{Cost, CostPair, CostRow, CountedCost};

use crate::kernel::{
    KernelCongestion, KernelConnection, KernelError, LoadedCongestion, Loading, single_transfer,
};
use crate::netns::{CleanError, NetnsError};
use crate::plan::{PlanError, Prefix};
use busy::Processor;
use polypath_core::slow_start::SlowStartKind;
pub use polypath_kernel::{CONGESTION as CONTROLS, KernelCongestion as Control};
use polypath_units::ByteCount;
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
    /// How many pairs of transfers there are, and as many that are counted.
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
    /// The processor, or how busy it or a program is, could not be had.
    #[error("the processor: {0}")]
    Processor(#[from] io::Error),
    /// The network could not be removed.
    #[error(transparent)]
    Clean(#[from] CleanError),
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
    let bench = Bench {
        processor: Processor::take_first()?,
        site: Site::new(&settings.prefix)?,
        transfer: settings.transfer,
        loaded,
        reno: KernelCongestion::Own(RENO.to_owned()),
    };
    // Once, so that no transfer has the cost of it.
    let loading = Loading::of(&[bench.connection(&bench.loaded)])?;
    let numbers = || 0..settings.pairs.get();
    let pairs = numbers().map(|number| bench.pair(number)).collect::<Result<_, _>>()?;
    let counted = numbers().map(|_| bench.counted(&loading)).collect::<Result<_, _>>()?;
    bench.site.remove()?;
    let row = CostRow::new(control.kind.name(), coupled, pairs, counted);
    Ok(row.expect("there is at least one pair"))
}

/// Where transfers are measured, and of what.
#[derive(Debug)]
struct Bench {
    processor: Processor,
    site: Site,
    transfer: ByteCount,
    loaded: KernelCongestion,
    reno: KernelCongestion,
}

impl Bench {
    fn connection(&self, congestion: &KernelCongestion) -> KernelConnection {
        self.site.connection(congestion.clone(), self.transfer)
    }

    fn gigabytes(&self) -> f64 {
        self.transfer.get() as f64 / 1e9
    }

    fn measure(&self, congestion: &KernelCongestion) -> Result<Cost, CostError> {
        let connection = self.connection(congestion);
        let before = self.processor.read()?;
        let taken = single_transfer(&connection)?;
        let busy = self.processor.busy_since(before)?;
        Ok(Cost {
            busy_s_per_gb: busy.as_secs_f64() / self.gigabytes(),
            gbit_s: self.gigabytes() * 8.0 / taken.as_secs_f64(),
        })
    }

    /// In turns, the control or `reno` is first.
    fn pair(&self, number: u64) -> Result<CostPair, CostError> {
        if number.is_multiple_of(2) {
            let control = self.measure(&self.loaded)?;
            Ok(CostPair { control, reno: self.measure(&self.reno)? })
        } else {
            let reno = self.measure(&self.reno)?;
            Ok(CostPair { control: self.measure(&self.loaded)?, reno })
        }
    }

    fn counted(&self, loading: &Loading) -> Result<CountedCost, CostError> {
        let (cost, taken) = loading.counted(|| self.measure(&self.loaded))?;
        Ok(CountedCost::new(cost, self.gigabytes(), taken))
    }
}

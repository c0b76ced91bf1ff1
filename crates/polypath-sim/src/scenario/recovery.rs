//! The keys of recovery on the radio layer.

use super::declare::{Probability, Readable, Shape, choices, keys};
use core::num::NonZeroU32;
use polypath_config::{DocumentError, Value};
use polypath_link::Recovery;
use std::time::Duration;

choices! {
    /// A radio system whose recovery is known.
    enum System {
        /// LTE FDD: 10 % errors, HARQ every 8 ms, RLC after 50 ms.
        Lte = "lte",
        /// 5G: 10 % errors, HARQ every 4 ms, RLC after 20 ms.
        Nr = "nr",
    }
}

choices! {
    /// Recovery by name.
    enum RecoveryName {
        /// That of LTE FDD: 10 % errors, HARQ every 8 ms, RLC after 50 ms.
        Lte = "lte",
        /// That of 5G: 10 % errors, HARQ every 4 ms, RLC after 20 ms.
        Nr = "nr",
        /// None: what is not received is lost.
        None = "none",
    }
}

keys! {
    /// Retransmission by HARQ, and by RLC when that gives up: delay instead of loss.
    struct RecoveryKeys {
        /// What is not given is as this system has it.
        system: System = "nr";
        /// The probability that the first transmission of a packet fails.
        block_error: Option<Probability>;
        /// The probability that a further one fails.
        retransmission_error: Option<f64> where 0.0 to 0.99;
        /// From one transmission to the next.
        harq_rtt: Option<Duration> where "0 s" to "10 s";
        /// How often HARQ transmits before it leaves the packet to RLC.
        harq_transmissions: Option<u32> where 1 to 1000;
        /// From the last transmission of HARQ to the one after the status report of RLC.
        rlc_delay: Option<Duration> where "0 s" to "10 s";
        /// Whether packets wait for those before them. If not, `reorder` of the link must be set
        /// too, or the line restores the order.
        in_order: Option<bool>;
    }
}

impl RecoveryKeys {
    fn recovery(self) -> Recovery {
        let system = match self.system {
            System::Lte => Recovery::lte(),
            System::Nr => Recovery::nr(),
        };
        let transmissions = self.harq_transmissions.and_then(NonZeroU32::new);
        Recovery {
            block_error: self.block_error.map_or(system.block_error, |given| given.0),
            retransmission_error: self.retransmission_error.unwrap_or(system.retransmission_error),
            harq_rtt: self.harq_rtt.unwrap_or(system.harq_rtt),
            harq_transmissions: transmissions.unwrap_or(system.harq_transmissions),
            rlc_delay: self.rlc_delay.unwrap_or(system.rlc_delay),
            in_order: self.in_order.unwrap_or(system.in_order),
        }
    }
}

/// What the key `recovery` says: none, too.
#[derive(Clone, Copy)]
pub(super) struct RecoveryChoice(pub(super) Option<Recovery>);

impl Readable for RecoveryChoice {
    fn shape() -> Shape {
        Shape::OneOf(vec![RecoveryName::shape(), RecoveryKeys::shape()])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        if value.is_table() {
            return RecoveryKeys::read(value).map(|keys| Self(Some(keys.recovery())));
        }
        Ok(Self(match RecoveryName::read(value)? {
            RecoveryName::Lte => Some(Recovery::lte()),
            RecoveryName::Nr => Some(Recovery::nr()),
            RecoveryName::None => None,
        }))
    }
}

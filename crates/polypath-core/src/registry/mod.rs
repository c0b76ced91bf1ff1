//! What every algorithm says of itself, and the one list of them all.

mod configured;
mod factory;
mod parameter;

pub use configured::{Algorithm, Configured};
pub use factory::Factory;
pub(crate) use parameter::parameters;
pub use parameter::{Parameter, ParameterError, Values};

use serde::Serialize;

/// The kinds of algorithm that a connection is composed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Window growth and decrease of the subflows of a connection.
    Congestion,
    /// Window growth before the first loss.
    SlowStart,
    /// Choice of the path of the next segment.
    Scheduler,
    /// Decision that a path is dead.
    Failure,
}

/// A row of the registry: what an algorithm is, where it comes from, what can be set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Its kind.
    pub kind: Kind,
    /// Its name: what is typed to choose it and what is printed.
    pub name: &'static str,
    /// What it is for, in one line.
    pub purpose: &'static str,
    /// Paper and equation, or RFC and section.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

/// A name that is not in the registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} {given:?}; allowed: {allowed}")]
pub struct UnknownAlgorithm {
    /// What was looked for, for example `scheduler`.
    pub kind: &'static str,
    /// The name as given.
    pub given: String,
    /// All names of the kind, separated by commas.
    pub allowed: String,
}

/// Defines the enum of one kind of algorithm from its rows: one row an algorithm.
///
/// Each row names the variant and the type that implements it; the type carries a
/// `const DESCRIPTION: Description` and a `fn build(&Values) -> Box<dyn Trait>`. A kind whose
/// instances need more to begin with (a seed) names it: `build(seed: u64)` after the trait.
macro_rules! algorithms {
    ($(#[$meta:meta])* $name:ident, $kind:literal, dyn $object:path,
     $(build($($argument:ident: $argument_type:ty),+),)?
     [$($variant:ident => $implementation:ty),+ $(,)?]) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = concat!("See [`", stringify!($implementation), "`].")] $variant),+
        }

        $(const _: () = assert!(
            <$implementation>::DESCRIPTION.parameters.len() <= $crate::registry::Values::MOST,
        );)+

        impl $name {
            /// Every algorithm of this kind, in the order of the registry.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// What the algorithm says of itself.
            pub const fn description(self) -> &'static $crate::registry::Description {
                match self {
                    $(Self::$variant => &<$implementation>::DESCRIPTION),+
                }
            }

            /// The name that chooses it.
            pub const fn name(self) -> &'static str {
                self.description().name
            }

            /// A new instance with default parameters.
            pub fn build(self $($(, $argument: $argument_type)+)?) -> Box<dyn $object> {
                $crate::registry::Configured::from(self).build($($($argument),+)?)
            }
        }

        impl $crate::registry::Configured<$name> {
            /// A new instance.
            pub fn build(&self $($(, $argument: $argument_type)+)?) -> Box<dyn $object> {
                let build: fn(&$crate::registry::Values $($(, $argument_type)+)?) -> Box<dyn $object> =
                    match self.kind() {
                        $($name::$variant => <$implementation>::build),+
                    };
                build(self.values() $($(, $argument)+)?)
            }
        }

        impl $crate::registry::Algorithm for $name {
            fn description(self) -> &'static $crate::registry::Description {
                $name::description(self)
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::registry::UnknownAlgorithm;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|a| a.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|a| a.name()).collect();
                    $crate::registry::UnknownAlgorithm {
                        kind: $kind,
                        given: text.to_owned(),
                        allowed: names.join(", "),
                    }
                })
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use algorithms;

/// Every algorithm of every kind.
pub fn all() -> Vec<&'static Description> {
    let congestion = crate::congestion::CongestionKind::ALL.iter().map(|k| k.description());
    let slow_start = crate::slow_start::SlowStartKind::ALL.iter().map(|k| k.description());
    let scheduler = crate::scheduler::SchedulerKind::ALL.iter().map(|k| k.description());
    let failure = crate::failure::FailureKind::ALL.iter().map(|k| k.description());
    congestion.chain(slow_start).chain(scheduler).chain(failure).collect()
}

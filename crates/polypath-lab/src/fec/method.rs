//! What protects datagrams against loss.

use core::fmt;
use serde::Serialize;
use std::time::Duration;

/// A way to send datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub enum Method {
    /// Each once, on the path whose delay is the lowest when nothing waits.
    Alone,
    /// Each once, on the path that would bring it first and that does not seem to be dead.
    Best,
    /// As that, and copies on so many paths in all.
    Copy {
        /// How many paths; of fewer, all.
        paths: usize,
    },
    /// As `Best`; what is declared lost is sent again on the path that would bring it first, other
    /// than the one that lost it, while it can be in time.
    Resend,
    /// As `Best`; a Reed-Solomon code over the datagrams of so long.
    Block {
        /// How long a block stays open.
        budget_ms: u32,
    },
    /// As `Best`; repair symbols over the datagrams of the last so long.
    Window {
        /// How far back a repair symbol reaches.
        budget_ms: u32,
    },
    /// Datagrams in turn over the paths that are fast enough, and as many repair symbols as make
    /// up for any one of these paths: one for each n - 1 datagrams over n paths.
    Dealt {
        /// How long a block stays open.
        budget_ms: u32,
    },
}

/// What latency FEC may cost.
const BUDGETS_MS: [u32; 4] = [10, 20, 40, 80];

impl Method {
    /// All that are compared.
    pub fn all() -> Vec<Self> {
        let plain = [Self::Alone, Self::Best, Self::Resend];
        let copies = [2, 4].map(|paths| Self::Copy { paths });
        let block = BUDGETS_MS.map(|budget_ms| Self::Block { budget_ms });
        let window = BUDGETS_MS.map(|budget_ms| Self::Window { budget_ms });
        // Few datagrams close such a block: it is hardly ever open for long.
        let dealt = [Self::Dealt { budget_ms: 40 }];
        plain.into_iter().chain(copies).chain(block).chain(window).chain(dealt).collect()
    }

    /// How long it may keep datagrams waiting for repair.
    pub(super) fn budget(self) -> Option<Duration> {
        match self {
            Self::Block { budget_ms } | Self::Window { budget_ms } | Self::Dealt { budget_ms } => {
                Some(Duration::from_millis(budget_ms.into()))
            }
            Self::Alone | Self::Best | Self::Copy { .. } | Self::Resend => None,
        }
    }

    /// Whether it sends repair symbols.
    pub const fn is_fec(self) -> bool {
        matches!(self, Self::Block { .. } | Self::Window { .. } | Self::Dealt { .. })
    }
}

/// `alone`, `best`, `copy 2`, `resend`, `block 20`, `window 20`, `dealt 20`
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone => f.write_str("alone"),
            Self::Best => f.write_str("best"),
            Self::Copy { paths } => write!(f, "copy {paths}"),
            Self::Resend => f.write_str("resend"),
            Self::Block { budget_ms } => write!(f, "block {budget_ms}"),
            Self::Window { budget_ms } => write!(f, "window {budget_ms}"),
            Self::Dealt { budget_ms } => write!(f, "dealt {budget_ms}"),
        }
    }
}

impl From<Method> for String {
    fn from(method: Method) -> Self {
        method.to_string()
    }
}

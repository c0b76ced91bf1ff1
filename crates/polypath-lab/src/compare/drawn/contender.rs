//! Who sends in a drawn profile.

use super::super::{Combination, Control};
use super::profile::{Load, Profile};
use core::fmt;
use std::collections::BTreeSet;

/// A sender of a drawn profile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contender {
    /// The bond over all paths.
    Bond(Combination),
    /// The bond over one path alone, with the shipped scheduler, which has no choice.
    Alone(Control, String),
    /// TCP with CUBIC and HyStart, as Linux has it, over one path.
    Cubic(String),
    /// TCP with BBR over one path.
    Bbr(String),
    /// Multipath TCP over all paths as Linux has it: CUBIC on each, data dealt to the buffers of
    /// the subflows.
    Mptcp,
}

const CUBIC: &str = "congestion = \"cubic\"\nslow_start = \"hystart\"\n";

impl Contender {
    /// All that send in this profile. Datagrams have a bond alone: what they are held against is
    /// what the links do.
    pub(super) fn all(profile: &Profile, combinations: &[Combination]) -> BTreeSet<Self> {
        let bonds = combinations.iter().copied().map(Self::Bond);
        if matches!(profile.load, Load::Datagrams { .. }) {
            return bonds.collect();
        }
        let over_one = profile.path_names().flat_map(|path| {
            let alone = combinations.iter().map(move |c| Self::Alone(c.control, path.to_owned()));
            alone.chain([Self::Cubic(path.to_owned()), Self::Bbr(path.to_owned())])
        });
        bonds.chain(over_one).chain([Self::Mptcp]).collect()
    }

    /// What runs on the paths, if it is a bond.
    pub(super) fn combination(&self) -> Option<Combination> {
        match self {
            Self::Bond(combination) => Some(*combination),
            Self::Alone(control, _) => Some(control.over_one_path()),
            Self::Cubic(_) | Self::Bbr(_) | Self::Mptcp => None,
        }
    }

    /// The scenario in which it sends.
    pub(super) fn scenario(&self, profile: &Profile) -> String {
        // The simulator's bond has one stream for each direction.
        let count = if self.combination().is_some() { 1 } else { profile.flows() };
        profile.scenario(&self.connection(), count)
    }

    /// The settings of its connection.
    fn connection(&self) -> String {
        let over = |path: &str| format!("paths = [\"{path}\"]\n");
        match self {
            Self::Bond(combination) => bond(*combination),
            Self::Alone(control, path) => bond(control.over_one_path()) + &over(path),
            Self::Cubic(path) => format!("transport = \"tcp\"\n{CUBIC}{}", over(path)),
            Self::Bbr(path) => format!("transport = \"tcp\"\ncongestion = \"bbr\"\n{}", over(path)),
            Self::Mptcp => format!("transport = \"mptcp\"\nsubflow_buffers = true\n{CUBIC}"),
        }
    }
}

fn bond(Combination { control, scheduler }: Combination) -> String {
    let slow_start =
        control.slow_start.map(|start| format!("slow_start = \"{start}\"\n")).unwrap_or_default();
    format!(
        "transport = \"bond\"\ncarrier = \"light\"\ncongestion = \"{}\"\n{slow_start}\
         scheduler = \"{scheduler}\"\n",
        control.congestion
    )
}

/// `bbr+edpf`, `cubic+hystart_pp over one`, `TCP CUBIC over one`, `Multipath TCP`
impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bond(combination) => write!(f, "{combination}"),
            Self::Alone(control, path) => write!(f, "{control} over {path}"),
            Self::Cubic(path) => write!(f, "TCP CUBIC over {path}"),
            Self::Bbr(path) => write!(f, "TCP BBR over {path}"),
            Self::Mptcp => f.write_str("Multipath TCP"),
        }
    }
}

//! How datagrams of clients are carried through a bond.

use std::fmt;
use std::num::NonZeroU8;
use std::sync::Arc;
use std::time::Duration;

use polypath_bond::{FlowConfig, FlowMode, ListedPath, PathList, PathListError, Redundancy};
use polypath_policy::{Steering, SteeringMode, SteeringPath};
use polypath_units::PathId;

/// How datagrams are carried, with paths by the names that the edge has for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carriage {
    /// How they use the paths.
    pub mode: FlowMode,
    /// The paths that they may take, in the order of their priority; every path if there are none.
    pub paths: Arc<[SteeringPath]>,
    /// In mode `redundant`: which have how many copies.
    pub redundancy: Redundancy,
    /// Whether what is lost is sent again.
    pub resend: bool,
    /// Whether what arrives is put in order, where the mode does so.
    pub in_order: bool,
    /// In mode `smallest_delay`: the share of what the paths carry that copies may take, in
    /// millionths.
    pub copy_share: u32,
}

/// Why a bond cannot be told of a [`Carriage`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarriageError {
    /// A path has no number.
    #[error("the path {0:?} has no number")]
    NoNumber(String),
    /// The paths make no list.
    #[error(transparent)]
    List(#[from] PathListError),
}

impl Carriage {
    /// What a bond is told of it, where `number` says the number of the path of a name.
    ///
    /// # Errors
    /// When a path has no number, or the paths make no list.
    pub fn flow_config(
        &self,
        mut number: impl FnMut(&str) -> Option<PathId>,
    ) -> Result<FlowConfig, CarriageError> {
        let listed = self.paths.iter().map(|path| {
            let id = number(&path.name);
            let id = id.ok_or_else(|| CarriageError::NoNumber(path.name.clone()))?;
            Ok(ListedPath { path: id, weight: path.weight.unwrap_or(0) })
        });
        let paths = PathList::new(&listed.collect::<Result<Vec<_>, CarriageError>>()?)?;
        let Self { mode, redundancy, resend, in_order, copy_share, .. } = *self;
        let resequence = (!in_order).then_some(Duration::ZERO);
        Ok(FlowConfig { mode, paths, redundancy, resequence, resend, copy_share })
    }
}

impl From<FlowMode> for Carriage {
    /// Over all paths.
    fn from(mode: FlowMode) -> Self {
        let (paths, redundancy) = (Arc::default(), Redundancy::default());
        Self { mode, paths, redundancy, resend: resends(mode), in_order: true, copy_share: 0 }
    }
}

/// By the mode of flows of which nobody says anything.
impl Default for Carriage {
    fn default() -> Self {
        FlowMode::default().into()
    }
}

/// What a bond is told of datagrams of this mode over all paths, where nobody says more.
pub const fn flow_of(mode: FlowMode) -> FlowConfig {
    FlowConfig { resend: resends(mode), ..FlowConfig::of(mode) }
}

/// Whether what is lost is sent again where nobody says. Copies make up for losses already, and a
/// flow on one path is for whoever wants its order kept.
const fn resends(mode: FlowMode) -> bool {
    !matches!(mode, FlowMode::Redundant | FlowMode::Best)
}

impl From<&Steering> for Carriage {
    fn from(steering: &Steering) -> Self {
        let polypath_policy::Redundancy { copies, rtt_above, loss_above } = steering.redundancy;
        let copies = copies.and_then(NonZeroU8::new);
        let mode = flow_mode(steering.mode);
        Self {
            mode,
            paths: steering.paths.clone().into(),
            redundancy: Redundancy { copies, rtt_above, loss_above },
            resend: steering.resend.unwrap_or_else(|| resends(mode)),
            in_order: steering.in_order.unwrap_or(true),
            copy_share: steering.copy_share,
        }
    }
}

/// The mode, and the paths where they are named.
impl fmt::Display for Carriage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.mode)?;
        let names: Vec<_> = self.paths.iter().map(|path| path.name.as_str()).collect();
        if names.is_empty() { Ok(()) } else { write!(f, " over {}", names.join(", ")) }
    }
}

/// The mode of a bond's flow that does what a rule says.
const fn flow_mode(mode: SteeringMode) -> FlowMode {
    match mode {
        SteeringMode::Aggregate => FlowMode::Aggregate,
        SteeringMode::Redundant => FlowMode::Redundant,
        SteeringMode::ActiveStandby => FlowMode::Best,
        SteeringMode::SmallestDelay => FlowMode::SmallestDelay,
        SteeringMode::PriorityBased => FlowMode::PriorityBased,
        SteeringMode::LoadBalancing => FlowMode::LoadBalancing,
    }
}

/// The mode of rules that a bond's flow of this mode is for.
pub const fn steering_mode(mode: FlowMode) -> SteeringMode {
    match mode {
        FlowMode::Aggregate => SteeringMode::Aggregate,
        FlowMode::Redundant => SteeringMode::Redundant,
        FlowMode::Best => SteeringMode::ActiveStandby,
        FlowMode::SmallestDelay => SteeringMode::SmallestDelay,
        FlowMode::PriorityBased => SteeringMode::PriorityBased,
        FlowMode::LoadBalancing => SteeringMode::LoadBalancing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_by_their_numbers_and_weights_in_the_order_of_the_rule() {
        let path = |name: &str, weight| SteeringPath { name: name.into(), weight: Some(weight) };
        let paths = vec![path("wifi", 80), path("lte", 20)];
        let steering = Steering { paths, ..SteeringMode::LoadBalancing.into() };
        let carriage = Carriage::from(&steering);
        let number = |name: &str| match name {
            "lte" => PathId::new(0),
            "wifi" => PathId::new(1),
            _ => None,
        };
        let config = carriage.flow_config(number).unwrap();
        let listed: Vec<_> =
            config.paths.listed().iter().map(|path| (path.path.get(), path.weight)).collect();
        assert_eq!((config.mode, listed), (FlowMode::LoadBalancing, vec![(1, 80), (0, 20)]));
        assert!(config.resend);
        let error = carriage.flow_config(|_| None).unwrap_err();
        assert_eq!(error, CarriageError::NoNumber("wifi".into()));
    }

    #[test]
    fn what_is_lost_is_sent_again_as_the_rule_or_else_the_mode_says() {
        let resends = |steering| Carriage::from(&steering).flow_config(|_| None).unwrap().resend;
        let by_mode: Vec<_> =
            SteeringMode::ALL.into_iter().filter(|&mode| resends(mode.into())).collect();
        use SteeringMode::{Aggregate, LoadBalancing, PriorityBased, SmallestDelay};
        for mode in SteeringMode::ALL {
            let carriage = Carriage::from(&Steering::from(mode));
            assert_eq!(carriage.flow_config(|_| None), Ok(flow_of(carriage.mode)));
            assert_eq!(steering_mode(carriage.mode), mode);
            assert_eq!(mode.puts_in_order(), carriage.mode.spreads());
        }
        assert_eq!(by_mode, [Aggregate, SmallestDelay, PriorityBased, LoadBalancing]);
        assert!(!resends(Steering { resend: Some(false), ..Aggregate.into() }));
        let standby = SteeringMode::ActiveStandby.into();
        assert!(resends(Steering { resend: Some(true), ..standby }));
    }

    #[test]
    fn order_is_waited_for_unless_the_rule_says_otherwise() {
        for (in_order, wait) in [(None, None), (Some(true), None), (Some(false), Some(0))] {
            let steering = Steering { in_order, ..SteeringMode::Aggregate.into() };
            let config = Carriage::from(&steering).flow_config(|_| None).unwrap();
            assert_eq!(config.wait_for_order(), wait.map(Duration::from_millis), "{in_order:?}");
        }
    }
}

//! An algorithm together with the values of its parameters.

use super::{Description, ParameterError, Values};
use core::fmt;
use core::str::FromStr;

/// What the enums of all kinds have in common.
pub trait Algorithm: Copy + Eq + fmt::Debug + fmt::Display {
    /// What the algorithm says of itself.
    fn description(self) -> &'static Description;
}

/// An algorithm with values of its parameters, all of them allowed ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Configured<K> {
    kind: K,
    values: Values,
}

impl<K: Algorithm> From<K> for Configured<K> {
    /// With defaults.
    fn from(kind: K) -> Self {
        Self { kind, values: Values::of(kind.description()) }
    }
}

impl<K: Algorithm + FromStr> FromStr for Configured<K> {
    type Err = K::Err;

    /// With defaults.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        name.parse().map(K::into)
    }
}

impl<K: Algorithm> Configured<K> {
    /// An algorithm whose parameters have these values, and the others their defaults.
    ///
    /// # Errors
    /// As [`Configured::set`].
    pub fn with(kind: K, settings: &[(&str, f64)]) -> Result<Self, ParameterError> {
        let mut configured = Self::from(kind);
        for &(name, value) in settings {
            configured.set(name, value)?;
        }
        Ok(configured)
    }

    /// The algorithm with each of its parameters in turn at its lowest and at its highest value: it
    /// must work with all of these.
    pub fn at_limits(kind: K) -> Vec<Self> {
        let rows = kind.description().parameters.iter().zip(0..);
        let limits = rows.flat_map(|(row, index)| [(index, row.lowest), (index, row.highest)]);
        let at =
            |(index, value)| Self { kind, values: Values::of(kind.description()).at(index, value) };
        limits.map(at).collect()
    }

    /// Gives a parameter another value.
    ///
    /// # Errors
    /// When the algorithm has no such parameter, or it may not have this value; it keeps its value
    /// then.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.values.set(self.kind.description(), name, value)
    }

    /// The algorithm.
    pub const fn kind(&self) -> K {
        self.kind
    }

    /// The parameters that do not have their default, with their values.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        let all = self.kind.description().parameters.iter().zip(self.values.iter());
        all.filter(|(row, value)| row.default != *value).map(|(row, value)| (row.name, value))
    }

    pub(crate) const fn values(&self) -> &Values {
        &self.values
    }
}

/// The algorithm and what differs from the defaults: `Cubic`, `Cubic { beta: 0.5 }`.
impl<K: Algorithm> fmt::Debug for Configured<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct(&format!("{:?}", self.kind));
        self.settings().for_each(|(name, value)| {
            text.field(name, &value);
        });
        text.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{CongestionKind, Cubic, CubicParameters};
    use crate::registry::all;

    fn cubic(settings: &[(&str, f64)]) -> Result<Configured<CongestionKind>, ParameterError> {
        Configured::with(CongestionKind::Cubic, settings)
    }

    #[test]
    fn settings_arrive_in_their_fields() {
        let set = cubic(&[("beta", 0.5), ("linux_min_rtt", 1.0)]).unwrap();
        let parameters = CubicParameters::of(set.values());
        let expected =
            CubicParameters { beta: 0.5, linux_min_rtt: true, ..CubicParameters::DEFAULT };
        assert_eq!(parameters, expected);
        assert_eq!(format!("{set:?}"), "Cubic { beta: 0.5, linux_min_rtt: 1.0 }");
        assert!(format!("{:?}", set.build(0)).contains("beta: 0.5"));
        let unset = Configured::from(CongestionKind::Cubic);
        assert_eq!(format!("{unset:?}"), "Cubic");
        assert_eq!(cubic(&[("beta", Cubic::DESCRIPTION.parameters[1].default)]), Ok(unset));
    }

    #[test]
    fn what_is_not_allowed_is_refused_and_changes_nothing() {
        let message = |settings| cubic(settings).unwrap_err().to_string();
        assert_eq!(
            message(&[("gamma", 1.0)]),
            "cubic has no parameter \"gamma\"; allowed: c, beta, fast_convergence, linux_min_rtt, \
             late_alpha"
        );
        let problem = "beta of cubic cannot be 2; allowed: numbers from 0 to 1";
        assert_eq!(message(&[("beta", 2.0)]), problem);
        let problem = "fast_convergence of cubic cannot be 0.5; allowed: 0 or 1";
        assert_eq!(message(&[("fast_convergence", 0.5)]), problem);
        assert!(message(&[("c", f64::NAN)]).contains("cannot be NaN"));
        let mut kept = Configured::from(CongestionKind::Cubic);
        assert!(kept.set("c", f64::INFINITY).is_err());
        assert_eq!(kept, CongestionKind::Cubic.into());
        let reno = Configured::with(CongestionKind::Reno, &[("beta", 0.5)]);
        let problem = "reno has no parameter \"beta\"; allowed: none";
        assert_eq!(reno.unwrap_err().to_string(), problem);
    }

    #[test]
    fn defaults_of_every_type_arrive_unchanged() {
        use crate::failure::{FailureKind, FpfParameters};
        use crate::scheduler::{CpParameters, RoundRobinParameters, SchedulerKind};
        let fpf = Configured::from(FailureKind::Fpf);
        assert_eq!(FpfParameters::of(fpf.values()), FpfParameters::DEFAULT);
        let cp = Configured::from(SchedulerKind::CpConservative);
        assert_eq!(CpParameters::of(cp.values()), CpParameters::DEFAULT);
        let turns = Configured::with(SchedulerKind::RoundRobin, &[("num_segments", 3.0)]).unwrap();
        let expected = RoundRobinParameters { num_segments: 3, ..RoundRobinParameters::DEFAULT };
        assert_eq!(RoundRobinParameters::of(turns.values()), expected);
    }

    #[test]
    fn limits_are_allowed() {
        let limits = Configured::at_limits(CongestionKind::Cubic);
        assert_eq!(limits.len(), 2 * Cubic::DESCRIPTION.parameters.len());
        for limit in limits {
            let settings: Vec<_> = limit.settings().collect();
            assert_eq!(Configured::with(CongestionKind::Cubic, &settings), Ok(limit));
        }
    }

    #[test]
    fn every_default_is_allowed() {
        for row in all() {
            for parameter in row.parameters {
                assert!(parameter.allows(parameter.default), "{}: {parameter:?}", row.name);
            }
        }
    }
}

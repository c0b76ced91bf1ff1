//! How long silence may last: flags, and keys of files, that hub and edge have in common.

use std::time::Duration;

use clap::Args;
use polypath_bond::BondConfig;
use serde::Deserialize;

use crate::config::{Fault, IdleTimeout, KeepAlive, PathTimeout};

/// What is said of the times of one end of a bond; `None` for the bond's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default)]
pub struct LifetimeArgs {
    /// Seconds for which a bond, and every connection through it, outlives its last path; the lower
    /// one of edge and hub counts [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub idle_timeout: Option<IdleTimeout>,
    /// Seconds of silence after which a path is given up and joins anew, at most the idle time-out;
    /// the lower one of edge and hub counts [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub path_timeout: Option<PathTimeout>,
    /// Seconds of silence after which a path is used, so that NATs do not forget it and its death
    /// is noticed, at most a third of the path time-out; the lower one of edge and hub counts
    /// [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub keep_alive: Option<KeepAlive>,
}

impl LifetimeArgs {
    /// What is said here, and otherwise what `other` says.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            idle_timeout: self.idle_timeout.or(other.idle_timeout),
            path_timeout: self.path_timeout.or(other.path_timeout),
            keep_alive: self.keep_alive.or(other.keep_alive),
        }
    }

    /// Times that were asked for fit each other. Defaults give way: a bond keeps within them what
    /// nobody has asked for ([`BondConfig::path_timeout`]).
    ///
    /// # Errors
    /// The one that is too long.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let mut bond = BondConfig::default();
        self.apply(&mut bond);
        if self.path_timeout.is_some() && bond.path_timeout > bond.idle_timeout {
            let idle = seconds(bond.idle_timeout);
            let message = format!(
                "the bond itself ends after {idle} s of silence; allowed: at most {idle}, or a \
                 longer idle time-out"
            );
            return Err(Fault::new("path_timeout", message));
        }
        let path = bond.path_timeout.min(bond.idle_timeout);
        if self.keep_alive.is_some() && bond.keep_alive > path / BondConfig::KEEP_ALIVES {
            let message = format!(
                "a path that is silent for {} s is given up, and two of its keep-alives may be \
                 lost; allowed: at most {}, or longer path and idle time-outs",
                seconds(path),
                seconds(path / BondConfig::KEEP_ALIVES),
            );
            return Err(Fault::new("keep_alive", message));
        }
        Ok(())
    }

    /// Sets what is given.
    pub fn apply(&self, bond: &mut BondConfig) {
        bond.idle_timeout = self.idle_timeout.map_or(bond.idle_timeout, IdleTimeout::get);
        bond.path_timeout = self.path_timeout.map_or(bond.path_timeout, PathTimeout::get);
        bond.keep_alive = self.keep_alive.map_or(bond.keep_alive, KeepAlive::get);
    }
}

fn seconds(time: Duration) -> u64 {
    time.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        times: LifetimeArgs,
    }

    fn checked(line: &[&str]) -> Result<BondConfig, Fault> {
        let times = Line::parse_from([&["test"], line].concat()).times;
        let mut bond = BondConfig::default();
        times.apply(&mut bond);
        times.check().map(|()| bond)
    }

    #[test]
    fn times_that_fit_each_other_are_set() {
        let line = ["--idle-timeout", "300", "--path-timeout", "180", "--keep-alive", "60"];
        let bond = checked(&line).unwrap();
        let times = [bond.idle_timeout, bond.path_timeout, bond.keep_alive];
        assert_eq!(times, [300, 180, 60].map(Duration::from_secs));
        // What nobody has asked for gives way.
        for line in [["--idle-timeout", "5"], ["--path-timeout", "5"], ["--keep-alive", "10"]] {
            assert!(checked(&line).is_ok(), "{line:?}");
        }
    }

    #[test]
    fn a_time_that_is_too_long_is_named_with_what_is_allowed() {
        for (line, key, allowed) in [
            (&["--path-timeout", "31"][..], "path_timeout", "at most 30, "),
            (&["--idle-timeout", "60", "--path-timeout", "61"], "path_timeout", "at most 60, "),
            (&["--keep-alive", "11"], "keep_alive", "at most 10, "),
            (&["--path-timeout", "20", "--keep-alive", "7"], "keep_alive", "at most 6, "),
            (&["--idle-timeout", "6", "--keep-alive", "3"], "keep_alive", "at most 2, "),
        ] {
            let fault = checked(line).unwrap_err();
            assert_eq!(fault.key, key, "{line:?}");
            assert!(fault.message.contains(&format!("allowed: {allowed}")), "{}", fault.message);
        }
    }

    #[test]
    fn the_help_has_the_times_that_hold_where_none_are_given() {
        let help = Line::command().render_long_help().to_string();
        let bond = BondConfig::default();
        for (flag, default) in [
            ("--idle-timeout", bond.idle_timeout),
            ("--path-timeout", bond.path_timeout),
            ("--keep-alive", bond.keep_alive),
        ] {
            let (_, said) = help.split_once(flag).unwrap();
            let said = said.split("[default: ").nth(1).unwrap();
            assert!(said.starts_with(&format!("{}]", seconds(default))), "{flag}: {said}");
        }
    }
}

//! Rules that say beforehand which method to use, from what a bond knows.

use super::method::Method;
use super::row::{Share, mean};
use super::study::FecCell;
use serde::Serialize;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FecRule {
    /// What is lost is sent again where the deadline is so many times what that needs; `None`:
    /// never.
    pub resend_from: Option<f64>,
    /// Otherwise there are copies on two paths where the datagrams sent once take such a share of
    /// the lines at most; `None`: always.
    pub copy_up_to: Option<f64>,
    /// Otherwise this.
    pub otherwise: Method,
}

/// A rule over all cells.
#[derive(Clone, Debug, Serialize)]
pub struct FecStanding {
    /// The rule.
    pub rule: FecRule,
    /// In how many cells enough datagrams were in time.
    pub met: Share,
    /// The share of datagrams that were lost or late: the mean over the cells.
    pub missing: f64,
    /// What was sent beyond each datagram once, as a share: the mean over the cells.
    pub overhead: f64,
    /// In how many cells repair symbols were sent.
    pub fec_cells: usize,
}

/// What is tried for [`FecRule::resend_from`] and [`FecRule::copy_up_to`].
const RESEND_FROM: [Option<f64>; 8] =
    [Some(0.0), Some(0.75), Some(1.0), Some(1.25), Some(1.5), Some(2.0), Some(3.0), None];
const COPY_UP_TO: [Option<f64>; 7] =
    [Some(0.0), Some(0.05), Some(0.1), Some(0.2), Some(0.3), Some(0.4), None];
/// Of rules whose share of cells is within so much of the highest, the one that sends least is the
/// best.
const AS_GOOD: f64 = 0.01;

impl FecRule {
    /// What it says for a cell.
    pub(super) fn method(&self, cell: &FecCell) -> Method {
        if self.resend_from.is_some_and(|from| cell.time() >= from) {
            Method::Resend
        } else if self.copy_up_to.is_none_or(|most| cell.load <= most) {
            Method::Copy { paths: 2 }
        } else {
            self.otherwise
        }
    }

    /// All that are tried: with repair symbols or without.
    fn all(with_fec: bool) -> Vec<Self> {
        let fits = |method: &Method| *method == Method::Best || with_fec && method.is_fec();
        let methods: Vec<_> = Method::all().into_iter().filter(fits).collect();
        let mut rules = Vec::new();
        for resend_from in RESEND_FROM {
            for copy_up_to in COPY_UP_TO {
                let rule = |&otherwise: &Method| Self { resend_from, copy_up_to, otherwise };
                rules.extend(methods.iter().map(rule));
            }
        }
        rules
    }

    /// One method everywhere, the best rule without FEC and the best of all, in these cells.
    pub(super) fn standings(cells: &[FecCell]) -> Vec<FecStanding> {
        let simple = [
            Self { resend_from: None, copy_up_to: Some(0.0), otherwise: Method::Best },
            Self { resend_from: Some(0.0), copy_up_to: None, otherwise: Method::Best },
            Self { resend_from: None, copy_up_to: None, otherwise: Method::Best },
        ];
        let best = [false, true].map(|with_fec| Self::best(cells, with_fec));
        let simple = simple.map(|rule| rule.standing(cells)).into_iter();
        simple.chain(best.into_iter().flatten()).collect()
    }

    /// What it comes to in these cells.
    pub(super) fn standing(self, cells: &[FecCell]) -> FecStanding {
        let measured = || cells.iter().filter_map(|cell| cell.measured_by(self.method(cell)));
        FecStanding {
            rule: self,
            met: Share::of(measured().filter(|measured| measured.is_met()).count(), cells.len()),
            missing: mean(measured().map(|measured| measured.missing())),
            overhead: mean(measured().map(|measured| measured.overhead())),
            fec_cells: cells.iter().filter(|cell| self.method(cell).is_fec()).count(),
        }
    }

    /// The best of all in these cells.
    fn best(cells: &[FecCell], with_fec: bool) -> Option<FecStanding> {
        let all: Vec<_> =
            Self::all(with_fec).into_iter().map(|rule| rule.standing(cells)).collect();
        let highest = all.iter().map(|standing| standing.met.value).fold(0.0, f64::max);
        let good = all.into_iter().filter(|standing| standing.met.value >= highest - AS_GOOD);
        good.min_by(|a, b| a.overhead.total_cmp(&b.overhead))
    }
}

//! What each method comes to, by traffic and by how much time there is.

use super::method::Method;
use super::study::FecCell;
use super::traffic::TrafficKind;
use super::trial::FecMeasured;
use polypath_model::metrics::quantile;
use serde::Serialize;

/// A share of cases, with the interval in which it lies with 95 % (Wilson 1927).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The share.
    pub value: f64,
    /// From here on.
    pub low: f64,
    /// Up to here.
    pub high: f64,
}

/// A method over all cells of a traffic.
#[derive(Clone, Debug, Serialize)]
pub struct FecRow {
    /// The traffic.
    pub traffic: TrafficKind,
    /// The method.
    pub method: Method,
    /// In how many cells enough datagrams were in time.
    pub met: Share,
    /// The share of datagrams that were lost or late: the mean over the cells.
    pub missing: f64,
    /// What was sent beyond each datagram once, as a share: the mean over the cells.
    pub overhead: f64,
    /// Delays in ms: the medians over the cells of their median, 99th and 99.9th percentile.
    pub delay_ms: [f64; 3],
    /// Goodput of a transfer beside it over that beside `best`: the median over the cells that have
    /// one.
    pub beside: Option<f64>,
}

/// A method over all cells with so much time.
#[derive(Clone, Debug, Serialize)]
pub struct FecPoint {
    /// The deadline over what a retransmission needs, at least.
    pub from: f64,
    /// How many cells.
    pub cells: usize,
    /// The method.
    pub method: Method,
    /// In how many of them enough datagrams were in time.
    pub met: Share,
    /// What was sent beyond each datagram once, as a share: the mean.
    pub overhead: f64,
}

/// So many of the datagrams are in time where enough are: all but one in a thousand.
const ENOUGH: f64 = 0.999;
/// Deadlines over what a retransmission needs, from one to the next.
const TIMES: [f64; 7] = [0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];
/// The normal distribution is within so many standard deviations with 95 %.
const DEVIATIONS: f64 = 1.96;

impl Share {
    /// `some` of `all`.
    pub(super) fn of(some: usize, all: usize) -> Self {
        let (n, square) = (all.max(1) as f64, DEVIATIONS * DEVIATIONS);
        let value = some as f64 / n;
        let middle = (value + square / (2.0 * n)) / (1.0 + square / n);
        let spread = value * (1.0 - value) / n + square / (4.0 * n * n);
        let half = DEVIATIONS * libm::sqrt(spread) / (1.0 + square / n);
        Self { value, low: (middle - half).max(0.0), high: (middle + half).min(1.0) }
    }
}

impl FecMeasured {
    /// The share of datagrams that were lost or late.
    pub fn missing(&self) -> f64 {
        1.0 - self.in_time as f64 / self.produced.max(1) as f64
    }

    /// Whether enough were in time.
    pub fn is_met(&self) -> bool {
        self.in_time as f64 >= ENOUGH * self.produced as f64
    }

    /// What was sent beyond each datagram once, as a share.
    pub fn overhead(&self) -> f64 {
        self.bytes_ppm as f64 / 1e6 - 1.0
    }
}

/// What a method measured in these cells.
fn measured<'a>(
    cells: &'a [&FecCell],
    method: Method,
) -> impl Iterator<Item = FecMeasured> + use<'a> {
    cells.iter().filter_map(move |cell| cell.measured_by(method))
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    quantile(&mut values.collect::<Vec<_>>(), 0.5)
}

impl FecRow {
    /// All methods over the cells of each traffic.
    pub(super) fn all(cells: &[FecCell]) -> Vec<Self> {
        let rows = TrafficKind::ALL.into_iter().flat_map(|traffic| {
            let cells: Vec<_> = cells.iter().filter(|cell| cell.traffic == traffic).collect();
            Method::all().into_iter().map(move |method| Self::of(traffic, method, &cells))
        });
        rows.collect()
    }

    fn of(traffic: TrafficKind, method: Method, cells: &[&FecCell]) -> Self {
        let met = measured(cells, method).filter(FecMeasured::is_met).count();
        let delay = |index: usize| {
            let delays = measured(cells, method).map(|measured| measured.delay_us[index]);
            median(delays.map(|us| us as f64 / 1e3)).unwrap_or(0.0)
        };
        let beside = cells.iter().filter_map(|cell| {
            let [own, best] = [method, Method::Best].map(|method| cell.measured_by(method));
            Some(own?.beside_bit_s? as f64 / best?.beside_bit_s?.max(1) as f64)
        });
        Self {
            traffic,
            method,
            met: Share::of(met, cells.len()),
            missing: mean(measured(cells, method).map(|measured| measured.missing())),
            overhead: mean(measured(cells, method).map(|measured| measured.overhead())),
            delay_ms: [0, 1, 2].map(delay),
            beside: median(beside),
        }
    }
}

impl FecPoint {
    /// All methods by how much time there is.
    pub(super) fn all(cells: &[FecCell]) -> Vec<Self> {
        let to = |from: f64| TIMES.into_iter().find(|&to| to > from).unwrap_or(f64::INFINITY);
        let points = TIMES.into_iter().flat_map(|from| {
            let within = |cell: &&FecCell| (from..to(from)).contains(&cell.time());
            let cells: Vec<_> = cells.iter().filter(within).collect();
            Method::all().into_iter().map(move |method| Self::of(from, method, &cells))
        });
        points.collect()
    }

    fn of(from: f64, method: Method, cells: &[&FecCell]) -> Self {
        let met = measured(cells, method).filter(FecMeasured::is_met).count();
        Self {
            from,
            cells: cells.len(),
            method,
            met: Share::of(met, cells.len()),
            overhead: mean(measured(cells, method).map(|measured| measured.overhead())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wilson's interval for 8 of 10 is 0.490 to 0.943 (Brown, Cai, DasGupta, Stat. Sci. 2001).
    #[test]
    fn an_interval_is_that_of_wilson() {
        let share = Share::of(8, 10);
        assert!((share.low - 0.490).abs() < 1e-3 && (share.high - 0.943).abs() < 1e-3, "{share:?}");
        assert!(Share::of(0, 10).low.abs() < 1e-12, "none");
    }

    #[test]
    fn one_in_a_thousand_may_be_late() {
        let measured = |in_time| FecMeasured { produced: 3_000, in_time, ..FecMeasured::default() };
        assert!(measured(2_997).is_met() && !measured(2_996).is_met());
        assert!((measured(2_970).missing() - 0.01).abs() < 1e-12);
    }
}

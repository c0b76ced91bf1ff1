//! Rates for the BRF flows of a port: the formulas, without state.
//!
//! Source: S4 section 3.3, equations (10) to (14) and (16) to (18), restored where print has lost
//! signs and fractions (`docs/algorithms/feedback.md`). Rates in bytes/s, `w_i` weights (1 unless
//! subflows of a connection share one), `W` their sum:
//!
//! ```text
//! new flow:   BWinit = min(F, C w_i / W)          RBW = C - sum of what the others use
//!             RBW >= BWinit:  others keep what they use
//!             RBW <  BWinit:  others times (C - BWinit) / sum of their allocations
//! measured:   limited by its application (real < alpha BW):  BW = beta real
//!             else:  an equal share of the rest
//! queueing:   BW times max(0.1, 1 - q MSS / (gamma sum BW))
//! burst:      BW times min(1, alpha C / sum real)
//! ```
//!
//! Where this differs from print, so that allocations never add up to more than `C`:
//!
//! - (12) leaves the others what they have, and trusts that they use no more than was measured.
//!   Here they lose what they do not use, as far as it is needed; a flow not measured yet counts as
//!   using all of its allocation;
//! - (13) divides by measured rates, here by allocations, and no flow gains by it.
//!   [`ScaleBy::Measured`] has (12) and (13) as printed;
//! - (14) leaves a limited flow more than the others' share if it once had it. Here a flow is
//!   limited only as far as it wants less than its fair share (max-min), which is (14) in all other
//!   cases;
//! - (17) and (18) have a sign and a fraction inverted in print.

use serde::Serialize;

/// What equation (13) divides by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScaleBy {
    /// The allocations of the others: the total stays within the capacity.
    #[default]
    Allocated,
    /// What the others were measured to send, as printed, as is (12): the total may exceed the
    /// capacity until the next period.
    Measured,
}

/// What is known about how much a flow wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// Not measured yet: it keeps its allocation.
    Unmeasured,
    /// Its application sends less than it may.
    Limited,
    /// It takes what it gets.
    Unlimited,
}

/// A flow, as far as allocation is concerned. Rates in bytes/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    pub(super) allocated: f64,
    /// What it sends; for a limited flow, the most it sent lately.
    pub(super) measured: f64,
    pub(super) demand: Demand,
    pub(super) weight: f64,
}

impl Share {
    /// What the flow uses of its allocation.
    fn used(&self) -> f64 {
        match self.demand {
            Demand::Unmeasured => self.allocated,
            Demand::Limited | Demand::Unlimited => self.measured.min(self.allocated),
        }
    }
}

fn sum(shares: &[Share], of: impl Fn(&Share) -> f64) -> f64 {
    shares.iter().map(of).sum()
}

pub(super) fn total(shares: &[Share]) -> f64 {
    sum(shares, |share| share.allocated)
}

pub(super) fn total_measured(shares: &[Share]) -> f64 {
    sum(shares, |share| share.measured)
}

fn scale(shares: &mut [Share], factor: f64) {
    shares.iter_mut().for_each(|share| share.allocated *= factor);
}

/// Equations (10) to (13): the first rate of a flow of weight `weight` that joins `others`.
pub(super) fn admit(
    others: &mut [Share],
    weight: f64,
    predicted: Option<f64>,
    capacity: f64,
    scale_by: ScaleBy,
) -> f64 {
    let average = capacity * weight / (weight + sum(others, |share| share.weight));
    let initial = predicted.map_or(average, |rate| rate.min(average));
    match scale_by {
        ScaleBy::Allocated => make_room(others, capacity - initial),
        ScaleBy::Measured if capacity - total_measured(others) < initial => {
            let measured = total_measured(others);
            scale(others, (capacity - initial) / measured);
        }
        ScaleBy::Measured => {}
    }
    initial
}

/// Lowers allocations to a total of `left`: first by what is not used, (12), and if that is not
/// enough, all in proportion, (13).
fn make_room(others: &mut [Share], left: f64) {
    let (allocated, used) = (total(others), sum(others, Share::used));
    if allocated <= left {
        return;
    }
    if used > left {
        return scale(others, left / allocated);
    }
    let kept = (left - used) / (allocated - used);
    for share in others {
        share.allocated = share.used() + (share.allocated - share.used()) * kept;
    }
}

/// Equation (14): limited flows get `growth` times what they send, the others equal shares of the
/// rest. If all are limited they share the rest, too.
pub(super) fn allocate(shares: &mut [Share], capacity: f64, growth: f64) {
    for share in shares.iter_mut().filter(|share| share.demand == Demand::Limited) {
        share.allocated = growth * share.measured;
    }
    if shares.iter().any(|share| share.demand == Demand::Unlimited) {
        fill(shares, capacity);
    } else {
        share_rest(shares, capacity);
    }
}

/// No flow takes all it gets: what is left is shared out, or what is missing is taken in
/// proportion.
fn share_rest(shares: &mut [Share], capacity: f64) {
    let (wanted, weights) = (total(shares), sum(shares, |share| share.weight));
    if wanted > capacity {
        return scale(shares, capacity / wanted);
    }
    for share in shares {
        share.allocated += (capacity - wanted) * share.weight / weights;
    }
}

/// Max-min fair: a flow that wants less than the fair share gets what it wants, and the others get
/// the same for each unit of weight.
fn fill(shares: &mut [Share], capacity: f64) {
    let wanted = |share: &Share| match share.demand {
        Demand::Unlimited => f64::INFINITY,
        Demand::Unmeasured | Demand::Limited => share.allocated / share.weight,
    };
    let mut by_demand: Vec<_> = shares.iter_mut().collect();
    by_demand.sort_by(|one, other| wanted(one).total_cmp(&wanted(other)));
    let mut rest = capacity;
    let mut weights: f64 = by_demand.iter().map(|share| share.weight).sum();
    for share in by_demand {
        share.allocated = share.weight * wanted(share).min((rest / weights).max(0.0));
        rest -= share.allocated;
        weights -= share.weight;
    }
}

/// Keeps every allocation at `floor` or the fair share, whichever is less, and the total at
/// `capacity` or below.
pub(super) fn bound(shares: &mut [Share], capacity: f64, floor: f64) {
    let weights = sum(shares, |share| share.weight);
    let least = |share: &Share| floor.min(capacity * share.weight / weights);
    for share in shares.iter_mut() {
        share.allocated = share.allocated.max(least(share));
    }
    let (allocated, floors) = (total(shares), sum(shares, least));
    if allocated <= capacity {
        return;
    }
    let kept = ((capacity - floors) / (allocated - floors)).clamp(0.0, 1.0);
    for share in shares {
        share.allocated = least(share) + (share.allocated - least(share)) * kept;
    }
}

/// Equation (17): the factor that drains `queued` bytes in `gamma` seconds, at least `least`.
pub(super) fn drain(shares: &[Share], queued: f64, gamma: f64, least: f64) -> f64 {
    let total = total(shares);
    if total > 0.0 { (1.0 - queued / (gamma * total)).max(least) } else { 1.0 }
}

/// Equation (18): the factor that ends a burst.
pub(super) fn calm(shares: &[Share], capacity: f64, utilisation: f64) -> f64 {
    let measured = total_measured(shares);
    if measured > 0.0 { (utilisation * capacity / measured).min(1.0) } else { 1.0 }
}

/// Lowers every allocation to `factor` of it.
pub(super) fn reduce(shares: &mut [Share], factor: f64) {
    scale(shares, factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share(allocated: f64, measured: f64, demand: Demand) -> Share {
        Share { allocated, measured, demand, weight: 1.0 }
    }

    fn allocations(shares: &[Share]) -> Vec<f64> {
        shares.iter().map(|share| share.allocated).collect()
    }

    #[track_caller]
    fn close(got: &[f64], wanted: &[f64]) {
        let near = |(g, w): (&f64, &f64)| (g - w).abs() <= 1e-6 * w.abs();
        assert!(got.len() == wanted.len() && got.iter().zip(wanted).all(near), "{got:?}");
    }

    /// After `t_brfa_1`, as measured a period later. In MB/s: the formulas have no unit.
    fn three_flows() -> [Share; 3] {
        let unlimited = |measured| share(5.725, measured, Demand::Unlimited);
        [share(1.05, 1.0, Demand::Limited), unlimited(5.7), unlimited(5.7)]
    }

    #[test]
    fn t_brfa_1() {
        let flow = |allocated, measured| {
            let limited = measured < 0.95 * allocated;
            let demand = if limited { Demand::Limited } else { Demand::Unlimited };
            share(allocated, measured, demand)
        };
        let mut shares = [flow(4.0, 1.0), flow(4.0, 3.98), flow(4.5, 4.45)];
        allocate(&mut shares, 12.5, 1.05);
        close(&allocations(&shares), &[1.05, 5.725, 5.725]);
    }

    #[test]
    fn t_brfa_2() {
        let mut others = three_flows();
        let initial = admit(&mut others, 1.0, Some(5.0), 12.5, ScaleBy::Allocated);
        close(&[initial], &[3.125]);
        close(&allocations(&others), &[0.7875, 4.29375, 4.29375]);
        close(&[initial + total(&others)], &[12.5]);
        let mut printed = three_flows();
        let initial = admit(&mut printed, 1.0, Some(5.0), 12.5, ScaleBy::Measured);
        close(&[printed[0].allocated / 1.05], &[9.375 / 12.4]);
        assert!((initial + total(&printed) - 12.5756).abs() < 1e-4, "oversubscribed");
    }

    #[test]
    fn t_brfa_3() {
        let shares = [share(12.5e6, 14e6, Demand::Unlimited)];
        close(&[drain(&shares, 200.0 * 1_500.0, 0.04, 0.1)], &[0.4]);
        close(&[calm(&shares, 12.5e6, 0.98)], &[0.875]);
    }

    #[test]
    fn a_queue_of_any_length_leaves_a_tenth_and_no_burst_raises_a_rate() {
        let shares = [share(1e6, 1e5, Demand::Unlimited)];
        close(&[drain(&shares, 1e12, 0.04, 0.1)], &[0.1]);
        close(&[calm(&shares, 1e6, 0.95)], &[1.0]);
        for factor in [drain(&[], 1e6, 0.04, 0.1), calm(&[], 1e6, 0.95)] {
            close(&[factor], &[1.0]);
        }
    }

    /// (12): 4.0 are unused, of which the new flow takes 3.0.
    #[test]
    fn idle_capacity_goes_to_a_new_flow_and_used_capacity_stays() {
        let mut others = [share(6.0, 6.0, Demand::Unlimited), share(6.0, 2.0, Demand::Limited)];
        let initial = admit(&mut others, 1.0, Some(3.0), 12.0, ScaleBy::Allocated);
        close(&[initial], &[3.0]);
        close(&allocations(&others), &[6.0, 3.0]);
        let mut printed = [share(6.0, 6.0, Demand::Unlimited), share(6.0, 2.0, Demand::Limited)];
        admit(&mut printed, 1.0, Some(3.0), 12.0, ScaleBy::Measured);
        close(&allocations(&printed), &[6.0, 6.0]);
    }

    #[test]
    fn a_flow_that_is_not_measured_yet_lends_nothing() {
        let mut others = [share(6.0, 0.0, Demand::Unmeasured), share(6.0, 0.0, Demand::Limited)];
        admit(&mut others, 1.0, None, 12.0, ScaleBy::Allocated);
        close(&allocations(&others), &[6.0, 2.0]);
    }

    #[test]
    fn limited_flows_share_the_rest_or_are_cut_to_the_capacity() {
        let limited = |measured| share(9.0, measured, Demand::Limited);
        let mut idle = [limited(1.0), limited(2.0)];
        allocate(&mut idle, 10.0, 1.05);
        close(&allocations(&idle), &[1.05 + 3.425, 2.1 + 3.425]);
        let mut many = [limited(6.0), limited(6.0)];
        allocate(&mut many, 10.0, 1.05);
        close(&allocations(&many), &[5.0, 5.0]);
    }

    #[test]
    fn a_large_limited_flow_does_not_keep_an_unlimited_one_below_the_fair_share() {
        let mut shares = [share(8.0, 7.0, Demand::Limited), share(2.0, 2.0, Demand::Unlimited)];
        allocate(&mut shares, 10.0, 1.05);
        close(&allocations(&shares), &[5.0, 5.0]);
    }

    #[test]
    fn weights_divide_what_is_shared() {
        let half = Share { weight: 0.5, ..share(0.0, 1.0, Demand::Unlimited) };
        let mut shares = [half, half, share(0.0, 1.0, Demand::Unlimited)];
        allocate(&mut shares, 8.0, 1.05);
        close(&allocations(&shares), &[2.0, 2.0, 4.0]);
        close(&[admit(&mut shares, 0.5, None, 10.0, ScaleBy::Allocated)], &[2.0]);
    }

    #[test]
    fn floors_never_exceed_the_fair_share() {
        let mut shares = [share(0.0, 0.0, Demand::Limited), share(12.0, 0.0, Demand::Unlimited)];
        bound(&mut shares, 12.0, 1.0);
        close(&allocations(&shares), &[1.0, 11.0]);
        bound(&mut shares, 12.0, 100.0);
        close(&allocations(&shares), &[6.0, 6.0]);
    }

    fn any_share() -> impl Strategy<Value = Share> {
        let demand =
            prop_oneof![Just(Demand::Unmeasured), Just(Demand::Limited), Just(Demand::Unlimited)];
        let rate = || prop_oneof![Just(0.0), 0.0f64..1e9];
        (rate(), rate(), demand, prop_oneof![Just(1.0), 0.02f64..1.0]).prop_map(
            |(allocated, measured, demand, weight)| Share { allocated, measured, demand, weight },
        )
    }

    proptest! {
        #[test]
        fn the_total_never_exceeds_the_capacity(
            before in prop::collection::vec(any_share(), 0..12),
            capacity in 0.0f64..1e9,
            floor in 0.0f64..1e7,
            predicted in prop::option::of(0.0f64..1e9),
        ) {
            let limit = capacity * (1.0 + 1e-12) + 1e-6;
            let mut shares = before.clone();
            allocate(&mut shares, capacity, 1.05);
            prop_assert!(before.is_empty() || total(&shares) <= limit);
            bound(&mut shares, capacity, floor);
            prop_assert!(total(&shares) <= limit, "{}", total(&shares));
            let used: Vec<_> = shares.iter().map(Share::used).collect();
            let room = capacity - used.iter().sum::<f64>();
            let initial = admit(&mut shares, 1.0, predicted, capacity, ScaleBy::Allocated);
            prop_assert!(initial + total(&shares) <= limit);
            for (share, used) in shares.iter().zip(&used) {
                prop_assert!(share.allocated.is_finite() && share.allocated >= 0.0);
                // Equation (12): a flow that uses what it has keeps it while there is room.
                prop_assert!(room < initial || share.allocated >= used * (1.0 - 1e-12));
            }
        }

        /// The whole capacity is allotted as soon as one flow takes all it gets.
        #[test]
        fn an_unlimited_flow_leaves_nothing(
            mut shares in prop::collection::vec(any_share(), 1..12),
            capacity in 1.0f64..1e9,
        ) {
            shares[0].demand = Demand::Unlimited;
            allocate(&mut shares, capacity, 1.05);
            prop_assert!((total(&shares) - capacity).abs() <= 1e-9 * capacity);
        }
    }
}

//! What several paths bring beside the best one.

/// The aggregation benefit of goodput `g` over paths of `capacities`, in the same unit:
/// `(g - Cm) / (sum C - Cm)` if `g >= Cm`, else `(g - Cm) / Cm`, with the largest capacity `Cm`.
///
/// From -1 (nothing) over 0 (as good as the best path) to 1 (full aggregation). With measured
/// single-path goodputs as capacities it can exceed 1. `None` unless some capacity is positive.
/// With one path of positive capacity, more than it carries counts as 0.
///
/// Source: D. Kaspar, PhD thesis, 2011; Paasch, Khalili, Bonaventure, CoNEXT 2013.
pub fn aggregation_benefit(goodput: f64, capacities: &[f64]) -> Option<f64> {
    let best = capacities.iter().copied().fold(0.0, f64::max);
    if best <= 0.0 {
        return None;
    }
    let (gain, others) = (goodput - best, capacities.iter().sum::<f64>() - best);
    Some(match gain {
        _ if gain < 0.0 => gain / best,
        _ if others <= 0.0 => 0.0,
        _ => gain / others,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_ben_1() {
        let capacities = [64.72, 18.03];
        for (goodput, benefit) in [(75.0, 0.570_160_8), (50.0, -0.227_441_3), (82.75, 1.0)] {
            let given = aggregation_benefit(goodput, &capacities).unwrap();
            assert!((given - benefit).abs() < 1e-6, "{goodput}: {given}");
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(aggregation_benefit(0.0, &[5.0, 1.0]), Some(-1.0));
        assert_eq!(aggregation_benefit(5.0, &[5.0, 1.0]), Some(0.0));
        assert_eq!(aggregation_benefit(5.0, &[5.0]), Some(0.0));
        assert_eq!(aggregation_benefit(1.0, &[0.0]), None);
    }
}

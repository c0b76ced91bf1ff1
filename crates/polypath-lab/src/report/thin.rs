//! Fewer points for the same picture.

/// At most `most` points, but not below 4, of those of a line: in each of equal parts of it the
/// lowest and the highest, and the first and the last of all. Peaks stay as high as they are.
pub(super) fn thin(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let [first, middle @ .., last] = points else { return points.to_vec() };
    if points.len() <= most.max(4) {
        return points.to_vec();
    }
    let parts = (most.max(4) - 2) / 2;
    let mut kept = vec![*first];
    for part in middle.chunks(middle.len().div_ceil(parts)) {
        kept.extend(extremes(part));
    }
    kept.push(*last);
    kept
}

/// The lowest and the highest of these points, in their order.
fn extremes(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let (mut low, mut high) = (0, 0);
    for (at, point) in points.iter().enumerate() {
        low = if point.1 < points[low].1 { at } else { low };
        high = if point.1 > points[high].1 { at } else { high };
    }
    let different = if low == high { 1 } else { 2 };
    [low.min(high), low.max(high)].into_iter().take(different).map(|at| points[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn peaks_and_ends_stay(
            heights in prop::collection::vec(-1e9..1e9_f64, 0..400),
            most in 0..60_usize,
        ) {
            let points: Vec<_> = (0..).map(f64::from).zip(heights).collect();
            let thinned = thin(&points, most);
            prop_assert!(thinned.len() <= most.max(4).min(points.len()));
            prop_assert!(thinned.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert!(thinned.iter().all(|point| points.contains(point)));
            prop_assert_eq!((thinned.first(), thinned.last()), (points.first(), points.last()));
            let bounds = |points: &[(f64, f64)]| {
                let heights = points.iter().map(|point| point.1);
                (heights.clone().fold(f64::MAX, f64::min), heights.fold(f64::MIN, f64::max))
            };
            prop_assert_eq!(bounds(&thinned), bounds(&points));
        }
    }

    #[test]
    fn a_line_that_is_thin_enough_stays() {
        let points: Vec<_> = (0..10).map(|x| (f64::from(x), 1.0)).collect();
        assert_eq!(thin(&points, 10), points);
        assert!(thin(&points, 9).len() < 10);
    }
}

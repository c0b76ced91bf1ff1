//! Means, quantiles and deviations of samples.

/// The arithmetic mean; `None` without samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// The `q`-quantile (0 to 1) with linear interpolation between order statistics (Hyndman and Fan's
/// type 7, the default of R and NumPy). Sorts the samples; `None` without samples.
pub fn quantile(samples: &mut [f64], q: f64) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    let last = samples.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = samples[(below + 1).min(last)];
    Some(samples[below] + part * (above - samples[below]))
}

/// Standard deviation (of the population) over mean; `None` without samples or at mean zero.
pub fn coefficient_of_variation(samples: &[f64]) -> Option<f64> {
    let mean = mean(samples).filter(|mean| *mean != 0.0)?;
    let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    Some((squares / samples.len() as f64).sqrt() / mean)
}

/// Mean of `|estimate - true| / true` over pairs (estimate, true); pairs with a true value of zero
/// do not count. `None` without any.
pub fn estimate_error(pairs: &[(f64, f64)]) -> Option<f64> {
    let errors = pairs.iter().filter(|(_, truth)| *truth != 0.0);
    mean(&errors.map(|(given, truth)| (given - truth).abs() / truth).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        let samples = [4.0, 1.0, 3.0, 2.0];
        for (q, value) in [(0.0, 1.0), (0.5, 2.5), (0.25, 1.75), (0.9, 3.7), (1.0, 4.0)] {
            assert!((quantile(&mut samples.clone(), q).unwrap() - value).abs() < 1e-12, "{q}");
        }
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    #[test]
    fn spread_and_error() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        // Deviations 1, 1, 1, 1 of a mean of 2.
        assert_eq!(coefficient_of_variation(&[1.0, 3.0, 1.0, 3.0]), Some(0.5));
        assert_eq!(coefficient_of_variation(&[1.0, -1.0]), None);
        assert_eq!(estimate_error(&[(12.5, 10.0), (7.5, 10.0), (5.0, 0.0)]), Some(0.25));
        assert_eq!(estimate_error(&[]), None);
    }
}

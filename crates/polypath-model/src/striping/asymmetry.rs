//! How much links differ.

/// The mean difference between any two of `values`, in their unit: Average Delay Asymmetry of
/// delays and Average Bandwidth Asymmetry of rates (S1 equations 22 and 23). 0 for fewer than two.
pub fn mean_difference(values: &[f64]) -> f64 {
    let pairs = values.len() * values.len().saturating_sub(1) / 2;
    if pairs == 0 {
        return 0.0;
    }
    let to_the_rest =
        |(index, a): (usize, &f64)| values[index + 1..].iter().map(|b| (a - b).abs()).sum::<f64>();
    values.iter().enumerate().map(to_the_rest).sum::<f64>() / pairs as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_model_3() {
        assert_eq!(mean_difference(&[5.0, 20.0, 35.0]), 20.0);
        let rates = [35.9, 18.4, 33.3, 14.7, 14.8, 4.4, 22.5, 12.5];
        assert!((rates.iter().sum::<f64>() - 156.5).abs() < 1e-9);
        assert!((mean_difference(&rates) - 12.553_571_4).abs() < 1e-7);
        assert_eq!(mean_difference(&[7.0]), 0.0);
    }
}

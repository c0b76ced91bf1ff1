//! How evenly a resource is shared.

/// Jain's index `(sum x)^2 / (n sum x^2)` of throughputs over the same window: 1 for equal shares,
/// `1/n` if one has everything. `None` without any; 1 if all are zero.
///
/// Source: R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984.
pub fn jain_index(throughputs: &[f64]) -> Option<f64> {
    let sum: f64 = throughputs.iter().sum();
    let squares: f64 = throughputs.iter().map(|x| x * x).sum();
    match throughputs.len() {
        0 => None,
        _ if squares == 0.0 => Some(1.0),
        n => Some(sum * sum / (n as f64 * squares)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_jain_1() {
        let close = |shares: &[f64], index: f64| (jain_index(shares).unwrap() - index).abs() < 1e-6;
        assert!(close(&[1.0, 0.127_016_7], 0.625));
        assert!(close(&[5.0, 5.0], 1.0));
        assert!(close(&[1.0, 0.0, 0.0, 0.0], 0.25));
    }

    #[test]
    fn nobody_and_nothing() {
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[0.0, 0.0]), Some(1.0));
    }
}

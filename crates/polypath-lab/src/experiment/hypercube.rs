//! Latin hypercube samples.
//!
//! Source: McKay, Beckman, Conover, "A comparison of three methods for selecting values of input
//! variables in the analysis of output from a computer code", Technometrics 21(2), 1979, section
//! 2.

use polypath_sim::traffic::Random;

/// Of each of `points` points its choice in each dimension, a number below that dimension's number
/// of choices. A dimension is cut into `points` strata of equal width, in each of which lies one
/// point, anywhere; its choices divide the same width among themselves evenly. So each choice is
/// taken by `points / choices` points, give or take fewer than two, and the choices of different
/// dimensions meet at random. Equal seeds give equal samples. A dimension needs a choice.
pub(super) fn sample(points: usize, choices: &[usize], seed: u64) -> Vec<Vec<usize>> {
    let mut random = Random::new(seed);
    let dimensions: Vec<_> =
        choices.iter().map(|&choices| dimension(points, choices, &mut random)).collect();
    (0..points).map(|point| dimensions.iter().map(|dimension| dimension[point]).collect()).collect()
}

/// The choices of the points in a dimension.
fn dimension(points: usize, choices: usize, random: &mut Random) -> Vec<usize> {
    let mut strata: Vec<usize> = (0..points).collect();
    for last in (1..points).rev() {
        strata.swap(last, random.up_to(last as u64) as usize);
    }
    strata.into_iter().map(|stratum| choice(place(stratum, points, random), choices)).collect()
}

/// A place in a stratum, from 0 on and below 1 in the whole dimension.
fn place(stratum: usize, points: usize, random: &mut Random) -> f64 {
    (stratum as f64 + 1.0 - random.uniform()) / points as f64
}

/// The choice whose share of the dimension has this place.
fn choice(place: f64, choices: usize) -> usize {
    ((place * choices as f64) as usize).min(choices - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many choices as points: then the choices are the strata.
    #[test]
    fn each_stratum_has_one_point_in_every_dimension() {
        for seed in 1..20 {
            let sample = sample(17, &[17, 17, 17], seed);
            for dimension in 0..3 {
                let mut strata: Vec<_> = sample.iter().map(|point| point[dimension]).collect();
                strata.sort_unstable();
                assert_eq!(strata, (0..17).collect::<Vec<_>>(), "seed {seed}");
            }
        }
    }

    #[test]
    fn every_choice_is_taken_equally_often_give_or_take_fewer_than_two() {
        for (points, choices) in [(20, 3), (20, 4), (7, 2), (5, 5), (20, 1)] {
            for seed in 1..20 {
                let sample = sample(points, &[choices], seed);
                for wanted in 0..choices {
                    let taken = sample.iter().filter(|point| point[0] == wanted).count();
                    let fair = points as f64 / choices as f64;
                    assert!((taken as f64 - fair).abs() < 2.0, "{taken} of {points}/{choices}");
                }
            }
        }
    }

    #[test]
    fn a_sample_depends_on_the_seed_alone() {
        let choices = [3, 2, 5];
        assert_eq!(sample(20, &choices, 7), sample(20, &choices, 7));
        assert_ne!(sample(20, &choices, 7), sample(20, &choices, 8));
        assert!(sample(0, &choices, 7).is_empty() && sample(2, &[], 7) == [[0; 0]; 2]);
    }

    /// What varies the assumptions jointly is that dimensions do not go together: of 400 points
    /// with four quarters in each of two dimensions every pair of quarters has some.
    #[test]
    fn the_choices_of_two_dimensions_meet_in_every_combination() {
        let sample = sample(400, &[4, 4], 1);
        for pair in (0..4).flat_map(|a| (0..4).map(move |b| [a, b])) {
            assert!(sample.iter().any(|point| *point == pair), "{pair:?}");
        }
    }
}

//! The operations of `bpf/include/scaled.h` against f64, whose own error is 2^-53.

use super::program::Program;
use polypath_core::random::SplitMix64;
use std::path::Path;

/// Half of the last place of a mantissa of 48 bits, and what f64 and shifts may add.
const HALF_PLACE: f64 = 1.0 / (1_u64 << 48) as f64 * 1.01;

/// A factor of the terms of the formulas: a mantissa of up to 64 bits, times two to the exponent.
#[derive(Clone, Copy, Debug)]
struct Number {
    mantissa: u64,
    exponent: i32,
}

impl Number {
    fn random(random: &mut SplitMix64) -> Self {
        let mantissa = random.next() >> random.below(64);
        Self { mantissa, exponent: random.below(201) as i32 - 100 }
    }

    fn value(self) -> f64 {
        self.mantissa as f64 * 2f64.powi(self.exponent)
    }

    fn bytes(self) -> impl Iterator<Item = u8> {
        let exponent = self.exponent.to_ne_bytes();
        self.mantissa.to_ne_bytes().into_iter().chain(exponent).chain([0; 4])
    }
}

/// The numbers that are most likely to go wrong.
fn corners() -> Vec<Number> {
    let mantissas = (0..64).flat_map(|bit| {
        let power = 1_u64 << bit;
        [power - 1, power, power + 1, !power, u64::MAX >> bit]
    });
    mantissas
        .map(|mantissa| Number { mantissa, exponent: 0 })
        .chain([
            Number { mantissa: 1, exponent: -100 },
            Number { mantissa: u64::MAX, exponent: 100 },
        ])
        .collect()
}

fn pairs() -> Vec<(Number, Number)> {
    let mut random = SplitMix64::new(1);
    let corners = corners();
    let all = corners.iter().flat_map(|&a| corners.iter().map(move |&b| (a, b)));
    let drawn = (0..100_000).map(|_| (Number::random(&mut random), Number::random(&mut random)));
    all.chain(drawn).collect()
}

/// The value of a `pp_scaled_t`.
fn value(scaled: u64) -> f64 {
    let exponent = (scaled >> 48) as i32 - 32_768;
    (scaled & ((1 << 48) - 1)) as f64 * 2f64.powi(exponent)
}

fn results() -> impl Iterator<Item = (Number, Number, [u64; 6])> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/arithmetic.c");
    let pairs = pairs();
    let input: Vec<u8> = pairs.iter().flat_map(|(a, b)| a.bytes().chain(b.bytes())).collect();
    let output = Program::of(&source).run(&[], &input);
    assert_eq!(output.len(), 48 * pairs.len());
    let words = |chunk: &[u8]| u64::from_ne_bytes(chunk.try_into().unwrap());
    let rows: Vec<_> = output
        .chunks(48)
        .map(|row| core::array::from_fn(|n| words(&row[8 * n..8 * n + 8])))
        .collect();
    pairs.into_iter().zip(rows).map(|((a, b), row)| (a, b, row))
}

/// Both operands are rounded on their way in, the result again: three half places, a division four.
#[test]
fn each_operation_keeps_its_bound() {
    for (a, b, [sum, difference, product, quotient, ..]) in results() {
        let (x, y) = (a.value(), b.value());
        let close = |name: &str, scaled: u64, expected: f64, halves: f64, of: f64| {
            let error = (value(scaled) - expected).abs();
            assert!(error <= halves * HALF_PLACE * of, "{name} of {a:?}, {b:?}: {error:e}");
        };
        close("sum", sum, x + y, 2.0, x + y);
        close("difference", difference, (x - y).max(0.0), 3.0, x.max(y));
        close("product", product, x * y, 3.0, x * y);
        if y > 0.0 {
            close("quotient", quotient, x / y, 4.0, x / y);
        } else if x > 0.0 {
            assert_eq!(quotient, u64::MAX, "{a:?} by zero");
        }
    }
}

#[test]
fn integers_are_the_nearest_or_the_one_below_and_stay_in_range() {
    for (a, b, [.., nearest, floor]) in results() {
        let most = 2f64.powi(63);
        let fixed = |number: Number| number.value() * 2f64.powi(22);
        if fixed(a) < most / 2.0 {
            let error = (nearest as f64 - fixed(a)).abs();
            assert!(error <= 0.5 + HALF_PLACE * fixed(a), "{a:?}: {nearest}");
        } else {
            assert!(nearest as f64 >= most / 2.0 * (1.0 - HALF_PLACE), "{a:?}: {nearest}");
        }
        if fixed(b) < most {
            let below = fixed(b) - floor as f64;
            let error = HALF_PLACE * fixed(b);
            assert!(below > -error - 1e-9 && below < 1.0 + error, "{b:?}: {floor}");
        }
    }
}

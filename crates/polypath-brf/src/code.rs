//! The two-byte decimal float that carries a rate in an acknowledgement.
//!
//! Source: S4 section 3.2 (the field in the ACK's options). A code is `10 m + e` and stands for
//! `m 10^e` bytes/s; 0 is a field that nobody has written. Every one of the 65,536 codes decodes: a
//! forged code is a rate like any other, or none.
//!
//! S4's example has a misprint: 120 MB/s are 120,000,000 bytes/s, code 12005. Not in S4: codes 1 to
//! 9, whose value is zero, say nothing, as 0 does. A rate of zero would take a sender out of the
//! scheme, or stop it for good.

use polypath_units::Bandwidth;

/// The largest code that encoding gives: 6552 * 10^9 bytes/s.
const SATURATED: u16 = 65_529;

/// A rate as two bytes of an acknowledgement. Codes must not be compared by their number: 65520
/// stands for less than 12005.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Code(u16);

impl Code {
    /// No switch has written a rate yet.
    pub const UNASSIGNED: Self = Self(0);

    /// The code with this number. Any number is a code.
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// The code as it was received, in network byte order (S4 gives none).
    pub const fn from_be_bytes(bytes: [u8; 2]) -> Self {
        Self(u16::from_be_bytes(bytes))
    }

    /// The code to send, in network byte order.
    pub const fn to_be_bytes(self) -> [u8; 2] {
        self.0.to_be_bytes()
    }

    /// The code of the largest representable rate that is not above `bytes_per_sec`, so that an
    /// allocation is never exceeded; of rates below 1 byte/s it is 1 byte/s. What is not positive,
    /// or no number, is [`Code::UNASSIGNED`].
    pub fn encode(bytes_per_sec: f64) -> Self {
        if bytes_per_sec.is_nan() || bytes_per_sec <= 0.0 {
            return Self::UNASSIGNED;
        }
        (0..10).find_map(|exponent| number(bytes_per_sec, exponent)).map_or(Self(SATURATED), Self)
    }

    /// The rate in bytes/s; `None` if it says nothing.
    pub fn bytes_per_sec(self) -> Option<f64> {
        let mantissa = self.0 / 10;
        (mantissa > 0).then(|| f64::from(mantissa) * power_of_ten(self.0 % 10))
    }

    /// The rate; `None` if it says nothing.
    pub fn rate(self) -> Option<Bandwidth> {
        self.bytes_per_sec().map(Bandwidth::from_bytes_per_sec)
    }
}

/// `10 m + e` for exponent `e`, if two bytes hold it.
fn number(bytes_per_sec: f64, exponent: u16) -> Option<u16> {
    let mantissa = (bytes_per_sec / power_of_ten(exponent)).floor().max(1.0);
    let number = 10.0 * mantissa + f64::from(exponent);
    (number <= f64::from(u16::MAX)).then_some(number as u16)
}

/// Exact for exponents up to 9.
fn power_of_ten(exponent: u16) -> f64 {
    10u64.pow(exponent.into()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(number: u16) -> f64 {
        Code::new(number).bytes_per_sec().unwrap()
    }

    #[test]
    fn t_brfc_1() {
        for (rate, number) in [(120e6, 12_005), (12e6, 12_004), (12.5e6, 12_504), (6_553.0, 65_530)]
        {
            assert_eq!(Code::encode(rate).get(), number);
            assert_eq!(value(number), rate);
        }
        for (rate, number, decoded) in
            [(6_554.0, 6_551, 6_550.0), (999_999.0, 9_993, 999_000.0), (7e12, 65_529, 6_552e9)]
        {
            assert_eq!(Code::encode(rate).get(), number);
            assert_eq!(value(number), decoded);
        }
        assert_eq!((value(12), Code::encode(value(12)).get()), (100.0, 1_000));
    }

    #[test]
    fn every_code_decodes_to_what_encodes_to_the_same_rate() {
        for number in 0..=u16::MAX {
            let code = Code::new(number);
            assert_eq!(Code::from_be_bytes(code.to_be_bytes()), code);
            let Some(rate) = code.bytes_per_sec() else {
                assert!(number < 10, "{number}");
                continue;
            };
            assert_eq!(Code::encode(rate).bytes_per_sec(), Some(rate), "{number}");
            assert_eq!(code.rate().unwrap().bytes_per_sec(), rate, "{number}");
        }
    }

    #[test]
    fn what_is_no_rate_is_unassigned_and_what_is_too_large_saturates() {
        for none in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Code::encode(none), Code::UNASSIGNED);
        }
        assert_eq!(Code::encode(f64::INFINITY).get(), SATURATED);
        assert_eq!(Code::encode(0.25).get(), 10);
    }

    proptest! {
        /// The error is below one unit of a mantissa of at least 656: 6553 is the largest mantissa
        /// of exponents up to 5, so that 6554 continues as 655 times ten, and 656 from there on.
        #[test]
        fn a_rate_is_never_exceeded_and_hardly_missed(rate in 656.0f64..6.552e12) {
            let coded = Code::encode(rate).bytes_per_sec().unwrap();
            prop_assert!(coded <= rate, "{coded} above {rate}");
            prop_assert!(rate - coded < rate * 0.001_53, "{coded} for {rate}");
        }

        #[test]
        fn larger_rates_have_no_smaller_codes(one in 0.0f64..1e13, other in 0.0f64..1e13) {
            let [low, high] = [one.min(other), one.max(other)].map(|r| Code::encode(r).bytes_per_sec());
            prop_assert!(low <= high);
        }
    }
}

//! The field with 256 elements, as RFC 5510 section 8.1 and RFC 8681 section 3.7.1 have it: bytes
//! as polynomials over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1, of which 2 is a generator.

const POLYNOMIAL: u16 = 0x11d;
/// All elements but zero are powers of the generator.
const ORDER: usize = 255;

/// Powers of the generator, twice over so that a sum of two logarithms is an index, and logarithms.
struct Tables {
    power: [u8; 2 * ORDER],
    logarithm: [u8; 256],
}

const TABLES: Tables = tables();

const fn tables() -> Tables {
    let mut tables = Tables { power: [0; 2 * ORDER], logarithm: [0; 256] };
    let (mut value, mut exponent) = (1_u16, 0);
    while exponent < ORDER {
        tables.power[exponent] = value as u8;
        tables.power[exponent + ORDER] = value as u8;
        tables.logarithm[value as usize] = exponent as u8;
        value <<= 1;
        if value > 255 {
            value ^= POLYNOMIAL;
        }
        exponent += 1;
    }
    tables
}

/// The product.
pub(super) const fn product(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    let sum = TABLES.logarithm[a as usize] as usize + TABLES.logarithm[b as usize] as usize;
    TABLES.power[sum]
}

/// The element whose product with `a` is 1; of zero zero, which has none.
pub(super) const fn inverse(a: u8) -> u8 {
    if a == 0 {
        return 0;
    }
    TABLES.power[ORDER - TABLES.logarithm[a as usize] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product by the definition: shift and add, modulo the polynomial.
    fn by_hand(a: u8, b: u8) -> u8 {
        let (mut a, mut sum) = (u16::from(a), 0);
        for bit in 0..8 {
            if b >> bit & 1 == 1 {
                sum ^= a;
            }
            a <<= 1;
            if a > 255 {
                a ^= POLYNOMIAL;
            }
        }
        sum as u8
    }

    #[test]
    fn products_are_those_of_the_definition() {
        for (a, b) in (0..=255).flat_map(|a| (0..=255).map(move |b| (a, b))) {
            assert_eq!(product(a, b), by_hand(a, b), "{a} times {b}");
        }
    }

    #[test]
    fn all_but_zero_have_an_inverse() {
        assert!((1..=255).all(|a| product(a, inverse(a)) == 1));
    }
}

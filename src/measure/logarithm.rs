//! The natural logarithm of a positive number, for draws: a third of the time that `libm` takes, and the same bits on every platform,
//! since it is made of additions, multiplications and a table alone.
//!
//! x = 2^k z with z from 11/16 to 11/8, and ln x = k ln 2 + ln c + ln(1 + r), r = (z - c) / c, where c is in the middle of the one of 128
//! parts that z is in (P. T. P. Tang, ACM TOMS 1990). The parts on both sides of 1 have c = 1, so that nothing is lost where the
//! logarithm is small. The table is computed by the compiler, in whole numbers.

/// How many parts.
const PARTS: usize = 128;
const BITS: u32 = PARTS.ilog2();
/// The bits of 11/16, where the first part begins.
const FIRST: u64 = 0x3fe6_0000_0000_0000;
/// The last part below 1, and the first above.
const AROUND_ONE: [usize; 2] = [79, 80];
/// Fractional bits of the whole numbers that the table is computed in.
const POINT: u32 = 100;
/// Fractional bits of the coarse parts of logarithms: the sum of k times one and another has no rounding.
const COARSE: u32 = 42;

/// A logarithm as the sum of a coarse number and a small rest.
#[derive(Clone, Copy)]
struct Parted {
    coarse: f64,
    rest: f64,
}

#[derive(Clone, Copy)]
struct Part {
    middle: f64,
    inverse: f64,
    ln: Parted,
}

static TABLE: [Part; PARTS] = table();
const LN_2: Parted = ln_of(2, 1);

/// The natural logarithm of a positive number, to a unit in the last place. `x` is normal and finite.
#[inline]
pub fn ln(x: f64) -> f64 {
    debug_assert!(x.is_normal() && x > 0.0, "{x} has no such logarithm");
    let from_first = x.to_bits().wrapping_sub(FIRST);
    let part = &TABLE[(from_first >> (52 - BITS)) as usize % PARTS];
    let exponent = (from_first as i64 >> 52) as f64;
    let z = f64::from_bits(x.to_bits().wrapping_sub(from_first & 0xfff0_0000_0000_0000));
    // The difference is exact.
    let r = (z - part.middle) * part.inverse;
    let coarse = exponent * LN_2.coarse + part.ln.coarse;
    let sum = coarse + r;
    let rest = (coarse - sum) + r + (exponent * LN_2.rest + part.ln.rest);
    // ln(1 + r) - r; |r| is at most 1/128.
    let square = r * r;
    let low = -0.5 + r * (1.0 / 3.0) + square * (-0.25 + r * 0.2);
    let high = -1.0 / 6.0 + r * (1.0 / 7.0) + square * (-0.125 + r * (1.0 / 9.0));
    sum + (rest + square * (low + square * square * high))
}

const fn table() -> [Part; PARTS] {
    let mut table = [Part { middle: 1.0, inverse: 1.0, ln: ln_of(1, 1) }; PARTS];
    let mut index = 0;
    while index < PARTS {
        if index != AROUND_ONE[0] && index != AROUND_ONE[1] {
            let middle = f64::from_bits(FIRST + ((2 * index as u64 + 1) << (51 - BITS)));
            // A whole number of 512ths.
            let numerator = (middle * 512.0) as i128;
            table[index] = Part { middle, inverse: 1.0 / middle, ln: ln_of(numerator, 512) };
        }
        index += 1;
    }
    table
}

/// ln(a / b) = 2 artanh((a - b) / (a + b)), by its series.
const fn ln_of(a: i128, b: i128) -> Parted {
    let (above, below) = (a - b, a + b);
    let mut power = ((1 << POINT) * above) / below;
    let (mut sum, mut number) = (0, 1);
    while power != 0 {
        sum += power / number;
        power = power * (above * above) / (below * below);
        number += 2;
    }
    let ln = 2 * sum;
    let coarse = ln >> (POINT - COARSE);
    let rest = ln - (coarse << (POINT - COARSE));
    Parted { coarse: coarse as f64 / (1u64 << COARSE) as f64, rest: rest as f64 / (1u128 << POINT) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::random::Address;
    use crate::measure::random::Purpose::Service;

    fn units_apart(x: f64) -> u64 {
        ln(x).to_bits().abs_diff(libm::log(x).to_bits())
    }

    #[test]
    fn it_is_the_logarithm_to_the_last_place() {
        assert_eq!(ln(1.0).to_bits(), 0);
        for power in -1022..1024 {
            assert!(units_apart(libm::exp2(f64::from(power))) <= 1, "2^{power}");
        }
        // Of uniform draws, of their small distances from 1, and of all sizes.
        for index in 0..300_000 {
            let draw = Address(7).draw(Service, index);
            let uniform = draw.uniform();
            for x in [uniform, 1.0 - uniform / 256.0, 1.0 + uniform / 100.0, 1.0 - uniform * 1e-12, uniform * 1e300, uniform * 1e-280] {
                assert!(units_apart(x) <= 1, "ln {x:e} is {:e} and not {:e}", ln(x), libm::log(x));
            }
        }
    }

    /// A greater draw is no shorter time: policies that are compared meet the same luck.
    #[test]
    fn it_does_not_fall_from_part_to_part() {
        for part in 0..PARTS as u64 {
            let edge = FIRST + (part << (52 - BITS));
            for bits in edge - 50..edge + 50 {
                assert!(ln(f64::from_bits(bits)) <= ln(f64::from_bits(bits + 1)), "at {:e}", f64::from_bits(bits));
            }
        }
    }
}

//! The standard normal distribution by the ziggurat method: 99 draws of 100 cost one multiplication and one comparison.
//!
//! Marsaglia and Tsang, Journal of Statistical Software 2000, in the form of Doornik, 2005, which takes layer and place from
//! different bits of the word. The tables are computed from the density when first used, through `libm`.

use std::sync::LazyLock;

use super::random::Draw;

const LAYERS: usize = 256;

/// Where the lowest layer ends and the tail begins, for 256 layers of one area.
const TAIL: f64 = 3.654_152_885_361_009;

/// The right ends of the layers from the lowest up, and the density there. The lowest is as wide as it would be without its tail.
static ENDS: LazyLock<[(f64, f64); LAYERS + 1]> = LazyLock::new(|| {
    let area = TAIL * density(TAIL) + libm::sqrt(std::f64::consts::FRAC_PI_2) * libm::erfc(TAIL * std::f64::consts::FRAC_1_SQRT_2);
    let mut ends = [(0.0, 1.0); LAYERS + 1];
    ends[0] = (area / density(TAIL), density(TAIL));
    ends[1] = (TAIL, density(TAIL));
    for layer in 2..LAYERS {
        let height = ends[layer - 1].1 + area / ends[layer - 1].0;
        ends[layer] = (libm::sqrt(-2.0 * libm::log(height)), height);
    }
    ends
});

/// The density, without its constant.
fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x)
}

/// A standard normal number.
#[inline]
pub fn normal(draw: Draw) -> f64 {
    let ends = &*ENDS;
    let layer = (draw.0 & 0xff) as usize;
    let place = symmetric(draw);
    let x = place * ends[layer].0;
    if x.abs() < ends[layer + 1].0 { x } else { edge(draw, layer, x) }
}

/// Uniform in (-1, 1), from the upper 52 bits.
#[inline]
fn symmetric(draw: Draw) -> f64 {
    2.0 * draw.uniform() - 1.0
}

/// What lies at the edge of a layer is kept where it is under the density, else all is drawn anew from words that follow.
#[inline(never)]
fn edge(mut draw: Draw, mut layer: usize, mut x: f64) -> f64 {
    let ends = &*ENDS;
    loop {
        if x.abs() < ends[layer + 1].0 {
            return x;
        }
        if layer == 0 {
            return tail(draw, x);
        }
        draw = draw.next();
        let height = ends[layer].1 + (ends[layer + 1].1 - ends[layer].1) * draw.uniform();
        if height < density(x) {
            return x;
        }
        draw = draw.next();
        layer = (draw.0 & 0xff) as usize;
        x = symmetric(draw) * ends[layer].0;
    }
}

/// Beyond the last layer (Marsaglia, Technometrics 1964), on the side that `side` is on.
fn tail(mut draw: Draw, side: f64) -> f64 {
    loop {
        draw = draw.next();
        let beyond = -libm::log(draw.uniform()) / TAIL;
        draw = draw.next();
        if -2.0 * libm::log(draw.uniform()) > beyond * beyond {
            return (TAIL + beyond).copysign(side);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_close_at_the_top() {
        let area = ENDS[0].0 * ENDS[0].1;
        assert!(ENDS.windows(2).all(|pair| pair[0].0 > pair[1].0), "each layer is narrower than the one below");
        let last = ENDS[LAYERS - 1];
        assert!((last.0 * (1.0 - last.1) - area).abs() < 1e-12, "the topmost layer has the same area");
    }

    /// Kolmogorov's distance of a million draws from the distribution: below its 99.9 % quantile, 1.95 / sqrt(n).
    #[test]
    fn a_million_draws_follow_the_distribution() {
        let count = 1_000_000;
        let mut draws: Vec<f64> =
            (0..count).map(|i| normal(super::super::random::Address(i).draw(super::super::random::Purpose::Link, 1))).collect();
        draws.sort_unstable_by(f64::total_cmp);
        let distribution = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
        let distance =
            (0..).zip(&draws).map(|(i, x): (u32, &f64)| (distribution(*x) - (f64::from(i) + 0.5) / count as f64).abs()).fold(0.0, f64::max);
        assert!(distance < 1.95 / (count as f64).sqrt(), "{distance}");
        // The tail beyond the last layer: 258 of a million are expected.
        let beyond = draws.iter().filter(|x| x.abs() > TAIL).count() as f64;
        assert!((beyond - 258.0).abs() < 5.0 * 258f64.sqrt(), "{beyond}");
    }
}

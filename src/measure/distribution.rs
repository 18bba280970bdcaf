//! Distributions of lengths of time. Each is a function of one random word, and rarely of more that follow from it, through `libm`
//! alone: the bits are the same on every platform.

use std::sync::Arc;

use super::logarithm::ln;
use super::normal::normal;
use super::random::Draw;
use super::time::Duration;

/// How long something takes. Built by the constructors, which check the parameters; drawing cannot fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(Duration),
    /// Exponential with this mean, in nanoseconds.
    Exponential {
        /// Mean in nanoseconds.
        mean: f64,
    },
    /// Normal; a negative draw is reflected at zero. Nanoseconds.
    Normal {
        /// Mean before reflection, in nanoseconds.
        mean: f64,
        /// Standard deviation before reflection, in nanoseconds.
        sd: f64,
    },
    /// Log-normal: exp(mu + sigma Z) nanoseconds.
    Lognormal {
        /// Natural logarithm of the median in nanoseconds.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Uniform between two lengths, both included.
    Uniform {
        /// The least.
        low: Duration,
        /// The greatest.
        high: Duration,
    },
    /// Gamma; scale in nanoseconds.
    Gamma {
        /// Shape, above zero.
        shape: f64,
        /// Scale in nanoseconds: the mean is shape times scale.
        scale: f64,
    },
    /// Weibull; scale in nanoseconds.
    Weibull {
        /// Shape, above zero; below 1 the tail is heavy.
        shape: f64,
        /// Scale in nanoseconds.
        scale: f64,
    },
    /// Pareto: never below `minimum`, P(X > x) = (minimum / x)^shape.
    Pareto {
        /// Shape, above zero; at 1 and below the mean is infinite.
        shape: f64,
        /// The least, in nanoseconds.
        minimum: f64,
    },
    /// A mixture of exponentials: (share, mean in nanoseconds), the shares summing to 1.
    Hyperexponential(Arc<[(f64, f64)]>),
    /// One of these lengths, in order, each as likely.
    Empirical(Arc<[Duration]>),
}

use Distribution::{Constant, Empirical, Exponential, Gamma, Hyperexponential, Lognormal, Normal, Pareto, Uniform, Weibull};

/// The 99th percentile of the standard normal distribution.
const Z99: f64 = 2.326_347_874_040_841;

impl Distribution {
    /// Exponential with the given mean.
    pub fn exponential(mean: Duration) -> Distribution {
        Exponential { mean: mean.0 as f64 }
    }

    /// Normal with mean and standard deviation; negative draws are reflected.
    pub fn normal(mean: Duration, sd: Duration) -> Distribution {
        Normal { mean: mean.0 as f64, sd: sd.0 as f64 }
    }

    /// Log-normal by its median and the standard deviation of its logarithm.
    ///
    /// # Errors
    /// The median must be above zero, sigma zero or more and finite.
    pub fn lognormal(median: Duration, sigma: f64) -> Result<Distribution, String> {
        if median == Duration::ZERO {
            return Err("the median of a lognormal must be above zero".into());
        }
        if !(0.0..=100.0).contains(&sigma) {
            return Err(format!("sigma = {sigma} must be from 0 to 100"));
        }
        Ok(Lognormal { mu: libm::log(median.0 as f64), sigma })
    }

    /// Log-normal by its mean and its 99th percentile: ln(p99 / mean) = z sigma - sigma^2 / 2, the smaller root.
    ///
    /// # Errors
    /// The 99th percentile must be above the mean and no more than 14.96 times the mean: no log-normal has a greater ratio.
    pub fn lognormal_tail(mean: Duration, p99: Duration) -> Result<Distribution, String> {
        let ratio = libm::log(p99.0 as f64 / mean.0 as f64);
        let root = Z99 * Z99 - 2.0 * ratio;
        if mean == Duration::ZERO || !(ratio > 0.0 && root >= 0.0) {
            return Err(format!("p99 = {p99} must be above the mean {mean} and at most 14.96 times it"));
        }
        let sigma = Z99 - libm::sqrt(root);
        Ok(Lognormal { mu: libm::log(mean.0 as f64) - sigma * sigma / 2.0, sigma })
    }

    /// Uniform from `low` to `high`, both included.
    ///
    /// # Errors
    /// `low` must not be above `high`.
    pub fn uniform(low: Duration, high: Duration) -> Result<Distribution, String> {
        if low > high {
            return Err(format!("low = {low} is above high = {high}; exchange them"));
        }
        Ok(Uniform { low, high })
    }

    /// Gamma by shape and scale.
    ///
    /// # Errors
    /// The shape must be from 0.001 to a million.
    pub fn gamma(shape: f64, scale: Duration) -> Result<Distribution, String> {
        shape_within(shape, 1e6)?;
        Ok(Gamma { shape, scale: scale.0 as f64 })
    }

    /// Weibull by shape and scale.
    ///
    /// # Errors
    /// The shape must be from 0.001 to 1000.
    pub fn weibull(shape: f64, scale: Duration) -> Result<Distribution, String> {
        shape_within(shape, 1e3)?;
        Ok(Weibull { shape, scale: scale.0 as f64 })
    }

    /// Pareto by shape and least value.
    ///
    /// # Errors
    /// The shape must be from 0.001 to 1000.
    pub fn pareto(shape: f64, minimum: Duration) -> Result<Distribution, String> {
        shape_within(shape, 1e3)?;
        Ok(Pareto { shape, minimum: minimum.0 as f64 })
    }

    /// A mixture of exponentials, each with its share and mean.
    ///
    /// # Errors
    /// There must be at least one phase, and the shares must sum to 1 (within a millionth).
    pub fn hyperexponential(phases: &[(f64, Duration)]) -> Result<Distribution, String> {
        let sum: f64 = phases.iter().map(|(share, _)| share).sum();
        if phases.is_empty() || (sum - 1.0).abs() > 1e-6 {
            return Err(format!("the shares of the phases sum to {sum}; they must sum to 1"));
        }
        Ok(Hyperexponential(phases.iter().map(|(share, mean)| (*share, mean.0 as f64)).collect()))
    }

    /// One of the given lengths, each as likely.
    ///
    /// # Errors
    /// There must be at least one.
    pub fn empirical(values: Vec<Duration>) -> Result<Distribution, String> {
        if values.is_empty() {
            return Err("an empirical distribution needs at least one value".into());
        }
        let mut sorted = values;
        sorted.sort_unstable();
        Ok(Empirical(sorted.into()))
    }

    /// One length of time.
    #[inline]
    pub fn sample(&self, draw: Draw) -> Duration {
        match self {
            Constant(duration) => *duration,
            Exponential { mean } => Duration::from_nanoseconds(mean * exponential(draw.uniform())),
            Normal { mean, sd } => Duration::from_nanoseconds((mean + sd * normal(draw)).abs()),
            _ => self.sample_rarer(draw),
        }
    }

    /// Kept out of line, so that the common distributions stay small in the loop.
    #[inline(never)]
    fn sample_rarer(&self, draw: Draw) -> Duration {
        let uniform = draw.uniform();
        match self {
            Lognormal { mu, sigma } => Duration::from_nanoseconds(libm::exp(mu + sigma * normal(draw))),
            Uniform { low, high } => Duration(low.0 + draw.up_to(high.0 - low.0)),
            Gamma { shape, scale } => Duration::from_nanoseconds(scale * gamma(*shape, draw)),
            Weibull { shape, scale } => Duration::from_nanoseconds(scale * libm::pow(exponential(uniform), 1.0 / shape)),
            Pareto { shape, minimum } => Duration::from_nanoseconds(minimum * libm::exp(exponential(uniform) / shape)),
            Hyperexponential(phases) => Duration::from_nanoseconds(hyperexponential(phases, uniform)),
            Empirical(values) => values[draw.up_to(values.len() as u64 - 1) as usize],
            Constant(_) | Exponential { .. } | Normal { .. } => self.sample(draw),
        }
    }

    /// The mean in seconds; infinite for a Pareto of shape 1 or less.
    pub fn mean(&self) -> f64 {
        let nanoseconds = match self {
            Constant(duration) => duration.0 as f64,
            Exponential { mean } => *mean,
            Normal { mean, sd } if *sd == 0.0 => *mean,
            // The folded normal distribution (Leone, Nelson, Nottingham, Technometrics 1961).
            Normal { mean, sd } => {
                let ratio = mean / sd;
                sd * libm::sqrt(2.0 / std::f64::consts::PI) * libm::exp(-ratio * ratio / 2.0)
                    + mean * libm::erf(ratio / std::f64::consts::SQRT_2)
            }
            Lognormal { mu, sigma } => libm::exp(mu + sigma * sigma / 2.0),
            Uniform { low, high } => (low.0 as f64 + high.0 as f64) / 2.0,
            Gamma { shape, scale } => shape * scale,
            Weibull { shape, scale } => scale * libm::tgamma(1.0 + 1.0 / shape),
            Pareto { shape, minimum } if *shape > 1.0 => minimum * shape / (shape - 1.0),
            Pareto { .. } => f64::INFINITY,
            Hyperexponential(phases) => phases.iter().map(|(share, mean)| share * mean).sum(),
            Empirical(values) => values.iter().map(|value| value.0 as f64).sum::<f64>() / values.len() as f64,
        };
        nanoseconds / super::time::NANOSECONDS as f64
    }

    /// No draw is shorter.
    pub fn least(&self) -> Duration {
        match self {
            Constant(duration) => *duration,
            Normal { mean, sd } if *sd == 0.0 => Duration::from_nanoseconds(*mean),
            Uniform { low, .. } => *low,
            Pareto { minimum, .. } => Duration::from_nanoseconds(*minimum),
            Empirical(values) => values[0],
            _ => Duration::ZERO,
        }
    }

    /// True where every draw is zero: such a wait lets no time pass.
    pub fn is_zero(&self) -> bool {
        match self {
            Uniform { high, .. } => *high == Duration::ZERO,
            Empirical(values) => values.iter().all(|value| *value == Duration::ZERO),
            other => other.mean() == 0.0,
        }
    }
}

fn shape_within(shape: f64, most: f64) -> Result<(), String> {
    if (0.001..=most).contains(&shape) { Ok(()) } else { Err(format!("shape = {shape} must be from 0.001 to {most}")) }
}

/// The exponential distribution of mean 1 at quantile `u`: -ln(1 - u), with 1 - u for u so that it grows with the word.
#[inline]
pub fn exponential(u: f64) -> f64 {
    -ln(1.0 - u)
}

fn hyperexponential(phases: &[(f64, f64)], uniform: f64) -> f64 {
    // The part of the uniform draw that chose the phase is rescaled to be the draw within it.
    let mut rest = uniform;
    for (share, mean) in phases {
        if rest < *share {
            return mean * exponential(rest / share);
        }
        rest -= share;
    }
    // Only rounding of the shares leads here.
    phases.last().map_or(0.0, |(_, mean)| mean * exponential(uniform))
}

/// Gamma of scale 1: Marsaglia and Tsang, ACM TOMS 2000; below shape 1 by their boost.
fn gamma(shape: f64, draw: Draw) -> f64 {
    if shape < 1.0 {
        let boost = libm::exp(-exponential(draw.uniform()) / shape);
        return gamma(shape + 1.0, draw.next()) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    let mut word = draw;
    loop {
        let x = normal(word);
        word = word.next();
        let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
        let u = word.uniform();
        word = word.next();
        if v > 0.0 && libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
#[path = "distribution_tests.rs"]
mod tests;

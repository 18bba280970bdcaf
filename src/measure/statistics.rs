//! Means, intervals and shares over replications. Sums run in index order, so that the last bit never depends on the threads.

/// Mean, spread and 95 % interval of a sample of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// How many numbers.
    pub count: u32,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (n - 1); None for a single number.
    pub sd: Option<f64>,
}

/// A running mean and variance (Welford, Technometrics 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u32,
    sum: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// As many zeros.
    pub fn zeros(count: u32) -> Moments {
        Moments { count, ..Moments::default() }
    }

    /// Takes one more number.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        let before = value - self.mean;
        self.mean += before / f64::from(self.count);
        self.squares += before * (value - self.mean);
    }

    /// What has been seen so far; None where nothing has.
    pub fn estimate(&self) -> Option<Estimate> {
        let sd = (self.count > 1).then(|| (self.squares / f64::from(self.count - 1)).max(0.0).sqrt());
        // The sum of whole numbers is exact, which the running mean is not.
        (self.count > 0).then(|| Estimate { count: self.count, mean: self.sum / f64::from(self.count), sd })
    }
}

impl Estimate {
    /// Of a whole sample; None where it is empty.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Estimate> {
        let mut moments = Moments::default();
        values.into_iter().for_each(|value| moments.add(value));
        moments.estimate()
    }

    /// Half the width of the two-sided 95 % t-interval of the mean; None for a single number.
    pub fn half_width(&self) -> Option<f64> {
        self.sd.map(|sd| student_t(self.count - 1) * sd / f64::from(self.count).sqrt())
    }

    /// The ends of the 95 % t-interval of the mean; None for a single number.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.half_width().map(|half| (self.mean - half, self.mean + half))
    }
}

/// The 97.5 % quantile of Student's t with 1 to 30 degrees of freedom (tables in any textbook; computed to 6 digits).
const STUDENT_T: [f64; 30] = [
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139, 2.200985, 2.178813, 2.160369,
    2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529,
    2.051831, 2.048407, 2.045230, 2.042272,
];

/// The 97.5 % quantile of Student's t: a table up to 30 degrees of freedom, then the expansion of Cornish and Fisher
/// (Abramowitz and Stegun 26.7.5), exact to 6 digits there.
pub fn student_t(degrees: u32) -> f64 {
    match degrees {
        0 => f64::INFINITY,
        1..=30 => STUDENT_T[degrees as usize - 1],
        _ => {
            let (z, n) = (1.959_963_984_540_054_f64, f64::from(degrees));
            let (z3, z5, z7) = (z * z * z, z * z * z * z * z, z * z * z * z * z * z * z);
            z + (z3 + z) / (4.0 * n)
                + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
                + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n)
        }
    }
}

/// Wilson's 95 % interval of a share: `hits` of `count` (Wilson, JASA 1927). None where `count` is zero.
pub fn wilson(hits: u32, count: u32) -> Option<(f64, f64)> {
    if count == 0 {
        return None;
    }
    let (n, z) = (f64::from(count), 1.959_963_984_540_054_f64);
    let share = f64::from(hits) / n;
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    // At 0 and at n the ends are exactly 0 and 1; rounding must not say otherwise.
    let low = if hits == 0 { 0.0 } else { centre - half };
    let high = if hits == count { 1.0 } else { centre + half };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_the_textbook_one() {
        let estimate = Estimate::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((estimate.count, estimate.mean), (8, 5.0));
        assert!((estimate.sd.unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((estimate.half_width().unwrap() - 2.364624 * (32.0f64 / 7.0 / 8.0).sqrt()).abs() < 1e-9);
        assert_eq!(Estimate::of([]), None);
        assert_eq!(Estimate::of([3.0]).unwrap().interval(), None);
    }

    /// R 4.3: qt(.975, c(31, 60, 399)).
    #[test]
    fn student_t_beyond_the_table() {
        for (degrees, value) in [(31, 2.039513), (60, 2.000298), (399, 1.965927)] {
            assert!((student_t(degrees) - value).abs() < 2e-6, "{degrees}: {}", student_t(degrees));
        }
    }

    /// Wilson's interval for 215 of 300: the share published for Brooker's collapse, [.66, .77].
    #[test]
    fn wilson_holds_at_the_ends_and_between() {
        let (low, high) = wilson(215, 300).unwrap();
        assert!((low - 0.6632).abs() < 5e-4 && (high - 0.7647).abs() < 5e-4, "{low} {high}");
        assert_eq!(wilson(0, 20).unwrap().0, 0.0);
        assert_eq!(wilson(20, 20).unwrap().1, 1.0);
        assert!((wilson(0, 20).unwrap().1 - 0.1611).abs() < 1e-4);
        assert_eq!(wilson(0, 0), None);
    }
}

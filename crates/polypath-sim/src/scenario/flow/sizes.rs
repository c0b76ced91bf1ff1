//! Sizes, and how they are spread.

use crate::scenario::declare::{Located, Readable, Refine, Shape, keys, tagged};
use polypath_config::{DocumentError, Table, Value};
use polypath_units::ByteCount;

/// A size that is always the same, or drawn anew each time.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// Always this.
    Constant(ByteCount),
    /// Drawn from a distribution.
    Drawn(SizeDistribution),
}

impl Readable for Sizes {
    fn shape() -> Shape {
        Shape::OneOf(vec![ByteCount::shape(), SizeDistribution::shape()])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        if value.is_table() {
            return SizeDistribution::read(value).map(Self::Drawn);
        }
        ByteCount::read(value).map(Self::Constant)
    }
}

tagged! {
    /// A distribution of sizes.
    #[derive(Clone, Debug, PartialEq)]
    pub enum SizeDistribution by "distribution" {
        /// Every size between two is as likely.
        Uniform(UniformSizes) = "uniform",
        /// Exponential.
        Exponential(ExponentialSizes) = "exponential",
        /// Pareto, with a heavy tail.
        Pareto(Pareto) = "pareto",
        /// The logarithm is normal.
        LogNormal(LogNormal) = "lognormal",
        /// A measured distribution.
        Cdf(Cdf) = "cdf",
    }
}

keys! {
    /// Two limits.
    pub(in crate::scenario) struct UniformKeys {
        /// The smallest size.
        minimum: ByteCount;
        /// The largest size.
        maximum: Located<ByteCount>;
    }
}

/// Every size between two is as likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformSizes {
    /// The smallest size.
    pub minimum: ByteCount,
    /// The largest size.
    pub maximum: ByteCount,
}

keys! {
    /// An exponential distribution.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ExponentialSizes {
        /// The mean size.
        mean: ByteCount where "1 B" to "1000 GB";
    }
}

keys! {
    /// A Pareto distribution.
    pub(in crate::scenario) struct ParetoKeys {
        /// The shape: the smaller, the heavier the tail; up to 1 there is no mean without
        /// `maximum`.
        shape: f64 where 0.01 to 100.0;
        /// The smallest size.
        minimum: ByteCount where "1 B" to "1000 GB";
        /// No larger size is drawn: the distribution is cut off here.
        maximum: Option<Located<ByteCount>>;
    }
}

/// A Pareto distribution: P(size > s) = (minimum / s)^shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// The shape.
    pub shape: f64,
    /// The smallest size.
    pub minimum: ByteCount,
    /// Where the distribution is cut off.
    pub maximum: Option<ByteCount>,
}

keys! {
    /// A log-normal distribution.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LogNormal {
        /// The median size.
        median: ByteCount where "1 B" to "1000 GB";
        /// The standard deviation of the natural logarithm.
        sigma: f64 where 0.0 to 10.0;
    }
}

keys! {
    /// A measured distribution.
    pub(in crate::scenario) struct CdfKeys {
        /// Points of the cumulative distribution, of ascending size and share; the last share
        /// is 1. Between two points it is linear, the first size has its share alone.
        points: Located<Vec<CdfPoint>>;
    }
}

keys! {
    /// A point of a cumulative distribution.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CdfPoint {
        /// A size.
        size: ByteCount;
        /// The share of sizes up to this one.
        share: f64 where 0.0 to 1.0;
    }
}

/// A measured distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// Points of ascending size and share, at least one; the last share is 1.
    pub points: Vec<CdfPoint>,
}

fn above(minimum: ByteCount, maximum: &Located<ByteCount>) -> Result<ByteCount, DocumentError> {
    if maximum.value < minimum {
        let given = maximum.value;
        return Err(maximum.wrong(format_args!("{given} is less than `minimum`, {minimum}")));
    }
    Ok(maximum.value)
}

impl Refine for UniformSizes {
    type Raw = UniformKeys;

    fn refine(keys: UniformKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        let minimum = keys.minimum;
        Ok(Self { minimum, maximum: above(minimum, &keys.maximum)? })
    }
}

impl Refine for Pareto {
    type Raw = ParetoKeys;

    fn refine(keys: ParetoKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        let ParetoKeys { shape, minimum, maximum } = keys;
        let maximum = maximum.map(|maximum| above(minimum, &maximum)).transpose()?;
        Ok(Self { shape, minimum, maximum })
    }
}

impl Refine for Cdf {
    type Raw = CdfKeys;

    fn refine(keys: CdfKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        let points = keys.points.value.as_slice();
        let rises = |a: &CdfPoint, b: &CdfPoint| a.size < b.size && a.share <= b.share;
        if points.windows(2).any(|pair| !rises(&pair[0], &pair[1])) {
            return Err(keys.points.wrong("sizes and shares must ascend"));
        }
        if points.last().is_none_or(|last| last.share != 1.0) {
            return Err(keys.points.wrong("the last share must be 1"));
        }
        Ok(Self { points: keys.points.value })
    }
}

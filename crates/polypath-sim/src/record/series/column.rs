//! Columns: what they hold, and in which unit.

/// The unit of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Packets.
    Packets,
    /// Seconds.
    Seconds,
    /// Bits per second.
    BitsPerSecond,
}

impl Unit {
    /// Its symbol: `B`, `packets`, `s`, `bit/s`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Bytes => "B",
            Self::Packets => "packets",
            Self::Seconds => "s",
            Self::BitsPerSecond => "bit/s",
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// The name of the column, unique in its table.
    pub name: &'static str,
    /// The unit of the values.
    pub unit: Unit,
    /// What the values mean.
    pub description: &'static str,
}

/// The values of a quantity, one for each sample; `None` where there was none yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What they are.
    pub quantity: &'static Quantity,
    /// The values.
    pub values: Values,
}

/// Values of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers: bytes, packets.
    Counts(Vec<Option<u64>>),
    /// Real numbers: seconds, bits per second.
    Numbers(Vec<Option<f64>>),
}

impl Column {
    /// How many samples it has.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Counts(values) => values.len(),
            Values::Numbers(values) => values.len(),
        }
    }

    /// Whether it has no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a sample, as a real number; `None` if there was none, or no such sample.
    pub fn get(&self, sample: usize) -> Option<f64> {
        match &self.values {
            Values::Counts(values) => values.get(sample).copied()?.map(|count| count as f64),
            Values::Numbers(values) => values.get(sample).copied()?,
        }
    }

    /// The values, as real numbers.
    pub fn iter(&self) -> impl Iterator<Item = Option<f64>> {
        (0..self.len()).map(|sample| self.get(sample))
    }
}

//! Values that remember where they stand.

use super::{Readable, Shape};
use core::fmt;
use polypath_config::{DocumentError, Place, Site, Value};

/// A value and where it stands, for checks that come after reading.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    site: Site,
}

/// Values are equal wherever they stand.
impl<T: PartialEq> PartialEq for Located<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Located<T> {}

impl<T> Located<T> {
    /// `value`, which stands at `site`.
    pub fn new(value: T, site: Site) -> Self {
        Self { value, site }
    }

    /// Another value that stands there, too.
    pub fn at_same_place<U>(&self, value: U) -> Located<U> {
        Located { value, site: self.site.clone() }
    }

    /// Where it stands.
    pub fn place(&self) -> &Place {
        &self.site.place
    }

    /// The key that it is the value of.
    pub fn key(&self) -> &str {
        self.site.key()
    }

    /// The error that this value is not right.
    pub fn wrong(&self, problem: impl fmt::Display) -> DocumentError {
        self.site.wrong(problem)
    }

    /// The error that this table lacks a key.
    pub fn missing(&self, keys: &str) -> DocumentError {
        self.site.missing(keys)
    }
}

impl<T: Readable> Readable for Located<T> {
    fn shape() -> Shape {
        T::shape()
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        Ok(Self { value: T::read(value)?, site: value.site() })
    }

    fn within(&self, low: &Self, high: &Self) -> bool {
        self.value.within(&low.value, &high.value)
    }
}

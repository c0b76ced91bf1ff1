//! Algorithms that are not in the registry.

use core::fmt;
use std::sync::Arc;

/// Makes the instances of an algorithm that the caller brings, in place of one of the registry.
///
/// Two are equal if one is a clone of the other.
pub struct Factory<T: ?Sized>(Arc<dyn Fn() -> Box<T> + Send + Sync>);

impl<T: ?Sized> Factory<T> {
    /// A factory from a function that makes each instance: one for each end of a connection, and
    /// one for each subflow where subflows do not share one.
    pub fn new(build: impl Fn() -> Box<T> + Send + Sync + 'static) -> Self {
        Self(Arc::new(build))
    }

    /// A new instance.
    pub fn build(&self) -> Box<T> {
        (self.0)()
    }
}

impl<T: ?Sized> Clone for Factory<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> PartialEq for Factory<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: ?Sized> Eq for Factory<T> {}

impl<T: ?Sized> fmt::Debug for Factory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Factory")
    }
}

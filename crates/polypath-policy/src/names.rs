//! The names of what traffic goes to.

use std::fmt;
use std::sync::Arc;

/// The names of what traffic goes to, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub enum Names<'a> {
    /// None is known.
    #[default]
    Unknown,
    /// What the client has called it.
    Called(&'a str),
    /// Names that answers of DNS have told its address for.
    Told(&'a [Arc<str>]),
}

impl<'a> Names<'a> {
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = &'a str> {
        let (called, told) = match self {
            Self::Unknown => (None, &[][..]),
            Self::Called(name) => (Some(name), &[][..]),
            Self::Told(names) => (None, names),
        };
        called.into_iter().chain(told.iter().map(AsRef::as_ref))
    }

    /// Whether none is known.
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }
}

impl PartialEq for Names<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Names<'_> {}

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.iter().enumerate() {
            write!(f, "{}{name}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Criterion, Protocol, Traffic, TrafficDescriptor};

    #[test]
    fn one_of_several_names_has_to_fit() {
        let domain = vec!["*.b.org".parse().unwrap(), "c.org".parse().unwrap()];
        let descriptor = TrafficDescriptor { domain, ..TrafficDescriptor::default() };
        for (names, fits, found) in [
            (&[][..], false, None),
            (&["a.org"], false, Some("a.org")),
            (&["a.org", "x.b.org"], true, Some("a.org, x.b.org")),
        ] {
            let names: Vec<Arc<str>> = names.iter().copied().map(Arc::from).collect();
            let traffic = Traffic { domain: Names::Told(&names), ..Traffic::of(Protocol::UDP) };
            assert_eq!(descriptor.matches(&traffic), fits, "{names:?}");
            assert_eq!(traffic.found(Criterion::Domain).as_deref(), found);
        }
    }
}

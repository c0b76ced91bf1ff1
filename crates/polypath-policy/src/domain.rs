//! Names of targets.

use std::fmt;
use std::str::FromStr;

/// A name, or all names below one. Case does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainPattern {
    /// In lower case.
    name: String,
    /// Whether its subdomains are meant, and not the name itself.
    below: bool,
}

/// Text that is no pattern of names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name; allowed: a name such as \"example.org\", or \"*.example.org\" for all names \
     below it, of letters, digits, - and _"
)]
pub struct ParseDomainPatternError(String);

impl DomainPattern {
    /// Whether `name` is meant, which may have a trailing dot.
    pub fn matches(&self, name: &str) -> bool {
        let name = name.strip_suffix('.').unwrap_or(name);
        if !self.below {
            return name.eq_ignore_ascii_case(&self.name);
        }
        let cut = name.len().checked_sub(self.name.len());
        let parts = cut.and_then(|cut| name.split_at_checked(cut));
        parts.is_some_and(|(before, end)| {
            end.eq_ignore_ascii_case(&self.name) && before.len() > 1 && before.ends_with('.')
        })
    }

    /// Whether every name that `other` means is meant.
    pub fn covers(&self, other: &Self) -> bool {
        match (self.below, other.below) {
            (true, true) => self.name == other.name || self.matches(&other.name),
            (false, true) => false,
            (_, false) => self.matches(&other.name),
        }
    }
}

impl fmt::Display for DomainPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.below { "*." } else { "" }, self.name)
    }
}

impl FromStr for DomainPattern {
    type Err = ParseDomainPatternError;

    fn from_str(text: &str) -> Result<Self, ParseDomainPatternError> {
        let (name, below) = match text.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (text, false),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_label = |label: &str| !label.is_empty() && label.bytes().all(allowed);
        if !name.split('.').all(is_label) {
            return Err(ParseDomainPatternError(text.to_owned()));
        }
        Ok(Self { name: name.to_ascii_lowercase(), below })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> DomainPattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_means_itself_and_a_suffix_what_is_below_it() {
        for (text, name, matches) in [
            ("example.org", "example.org", true),
            ("Example.ORG.", "EXAMPLE.org", true),
            ("example.org", "example.org.", true),
            ("example.org", "www.example.org", false),
            ("*.example.org", "www.example.org", true),
            ("*.example.org", "a.b.Example.org.", true),
            ("*.example.org", "example.org", false),
            ("*.example.org", ".example.org", false),
            ("*.example.org", "badexample.org", false),
            ("*.org", "example.org", true),
            ("*.example.org", "org", false),
            ("*.example.org", "\u{e4}xample.org", false),
        ] {
            assert_eq!(pattern(text).matches(name), matches, "{text} {name}");
        }
    }

    #[test]
    fn what_covers_what() {
        for (all, some, covers) in [
            ("a.org", "A.org", true),
            ("*.org", "a.org", true),
            ("*.org", "*.a.org", true),
            ("*.org", "*.org", true),
            ("*.a.org", "*.org", false),
            ("a.org", "*.a.org", false),
            ("*.a.org", "a.org", false),
        ] {
            assert_eq!(pattern(all).covers(&pattern(some)), covers, "{all} {some}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for bad in ["", "*", "*.", ".", "a..b", "*.*.a", "a b", "a/b", "\u{e4}.org", "*a.org"] {
            let error = bad.parse::<DomainPattern>().unwrap_err().to_string();
            assert!(error.contains("allowed: a name such as"), "{bad}: {error}");
        }
        for text in ["a.org", "*.a-b_c.org"] {
            assert_eq!(pattern(text).to_string(), text);
        }
    }
}

//! What links cost, as the user writes it.

use core::str::FromStr;

use polypath::config::UsageError;

/// What a GB over a link costs: `lte=8`.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkCost {
    /// Its name, or its number from 1.
    pub link: String,
    /// In any currency.
    pub per_gb: f64,
}

/// A text that is not the cost of a link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not the cost of a link; allowed: LINK=COST with a COST from 0, such as lte=8"
)]
pub struct ParseLinkCostError {
    given: String,
}

impl FromStr for LinkCost {
    type Err = ParseLinkCostError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.rsplit_once('=').and_then(|(link, cost)| {
            let per_gb =
                cost.trim().parse::<f64>().ok().filter(|cost| cost.is_finite() && *cost >= 0.0);
            Some(Self { link: link.trim().to_owned(), per_gb: per_gb? })
        });
        parsed.ok_or_else(|| ParseLinkCostError { given: text.to_owned() })
    }
}

/// The cost of each link, the last one said of it. `other` is a name besides.
///
/// # Errors
/// When a cost is said of a link that there is not.
pub(super) fn of_links(
    costs: &[LinkCost],
    names: &[&str],
    other: Option<&str>,
) -> Result<Vec<Option<f64>>, UsageError> {
    let mut found = vec![None; names.len()];
    for LinkCost { link, per_gb } in costs.iter().filter(|cost| other != Some(&cost.link)) {
        let named = names.iter().position(|name| name == link);
        let numbered = link
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_sub(1))
            .filter(|&at| at < names.len());
        let at = named.or(numbered).ok_or_else(|| {
            let count = names.len();
            let names = names.iter().copied().chain(other).collect::<Vec<_>>().join(", ");
            UsageError::new(format!(
                "--cost names no link {link:?}; allowed: {names}, or 1 to {count}"
            ))
        })?;
        found[at] = Some(*per_gb);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_of_links_by_name_or_number() {
        let costs = ["wifi=0", "1=8.5", "added=3"].map(|text| text.parse::<LinkCost>().unwrap());
        let found = of_links(&costs, &["lte", "wifi", "5g"], Some("added")).unwrap();
        assert_eq!(found, [Some(8.5), Some(0.0), None]);
    }

    #[test]
    fn what_cannot_be_is_named() {
        for wrong in ["lte", "lte=", "lte=-1", "lte=NaN", "lte=inf"] {
            let error = wrong.parse::<LinkCost>().unwrap_err().to_string();
            assert!(error.contains(&format!("{wrong:?}")), "{error}");
        }
        for unknown in ["sat=1", "0=1", "3=1", "added=1"] {
            let cost = unknown.parse::<LinkCost>().unwrap();
            let error = of_links(&[cost], &["lte", "wifi"], None).unwrap_err().to_string();
            assert!(error.contains("allowed: lte, wifi, or 1 to 2"), "{error}");
        }
    }
}

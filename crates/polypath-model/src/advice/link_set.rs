//! Sets of links, and which of them are looked at.

use super::forecast::Prepared;

/// Up to this many links all sets are considered, where more than the rate counts.
const ALL_SETS: usize = 10;
/// The same where only the rate counts.
const ALL_SETS_FOR_RATE: usize = 4;

/// Some of at most 64 links, by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinkSet(u64);

impl LinkSet {
    pub(super) const EMPTY: Self = Self(0);

    pub(super) const fn of(link: usize) -> Self {
        Self(1 << link)
    }

    pub(super) const fn with(self, link: usize) -> Self {
        Self(self.0 | 1 << link)
    }

    pub(super) const fn without(self, link: usize) -> Self {
        Self(self.0 & !(1 << link))
    }

    pub(super) const fn contains(self, link: usize) -> bool {
        self.0 & (1 << link) != 0
    }

    /// The links that only one of the sets has.
    pub(super) const fn difference(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    pub(super) const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(super) fn links(self) -> impl Iterator<Item = usize> + Clone {
        (0..64).filter(move |&link| self.contains(link))
    }
}

/// All sets of a few links. Of many links, each link alone, and the first two, three and so on in
/// the orders of hole, rate, their ratio, and cost: the link that a larger buffer would add is the
/// next in one of these orders. Sets that follow none would differ by little and crowd out what a
/// simulation should examine.
pub(super) fn candidates(links: &[Prepared], only_rate: bool) -> Vec<LinkSet> {
    let all_sets = if only_rate { ALL_SETS_FOR_RATE } else { ALL_SETS };
    if links.len() <= all_sets {
        return (1..1_u64 << links.len()).map(LinkSet).collect();
    }
    let orders: [fn(&Prepared) -> f64; 4] = [
        |link| link.hole,
        |link| -link.rate,
        |link| -link.rate / link.hole,
        |link| link.cost.unwrap_or(0.0),
    ];
    let alone = (0..links.len()).map(LinkSet::of);
    let mut sets: Vec<_> =
        alone.chain(orders.into_iter().flat_map(|order| prefixes(links, order))).collect();
    sets.sort_unstable();
    sets.dedup();
    sets
}

fn prefixes(links: &[Prepared], order: fn(&Prepared) -> f64) -> Vec<LinkSet> {
    let mut ranked: Vec<usize> = (0..links.len()).collect();
    ranked.sort_by(|&a, &b| order(&links[a]).total_cmp(&order(&links[b])));
    let grown = ranked.iter().scan(LinkSet::EMPTY, |set, &link| {
        *set = set.with(link);
        Some(*set)
    });
    grown.collect()
}

//! Where the nodes and links of a diagram stand.
//!
//! In layers, as Sugiyama, Tagawa and Toda (1981) draw graphs: nodes in columns such that links
//! lead to the right, links as chains of bends with a place of their own in each column that they
//! pass, every column sorted by where its neighbours to the left stand. Between two columns of
//! nodes lies one of bends alone, where the names of the links have room.

/// A place: the column, and the row as a distance from the middle of the column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) column: usize,
    pub(super) row: f64,
}

/// The places of everything.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) nodes: Vec<Place>,
    /// What each link passes, from its left end to its right one.
    pub(super) links: Vec<Vec<Place>>,
    pub(super) columns: usize,
    /// The most that stand above each other.
    pub(super) rows: usize,
}

/// Something with a place.
#[derive(Clone, Debug)]
struct Slot {
    column: usize,
    /// What is joined to it from the left.
    left: Vec<usize>,
    row: f64,
}

impl Layout {
    /// Places `nodes` nodes and these links between them.
    pub(super) fn new(nodes: usize, links: &[(usize, usize)]) -> Self {
        let columns = columns(nodes, links);
        let mut slots: Vec<_> = columns.iter().map(|&column| Slot::at(2 * column)).collect();
        let chains: Vec<_> = links.iter().map(|&ends| chain(&mut slots, ends)).collect();
        let count = slots.iter().map(|slot| slot.column + 1).max().unwrap_or(0);
        let rows = (0..count).map(|column| settle(&mut slots, column)).max().unwrap_or(0);
        let place = |slot: &usize| Place { column: slots[*slot].column, row: slots[*slot].row };
        Self {
            nodes: (0..nodes).map(|node| place(&node)).collect(),
            links: chains.iter().map(|chain| chain.iter().map(place).collect()).collect(),
            columns: count,
            rows,
        }
    }
}

impl Slot {
    const fn at(column: usize) -> Self {
        Self { column, left: Vec::new(), row: 0.0 }
    }
}

/// The columns of the nodes: each to the right of all that lead to it. Where links lead in circles,
/// the first node that is left begins.
fn columns(nodes: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let mut columns = vec![None; nodes];
    while let Some(next) = next_node(&columns, links) {
        let before = links.iter().filter(|&&(from, to)| to == next && from != next);
        let before = before.filter_map(|&(from, _)| columns[from]);
        columns[next] = Some(before.max().map_or(0, |column: usize| column + 1));
    }
    let mut columns: Vec<_> = columns.into_iter().flatten().collect();
    pull_right(&mut columns, links);
    columns
}

/// The first node without a column to which none without a column leads, or the first of all.
fn next_node(columns: &[Option<usize>], links: &[(usize, usize)]) -> Option<usize> {
    let open = || (0..columns.len()).filter(|&node| columns[node].is_none());
    let ready = |node: &usize| {
        !links.iter().any(|&(from, to)| to == *node && from != to && columns[from].is_none())
    };
    open().find(ready).or_else(|| open().next())
}

/// Moves nodes to which nothing leads next to what they lead to.
fn pull_right(columns: &mut [usize], links: &[(usize, usize)]) {
    for node in 0..columns.len() {
        let is_first = !links.iter().any(|&(_, to)| to == node);
        let next =
            links.iter().filter(|&&(from, _)| from == node).map(|&(_, to)| columns[to]).min();
        if let (true, Some(next)) = (is_first, next) {
            columns[node] = columns[node].max(next.saturating_sub(1));
        }
    }
}

/// Gives a link a slot in each column between its ends; returns all that it passes.
fn chain(slots: &mut Vec<Slot>, (from, to): (usize, usize)) -> Vec<usize> {
    let (left, right) = match slots[from].column <= slots[to].column {
        true => (from, to),
        false => (to, from),
    };
    let mut chain = vec![left];
    for column in slots[left].column + 1..slots[right].column {
        let before = chain[chain.len() - 1];
        slots.push(Slot { left: vec![before], ..Slot::at(column) });
        chain.push(slots.len() - 1);
    }
    let before = chain[chain.len() - 1];
    slots[right].left.push(before);
    chain.push(right);
    chain
}

/// Sorts a column by what stands to its left, and gives it rows. Returns how many.
fn settle(slots: &mut [Slot], column: usize) -> usize {
    let mut members: Vec<_> = (0..slots.len()).filter(|&s| slots[s].column == column).collect();
    let wish = |slot: usize| {
        let left: Vec<_> = slots[slot].left.iter().map(|&left| slots[left].row).collect();
        if left.is_empty() { 0.0 } else { left.iter().sum::<f64>() / left.len() as f64 }
    };
    members.sort_by(|&a, &b| wish(a).total_cmp(&wish(b)));
    let middle = (members.len().max(1) - 1) as f64 / 2.0;
    for (row, &member) in members.iter().enumerate() {
        slots[member].row = row as f64 - middle;
    }
    members.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parallel_links_pass_places_of_their_own() {
        let layout = Layout::new(2, &[(0, 1), (0, 1), (1, 0)]);
        assert_eq!((layout.columns, layout.rows), (3, 3));
        let bends: Vec<_> = layout.links.iter().map(|link| link[1].row).collect();
        assert_eq!(bends, [-1.0, 0.0, 1.0]);
        assert!(layout.links.iter().all(|link| link[0] == layout.nodes[0]));
    }

    /// Two hosts on either side of two routers: four columns of nodes, and no crossing, though the
    /// links to the hosts on the right are not in their order.
    #[test]
    fn a_dumbbell_is_drawn_from_left_to_right() {
        let links = [(0, 1), (2, 0), (1, 5), (4, 0), (1, 3)];
        let layout = Layout::new(6, &links);
        let columns: Vec<_> = layout.nodes.iter().map(|node| node.column).collect();
        assert_eq!(columns, [2, 4, 0, 6, 0, 6]);
        for (link, host) in [(1, 2), (2, 5), (3, 4), (4, 3)] {
            assert_eq!(layout.links[link][1].row, layout.nodes[host].row, "{host}");
        }
    }

    /// A host beside the end of a chain stands next to what it is joined to.
    #[test]
    fn hosts_stand_beside_their_routers() {
        let layout = Layout::new(5, &[(0, 1), (1, 2), (2, 3), (4, 3)]);
        assert_eq!((layout.nodes[3].column, layout.nodes[4].column), (6, 4));
    }

    proptest! {
        /// Also with circles, loops and islands: a place for everything, none taken twice.
        #[test]
        fn everything_has_a_place(links in prop::collection::vec((0..7_usize, 0..7_usize), 0..20)) {
            let layout = Layout::new(7, &links);
            prop_assert_eq!((layout.nodes.len(), layout.links.len()), (7, links.len()));
            let bends = layout.links.iter().flat_map(|link| &link[1..link.len() - 1]);
            let mut places: Vec<_> = layout.nodes.iter().chain(bends).collect();
            places.sort_by(|a, b| a.column.cmp(&b.column).then(a.row.total_cmp(&b.row)));
            prop_assert!(places.windows(2).all(|pair| pair[0] != pair[1]));
            for (link, &(from, to)) in layout.links.iter().zip(&links) {
                let ends = [link[0], link[link.len() - 1]];
                let [from, to] = [from, to].map(|node| layout.nodes[node]);
                prop_assert!(ends == [from, to] || ends == [to, from]);
                prop_assert!(link.windows(2).all(|hop| hop[1].column <= hop[0].column + 1));
            }
        }
    }
}

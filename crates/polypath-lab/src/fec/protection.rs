//! When a sender makes repair symbols, and of what.

use super::code::{MOST_SOURCES, Repair, Row};
use super::method::Method;
use super::path::Fate;
use super::share::Losses;
use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// A repair symbol that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub repair: Repair,
    /// The payload of the largest datagram in it, which is its own, in bytes.
    pub bytes: u32,
}

/// The datagrams that repair symbols are made of.
#[derive(Clone, Debug)]
pub(super) struct Protection {
    kind: Kind,
    budget: Duration,
    losses: Losses,
    /// Those of the block that is open, or of the window.
    sources: VecDeque<Source>,
    /// Repair symbols that are owed, as a share of one; only of windows.
    credit: f64,
    /// The first datagram of the window that no repair symbol has.
    bare: Option<Timestamp>,
    /// Tells the repair symbols of windows apart.
    made: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Block,
    Window,
    Dealt,
}

#[derive(Clone, Copy, Debug)]
struct Source {
    id: u64,
    bytes: u32,
    at: Timestamp,
}

impl Protection {
    /// That of a method, if it sends repair symbols.
    pub(super) fn new(method: Method) -> Option<Self> {
        let kind = match method {
            Method::Block { .. } => Kind::Block,
            Method::Window { .. } => Kind::Window,
            Method::Dealt { .. } => Kind::Dealt,
            Method::Alone | Method::Best | Method::Copy { .. } | Method::Resend => return None,
        };
        let budget = method.budget()?;
        Some(Self {
            kind,
            budget,
            losses: Losses::new(budget),
            sources: VecDeque::new(),
            credit: 0.0,
            bare: None,
            made: 0,
        })
    }

    /// What became of a datagram's packet.
    pub(super) fn on_fate(&mut self, fate: Fate, now: Timestamp) {
        self.losses.add(fate, now);
    }

    /// A datagram was sent, while `paths` paths could be dealt to. Returns what is to be sent
    /// behind it.
    pub(super) fn on_datagram(
        &mut self,
        id: u64,
        bytes: u32,
        paths: usize,
        now: Timestamp,
    ) -> Vec<Due> {
        self.sources.push_back(Source { id, bytes, at: now });
        let full = match self.kind {
            Kind::Window => return self.slide(now),
            Kind::Block => MOST_SOURCES as usize,
            Kind::Dealt => paths.saturating_sub(1).max(1),
        };
        if self.sources.len() >= full { self.close() } else { Vec::new() }
    }

    /// When to call [`on_due`](Self::on_due).
    pub(super) fn next_due(&self) -> Timestamp {
        let since = match self.kind {
            Kind::Window => self.bare,
            Kind::Block | Kind::Dealt => self.sources.front().map(|first| first.at),
        };
        since.map_or(Timestamp::MAX, |since| since + self.budget)
    }

    /// What is to be sent because time has passed.
    pub(super) fn on_due(&mut self, now: Timestamp) -> Vec<Due> {
        if self.next_due() > now {
            return Vec::new();
        }
        match self.kind {
            Kind::Window => self.over_window().into_iter().collect(),
            Kind::Block | Kind::Dealt => self.close(),
        }
    }

    /// Closes the block.
    fn close(&mut self) -> Vec<Due> {
        let Some(&Source { id: first, .. }) = self.sources.front() else { return Vec::new() };
        let count = self.sources.len() as u32;
        let bytes = self.largest();
        self.sources.clear();
        let repairs = if self.kind == Kind::Dealt { 1 } else { self.losses.repairs(count) };
        let symbol = |row| Due { repair: Repair { first, count, row: Row::Cauchy(row) }, bytes };
        (0..repairs).map(symbol).collect()
    }

    /// A datagram has come into the window: as many repair symbols follow as the share owes.
    fn slide(&mut self, now: Timestamp) -> Vec<Due> {
        let is_old = |source: &Source| source.at + self.budget < now;
        while self.sources.len() > MOST_SOURCES as usize || self.sources.front().is_some_and(is_old)
        {
            self.sources.pop_front();
        }
        self.bare = self.bare.or(Some(now));
        let count = self.sources.len() as u32;
        self.credit += f64::from(self.losses.repairs(count)) / f64::from(count);
        let mut due = Vec::new();
        while self.credit >= 1.0 {
            due.extend(self.over_window());
        }
        due
    }

    fn over_window(&mut self) -> Option<Due> {
        self.credit = (self.credit - 1.0).max(0.0);
        self.bare = None;
        self.made += 1;
        let (first, count) = (self.sources.front()?.id, self.sources.len() as u32);
        Some(Due {
            repair: Repair { first, count, row: Row::Drawn(self.made) },
            bytes: self.largest(),
        })
    }

    fn largest(&self) -> u32 {
        self.sources.iter().map(|source| source.bytes).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn made(due: &[Due]) -> Vec<(u64, u32)> {
        due.iter().map(|due| (due.repair.first, due.repair.count)).collect()
    }

    #[test]
    fn a_block_is_closed_by_time() {
        let mut block = Protection::new(Method::Block { budget_ms: 40 }).unwrap();
        assert!(block.on_datagram(0, 100, 2, at(0)).is_empty());
        assert!(block.on_datagram(1, 300, 2, at(20)).is_empty());
        assert_eq!(block.next_due(), at(40));
        assert!(block.on_due(at(39)).is_empty());
        let due = block.on_due(at(40));
        assert_eq!((made(&due), due[0].bytes), (vec![(0, 2)], 300));
        assert_eq!(block.next_due(), Timestamp::MAX);
    }

    #[test]
    fn a_full_block_is_closed_at_once() {
        let mut block = Protection::new(Method::Block { budget_ms: 40 }).unwrap();
        let due: Vec<_> = (0..64).flat_map(|id| block.on_datagram(id, 100, 2, at(0))).collect();
        assert_eq!(made(&due), [(0, 64)]);
    }

    /// Three paths: two datagrams and a repair symbol.
    #[test]
    fn what_is_dealt_makes_up_for_one_path() {
        let mut dealt = Protection::new(Method::Dealt { budget_ms: 40 }).unwrap();
        assert!(dealt.on_datagram(0, 100, 3, at(0)).is_empty());
        assert_eq!(made(&dealt.on_datagram(1, 100, 3, at(5))), [(0, 2)]);
        assert_eq!(made(&dealt.on_datagram(2, 100, 2, at(10))), [(2, 1)], "two paths: a copy");
    }

    /// Without losses there is one symbol for as many datagrams as the window has, and one no later
    /// than the budget after the first that has none.
    #[test]
    fn a_window_owes_a_share() {
        let mut window = Protection::new(Method::Window { budget_ms: 40 }).unwrap();
        assert_eq!(made(&window.on_datagram(0, 100, 2, at(0))), [(0, 1)]);
        assert_eq!(made(&window.on_datagram(1, 100, 2, at(20))), []);
        assert_eq!(made(&window.on_datagram(2, 100, 2, at(40))), []);
        assert_eq!(made(&window.on_datagram(3, 100, 2, at(60))), [(1, 3)], "1/2 + 1/3 + 1/3");
        assert_eq!(made(&window.on_datagram(4, 100, 2, at(80))), []);
        assert_eq!(window.next_due(), at(120));
        assert_eq!(made(&window.on_due(at(120))), [(2, 3)]);
    }
}

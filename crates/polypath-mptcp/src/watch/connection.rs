//! A connection and its subflows: core's failure detector, fed with what the kernel tells.
//!
//! # The rule
//!
//! A subflow is suspected when, with at least four ACKs missing, nothing that was sent there was
//! acknowledged for `srtt + 4 rttvar + max_ack_delay + 10 ms` ([`Fpf`]). What convicts it is
//! feedback that came over another subflow: the DATA_ACK that its ACKs carry stands still, when an
//! answer was due and what the others had been given before is acknowledged. DATA_ACK that goes on
//! after that clears it: the path delivers, and its ACKs are late. Where others are idle, so that
//! no feedback can come, there is nothing that could stall with it, and the silence convicts. Where
//! others have fallen silent with it, it cannot be told which is dead, and none is convicted until
//! the retransmission timer of one has expired three times while another was heard.
//!
//! Where this host receives, it is the peer that finds a path dead. It ends its side of the
//! subflow, but what says so is lost on that path. So a subflow without data for half a second,
//! while data comes over others, is asked whether the peer still has it: by a segment that changes
//! nothing. A peer that does not answers with a reset as soon as the path passes it, and there can
//! be another subflow; one that does takes no notice.
//!
//! ACKs of a path of which the queue grows come later and later, but they come: the silence is the
//! time between two of them. A path whose delay jumps by more than the bound is taken for dead, and
//! has a new subflow as soon as it answers.

use std::collections::BTreeMap;
use std::time::Duration;

use polypath_core::failure::{
    Action, FailureCause, FailureDetector, Fpf, FpfParameters, PathHealth, Query, SendState,
    Suspect,
};
use polypath_units::{PathId, PathSet, Timestamp};

use super::evidence::Evidence;
use super::subflow::Watched;
use crate::state::{DataState, Ends, Stage, Subflow};

/// How often a connection is looked at that sends: a share of the shortest time that one of its
/// subflows may be silent, by which a verdict is late at most.
const LOOKS: u32 = 8;
const SHORTEST_LOOK: Duration = Duration::from_millis(4);
const LONGEST_LOOK: Duration = Duration::from_millis(50);
/// The noise of timers and of the kernel's clock.
const TIMERS: Duration = Duration::from_millis(5);
/// How often one is looked at that sends nothing.
const IDLE_LOOK: Duration = Duration::from_millis(100);

/// The window of the data level is not looked at.
const NO_WINDOW: SendState = SendState { window_exhausted: false, oldest: None };

/// How long no data may come over a subflow while it comes over others, and how often it is asked
/// after that: at first, and when there was none for a minute.
const UNFED: Duration = Duration::from_millis(500);
const RARELY_ASKED: Duration = Duration::from_secs(10);
const LONG_UNFED: Duration = Duration::from_secs(60);

/// What is to be done with a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// End it.
    End {
        /// The subflow.
        ends: Ends,
        /// Why.
        cause: FailureCause,
        /// For how long it has been silent.
        silent_for: Duration,
    },
    /// It is silent, and cannot be ended before there is another: try to make one on its path.
    Renew {
        /// The subflow.
        ends: Ends,
    },
    /// Send something on it that changes nothing: if the peer has ended it, it answers with a
    /// reset.
    Ask {
        /// The subflow.
        ends: Ends,
    },
}

/// A connection that is watched.
#[derive(Debug)]
pub struct Connection {
    detector: Fpf,
    subflows: BTreeMap<Ends, Watched>,
    evidence: Evidence,
    looked: Timestamp,
}

impl Connection {
    /// A connection that was found at `now`.
    pub fn new(data: DataState, now: Timestamp) -> Self {
        Self {
            detector: Fpf::new(FpfParameters::default()),
            subflows: BTreeMap::new(),
            evidence: Evidence::new(data, now),
            looked: now,
        }
    }

    /// Takes what the kernel tells now, and says what is to be done. A subflow that is to be ended
    /// is forgotten: if it is still there at the next look, it is new.
    pub fn look(&mut self, data: DataState, subflows: &[Subflow], now: Timestamp) -> Vec<Order> {
        // A host that stood still does not know what has come meanwhile.
        let stood_still = now.since(self.looked) > 2 * LONGEST_LOOK.max(self.interval());
        self.looked = now;
        self.evidence.look(data, now);
        let open = subflows.iter().filter(|subflow| subflow.stage == Stage::Open);
        let open: BTreeMap<Ends, &Subflow> = open.map(|subflow| (subflow.ends, subflow)).collect();
        self.forget_all_but(&open);
        let heard = self.take(&open, now);
        if !stood_still {
            self.weigh(heard, now);
            self.note_timeouts(heard, now);
            self.detector.on_timer(now, &self.health(), &NO_WINDOW);
        }
        let mut orders = self.orders(now);
        orders.extend(self.ask_unfed(&open, now));
        orders
    }

    /// When to look next after a look.
    pub fn next_look(&self) -> Timestamp {
        self.looked + self.interval()
    }

    fn interval(&self) -> Duration {
        let busy = self.subflows.values().filter(|subflow| !subflow.is_idle());
        let patience = busy.map(Watched::patience).min();
        patience.map_or(IDLE_LOOK, |patience| (patience / LOOKS).clamp(SHORTEST_LOOK, LONGEST_LOOK))
    }

    fn forget_all_but(&mut self, open: &BTreeMap<Ends, &Subflow>) {
        let detector = &mut self.detector;
        self.subflows.retain(|ends, subflow| {
            let stays = open.contains_key(ends);
            if !stays {
                detector.on_remove(subflow.id);
            }
            stays
        });
    }

    /// Tells the detector what has happened since the last look. Returns who was heard.
    fn take(&mut self, open: &BTreeMap<Ends, &Subflow>, now: Timestamp) -> PathSet {
        let mut heard = PathSet::EMPTY;
        for (&ends, subflow) in open {
            let Some(watched) = self.subflows.get_mut(&ends) else {
                self.add(ends, subflow, now);
                continue;
            };
            let change = watched.look(subflow.tcp, now);
            if let Some(at) = change.heard {
                heard = heard.with(watched.id);
                match change.acked {
                    true => self.detector.on_ack(watched.id, at),
                    false => self.detector.on_arrival(watched.id, at),
                }
            }
            if change.acked && watched.failed.take().is_some() {
                self.detector.on_probe_acked(watched.id, now);
            }
            if watched.is_idle() {
                self.detector.on_idle(watched.id);
            } else if watched.silent_since.is_some() {
                self.detector.on_sent(watched.id, now);
            }
        }
        heard
    }

    fn add(&mut self, ends: Ends, subflow: &Subflow, now: Timestamp) {
        let taken: PathSet = self.subflows.values().map(|subflow| subflow.id).collect();
        let free = (0..).map_while(PathId::new).find(|id| !taken.contains(*id));
        // More than the kernel gives a connection are not watched.
        let Some(id) = free else { return };
        self.detector.on_add(id, now);
        self.subflows.insert(ends, Watched::new(id, subflow.tcp, now));
    }

    /// Gives the detector what other subflows have told of silent ones.
    fn weigh(&mut self, heard: PathSet, now: Timestamp) {
        let paths = self.health();
        for watched in self.subflows.values() {
            let Some(began) = watched.silent_since else { continue };
            if heard.without(watched.id).is_empty() {
                continue;
            }
            let others = self.subflows.values().filter(|other| other.id != watched.id);
            let slowest = others.map(Watched::round_trip).max().unwrap_or_default();
            // Seen a look later at most.
            let others_until = began + slowest + self.interval() + TIMERS;
            if let Some(report) = self.evidence.of(watched.id, began, others_until, now) {
                self.detector.on_report(&report, now, &paths);
            }
        }
    }

    /// A timer that expires again and again, while others are heard, needs no more evidence.
    fn note_timeouts(&mut self, heard: PathSet, now: Timestamp) {
        for watched in self.subflows.values() {
            let others = !heard.without(watched.id).is_empty();
            if others && watched.silent_since.is_some() && watched.has_timed_out() {
                self.detector.on_timeout(watched.id, now);
            }
        }
    }

    fn health(&self) -> Vec<PathHealth> {
        self.subflows.values().map(Watched::health).collect()
    }

    fn orders(&mut self, now: Timestamp) -> Vec<Order> {
        let mut orders = Vec::new();
        while let Some(action) = self.detector.poll_action() {
            match action {
                Action::Query { query, .. } => self.answer(query, now),
                Action::Probe(path) => orders.extend(self.renew(path)),
                Action::Failed(path, cause) => orders.extend(self.condemn(path, cause, now)),
                Action::Report(_) | Action::Recovered(_) => {}
            }
        }
        orders.extend(self.end_condemned(now));
        orders
    }

    /// Who could answer has nothing to say, because nothing is sent there: then nothing stalls
    /// there either.
    fn answer(&mut self, query: Query, now: Timestamp) {
        let asked = |watched: &&Watched| query.paths.contains(watched.id);
        let others = self.subflows.values().filter(|watched| !asked(watched));
        if !others.clone().all(|watched| watched.is_idle() && watched.failed.is_none()) {
            return;
        }
        let suspect = |watched: &Watched| {
            let since = watched.silent_since?;
            Some(Suspect { path: watched.id, silent_for: now.since(since) })
        };
        let suspects = self.subflows.values().filter(asked).filter_map(suspect).collect();
        let report = self.evidence.report(query.id, suspects);
        let paths = self.health();
        self.detector.on_report(&report, now, &paths);
        self.detector.on_timer(now, &paths, &NO_WINDOW);
    }

    fn renew(&self, path: PathId) -> Option<Order> {
        let (&ends, _) = self.subflows.iter().find(|(_, watched)| watched.id == path)?;
        Some(Order::Renew { ends })
    }

    /// Notes that a subflow has failed. It is ended at once if there is another that works.
    fn condemn(&mut self, path: PathId, cause: FailureCause, now: Timestamp) -> Option<Order> {
        let (_, watched) = self.subflows.iter_mut().find(|(_, watched)| watched.id == path)?;
        watched.failed = Some(cause);
        if self.is_needed(path, now) { self.renew(path) } else { None }
    }

    /// Whether there is no other that works.
    fn is_needed(&self, path: PathId, now: Timestamp) -> bool {
        !self.subflows.values().any(|other| other.id != path && other.works(now))
    }

    fn end_condemned(&mut self, now: Timestamp) -> Vec<Order> {
        let condemned = self.subflows.iter().filter_map(|(&ends, watched)| {
            let cause = watched.failed?;
            let since = watched.silent_since.unwrap_or(now);
            let end = Order::End { ends, cause, silent_for: now.since(since) };
            (!self.is_needed(watched.id, now)).then_some((ends, watched.id, end))
        });
        let condemned: Vec<_> = condemned.collect();
        for (ends, id, _) in &condemned {
            self.subflows.remove(ends);
            self.detector.on_remove(*id);
        }
        condemned.into_iter().map(|(_, _, end)| end).collect()
    }

    /// Asks on subflows over which no data comes any more.
    fn ask_unfed(&mut self, open: &BTreeMap<Ends, &Subflow>, now: Timestamp) -> Vec<Order> {
        let fed = self.subflows.values().any(|watched| watched.is_fed);
        let unfed = self.subflows.iter_mut().filter_map(|(&ends, watched)| {
            let subflow = open.get(&ends)?;
            let since_fed = now.since(watched.fed);
            let rarely = since_fed > LONG_UNFED;
            let every = if rarely { RARELY_ASKED } else { UNFED };
            let is_due = since_fed > UNFED && now.since(watched.asked) > every;
            // A backup has no data to wait for.
            if !fed || !is_due || !subflow.opened_here || subflow.backup {
                return None;
            }
            watched.asked = now;
            Some(Order::Ask { ends })
        });
        unfed.collect()
    }

    /// Whether a subflow delivers, as far as is known.
    pub fn works(&self, ends: Ends, now: Timestamp) -> bool {
        self.subflows.get(&ends).is_some_and(|watched| watched.works(now))
    }
}

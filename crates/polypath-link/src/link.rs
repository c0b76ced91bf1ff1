//! The link itself.

mod conditions;
mod down;

use crate::accounting::Accounting;
use crate::blackout::{Edge, Outages};
use crate::config::LinkConfig;
use crate::config_error::ConfigError;
use crate::counters::{Counters, DropReason};
use crate::item::Item;
use crate::loss::LossProcess;
use crate::pace::{Pace, exact_completion};
use crate::packet::Packet;
use crate::propagation::{Flying, Propagation};
use crate::queue::Queue;
use crate::rate::{Completion, Rate, Work, work_of};
use crate::recovery::RecoveryProcess;
use crate::rng::Random;
use conditions::{ColdState, Conditions};
use core::mem;
use polypath_units::Timestamp;

/// What became of a packet on entry. Random loss, outages and queue management can still take a
/// queued one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// It is in the queue.
    Queued,
    /// It is gone.
    Dropped(DropReason),
}

/// One direction of one link, carrying packets of type `P`.
///
/// Time must not go backwards between calls; a time before the latest one counts as the latest.
/// Each operation costs O(1) amortised, O(log n) with a trace, a schedule or reordering jitter;
/// HTB costs O(classes), FQ-CoDel O(flow queues) when it overflows.
///
/// With many links, none is in a cache when a packet arrives. What every packet needs is therefore
/// stored together, in the order of use, and everything else behind one box.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link<P> {
    now: Timestamp,
    /// When the server has something to do: the packet in service is served, or, without one,
    /// the queue lets the next packet go. The end of time if it has not.
    due: Timestamp,
    /// When the next edge of an outage is; the end of time if there is none.
    edge: Timestamp,
    /// What [`Sojourn::total_ns`](crate::Sojourn::total_ns) says.
    sojourn_ns: u64,
    /// What is left over when the packet in service is done: see [`Completion`].
    surplus: Work,
    conditions: Conditions,
    accounting: Accounting<P>,
    pace: Pace,
    /// The packet that the server works on.
    in_service: Option<Item<P>>,
    line: Propagation<P>,
    queue: Queue<P>,
    cold: Box<ColdState>,
}

/// What happens next inside the link.
enum Event {
    /// [`Link::due`].
    Server(Timestamp),
    Outage(Edge),
}

impl<P: Packet> Link<P> {
    /// A link that is empty and starts at time zero; equal seeds give equal losses and jitter.
    ///
    /// # Errors
    /// What [`LinkConfig::check`] finds.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.check()?;
        let [loss, jitter, mut random, recovery] = Random::streams(seed);
        let queue = Queue::new(&config.queue, config.pipe(), Timestamp::ZERO, &mut random);
        let mut link = Self {
            now: Timestamp::ZERO,
            due: Timestamp::MAX,
            edge: Timestamp::MAX,
            sojourn_ns: 0,
            conditions: Conditions::new(&config, false),
            accounting: Accounting::new(),
            pace: Pace::default(),
            surplus: 0,
            in_service: None,
            queue,
            line: Propagation::new(),
            cold: Box::new(ColdState {
                switched_off: false,
                outages: Outages::new(&config.blackouts),
                stalled: (Timestamp::ZERO, 0),
                loss: LossProcess::new(loss),
                recovery: RecoveryProcess::new(recovery),
                jitter,
                random,
                config,
            }),
        };
        link.look_at_outages();
        Ok(link)
    }

    /// Gives the link a packet of `bytes` bytes.
    pub fn send(&mut self, now: Timestamp, bytes: u32, packet: P) -> SendOutcome {
        self.advance(now);
        self.accounting.entered.put(bytes);
        if let Some(reason) = self.refusal(bytes) {
            return SendOutcome::Dropped(self.accounting.drop(reason, bytes, packet));
        }
        self.accounting.waiting.put(bytes);
        let idle = self.in_service.is_none();
        let item = Item { entered: self.now, bytes, packet };
        if idle && self.queue.is_transparent() {
            self.serve_item(self.now, 0, item);
            return SendOutcome::Queued;
        }
        let outcome = self.queue.enqueue(item, idle, &mut self.accounting);
        if idle {
            self.serve_next(self.now, 0);
        }
        outcome.map_or_else(SendOutcome::Dropped, |()| SendOutcome::Queued)
    }

    /// Drops a packet that an external queue manager does not admit, and counts it as
    /// [`DropReason::Aqm`].
    pub fn refuse(&mut self, now: Timestamp, bytes: u32, packet: P) {
        self.advance(now);
        self.accounting.entered.put(bytes);
        self.accounting.drop(DropReason::Aqm, bytes, packet);
    }

    /// How many packets wait in the queue that serves this class of packets, as of the last call
    /// that passed the link the time; `None` if the link's queue is not HTB.
    pub fn backlog(&self, class: u8) -> Option<usize> {
        self.queue.backlog(class)
    }

    /// Takes the next packet that has arrived by `now`; call until `None`.
    pub fn poll(&mut self, now: Timestamp) -> Option<P> {
        self.take(now).map(|flying| flying.packet)
    }

    /// The same, with the size that the packet was sent with, in bytes.
    pub fn poll_sized(&mut self, now: Timestamp) -> Option<(u32, P)> {
        self.take(now).map(|flying| (flying.bytes, flying.packet))
    }

    /// The same, with the time at which the packet arrived: in real time, the caller is late by the
    /// time since then.
    pub fn poll_due(&mut self, now: Timestamp) -> Option<(Timestamp, P)> {
        self.take(now).map(|flying| (flying.due, flying.packet))
    }

    fn take(&mut self, now: Timestamp) -> Option<Flying<P>> {
        self.advance(now);
        let flying = self.line.pop(self.now)?;
        self.accounting.delivered.put(flying.bytes);
        Some(flying)
    }

    /// When to call [`poll`](Self::poll) next: no packet arrives earlier. `None` while nothing
    /// can arrive. A packet that is then lost, or jitter, can make that call come back empty.
    pub fn next_event(&self) -> Option<Timestamp> {
        let due = self.line.next_due();
        if due.is_some() && !self.conditions.reorder {
            return due;
        }
        due.into_iter().chain(self.due().map(|at| at + self.conditions.min_delay)).min()
    }

    /// Keeps dropped packets from now on: [`take_dropped`](Self::take_dropped) gives them back.
    pub fn keep_dropped(&mut self) {
        self.accounting.keep_dropped();
    }

    /// The next packet that was dropped, in order, if they are kept. Every call that passes the
    /// time can drop some.
    pub fn take_dropped(&mut self) -> Option<(P, DropReason)> {
        self.accounting.take_dropped()
    }

    /// Changes the rate; the packet in service keeps its progress.
    ///
    /// # Errors
    /// What [`LinkConfig::check`] finds; the link is then unchanged.
    pub fn set_rate(&mut self, now: Timestamp, rate: impl Into<Rate>) -> Result<(), ConfigError> {
        let rate = rate.into();
        self.set_config(now, LinkConfig { rate, ..self.cold.config.clone() })
    }

    /// Changes any setting from `now` on. Packets in the queue stay, even beyond a smaller limit
    /// or MTU; another queue discipline, or the same with other parameters, takes them over in the
    /// order of their arrival and starts afresh otherwise; packets on the line keep their arrival
    /// times; new ones never overtake them unless reordering is allowed.
    ///
    /// # Errors
    /// What [`LinkConfig::check`] finds; the link is then unchanged.
    pub fn set_config(&mut self, now: Timestamp, config: LinkConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.advance(now);
        let left = self.work_left();
        let old = mem::replace(&mut self.cold.config, config);
        if self.cold.config.blackouts != old.blackouts {
            self.replace_outages(Outages::new(&self.cold.config.blackouts));
        }
        self.conditions = Conditions::new(&self.cold.config, self.is_down());
        self.pace = Pace::default();
        if self.in_service.is_some() {
            let completion = exact_completion(&self.cold.config.rate, self.now, left, 0);
            self.begin(self.now, left, completion);
        }
        match self.cold.config.queue == old.queue {
            true => self.queue.fit(self.cold.config.pipe()),
            false => self.replace_queue(),
        }
        Ok(())
    }

    /// The settings.
    pub fn config(&self) -> &LinkConfig {
        &self.cold.config
    }

    /// The counters, as of the last call that passed the link the time.
    pub fn counters(&self) -> Counters {
        self.accounting.counters(self.sojourn_ns)
    }

    /// What [`counters`](Self::counters) say at `now` if nothing is sent before; the link stays as
    /// it is. Copies the link if something has happened in it since the last call that passed it
    /// the time.
    pub fn counters_at(&self, now: Timestamp) -> Counters
    where
        P: Clone,
    {
        if self.event_by(now).is_none() {
            return self.counters();
        }
        let mut link = self.clone();
        link.advance(now);
        link.counters()
    }

    fn due(&self) -> Option<Timestamp> {
        (self.due < Timestamp::MAX).then_some(self.due)
    }

    /// Why a packet may not enter, if so.
    fn refusal(&self, bytes: u32) -> Option<DropReason> {
        if self.is_down() {
            return Some(DropReason::Blackout);
        }
        if bytes > self.conditions.mtu {
            return Some(DropReason::Mtu);
        }
        None
    }

    /// Processes all events until `now`, in order of time, so that counters are up to date.
    pub fn advance(&mut self, now: Timestamp) {
        let now = now.max(self.now);
        while let Some(event) = self.event_by(now) {
            match event {
                Event::Server(at) => self.serve(at),
                Event::Outage(edge) => self.pass_edge(edge),
            }
        }
        self.now = now;
    }

    /// The next event by `now`. Of events at one time, the edge of an outage is the first.
    fn event_by(&self, now: Timestamp) -> Option<Event> {
        if self.edge > now {
            return self.due().filter(|&at| at <= now).map(Event::Server);
        }
        let edge = self.cold.outages.next();
        let before = |at: &Timestamp| *at <= now && edge.is_none_or(|edge| *at < edge.at);
        match self.due().filter(before) {
            Some(at) => Some(Event::Server(at)),
            None => edge.map(Event::Outage),
        }
    }

    /// The server has finished, or the queue lets a packet go.
    fn serve(&mut self, at: Timestamp) {
        let surplus = match self.in_service.take() {
            Some(item) => {
                self.depart(at, item);
                self.surplus
            }
            None => 0,
        };
        self.serve_next(at, surplus);
    }

    /// A packet has been served.
    fn depart(&mut self, at: Timestamp, item: Item<P>) {
        let bytes = item.bytes;
        let sojourn = at.since(item.entered).as_nanos();
        self.sojourn_ns =
            self.sojourn_ns.saturating_add(u64::try_from(sojourn).unwrap_or(u64::MAX));
        self.accounting.waiting.take(bytes);
        if !self.conditions.is_plain && self.cold.loss.lose(&self.cold.config.loss) {
            self.accounting.drop_served(DropReason::Loss, bytes, item.packet);
        } else {
            let due = self.arrival(at);
            self.line.push(due, bytes, item.packet);
        }
    }

    /// When a packet that departs at `departure` arrives.
    fn arrival(&mut self, departure: Timestamp) -> Timestamp {
        let cold = &mut self.cold;
        let sets_out = if self.conditions.is_plain { departure } else { cold.sets_out(departure) };
        let due = sets_out + self.conditions.min_delay;
        let latest = if self.conditions.reorder { None } else { self.line.latest() };
        latest.map_or(due, |latest| due.max(latest))
    }

    /// The server is free at `start` with `surplus` service that belongs to that time.
    fn serve_next(&mut self, start: Timestamp, surplus: Work) {
        match self.queue.dequeue(start, &mut self.accounting) {
            Some(item) => self.serve_item(start, surplus, item),
            None => self.due = self.queue.release().unwrap_or(Timestamp::MAX),
        }
    }

    fn serve_item(&mut self, start: Timestamp, surplus: Work, item: Item<P>) {
        let completion = self.pace.completion(&self.cold.config.rate, start, item.bytes, surplus);
        let work = work_of(item.bytes).saturating_sub(surplus);
        self.in_service = Some(item);
        self.begin(start, work, completion);
    }

    fn begin(&mut self, start: Timestamp, work: Work, completion: Option<Completion>) {
        if completion.is_none() {
            self.cold.stalled = (start, work);
        }
        self.surplus = completion.map_or(0, |done| done.surplus);
        self.due = completion.map_or(Timestamp::MAX, |done| done.at);
    }

    /// What is still to be done for the packet in service: all service until it is done, less the
    /// surplus.
    fn work_left(&self) -> Work {
        let rate = &self.cold.config.rate;
        let (start, work) = self.cold.stalled;
        match self.due() {
            Some(due) => rate.service_between(self.now, due).saturating_sub(self.surplus),
            None => work.saturating_sub(rate.service_between(start, self.now)),
        }
    }

    /// Moves what waits to a new queue, as the settings say.
    fn replace_queue(&mut self) {
        let mut items = Vec::new();
        self.queue.drain(&mut |item| items.push(item));
        items.sort_by_key(|item| item.entered);
        let ColdState { config, random, .. } = &mut *self.cold;
        self.queue = Queue::new(&config.queue, config.pipe(), self.now, random);
        items.into_iter().for_each(|item| self.queue.adopt(item));
        if self.in_service.is_none() {
            self.serve_next(self.now, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of a simulator: two words.
    #[derive(Clone)]
    struct Ticket(#[expect(dead_code, reason = "its size counts")] [u64; 2]);

    impl Packet for Ticket {}

    #[test]
    fn a_link_is_five_cache_lines() {
        assert_eq!(size_of::<Link<Ticket>>(), 320);
    }
}

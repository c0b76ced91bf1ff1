//! The link itself.

use crate::blackout::{Edge, Outages};
use crate::books::Books;
use crate::config::{ConfigError, LinkConfig};
use crate::counters::{Counters, DropReason};
use crate::loss::LossProcess;
use crate::pace::{Pace, exact_completion};
use crate::packet::Packet;
use crate::propagation::Propagation;
use crate::queue::{Item, Queue};
use crate::rate::{Completion, Rate, Work, work_of};
use crate::rng::Random;
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
#[derive(Clone, Debug)]
pub struct Link<P> {
    config: LinkConfig,
    now: Timestamp,
    /// Switched off with [`Link::set_down`].
    switched_off: bool,
    outages: Outages,
    queue: Queue<P>,
    /// The packet that the server works on.
    in_service: Option<Item<P>>,
    service: Service,
    /// When the server has something to do: the packet in service is served, or, without one,
    /// the queue lets the next packet go.
    due: Option<Timestamp>,
    pace: Pace,
    line: Propagation<P>,
    loss: LossProcess,
    jitter: Random,
    /// For queues that draw random numbers.
    random: Random,
    books: Books<P>,
}

/// The progress of the packet in service.
#[derive(Clone, Copy, Debug, Default)]
struct Service {
    start: Timestamp,
    work: Work,
    /// What is left when it is done, see [`Completion`].
    surplus: Work,
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
        let [loss, jitter, mut random] = Random::streams(seed);
        Ok(Self {
            now: Timestamp::ZERO,
            switched_off: false,
            outages: Outages::new(&config.blackouts),
            queue: Queue::new(&config, Timestamp::ZERO, &mut random),
            in_service: None,
            service: Service::default(),
            due: None,
            pace: Pace::default(),
            line: Propagation::new(),
            loss: LossProcess::new(loss),
            jitter,
            random,
            books: Books::new(),
            config,
        })
    }

    /// Gives the link a packet of `bytes` bytes.
    pub fn send(&mut self, now: Timestamp, bytes: u32, packet: P) -> SendOutcome {
        self.advance(now);
        self.books.entered.put(bytes);
        if let Some(reason) = self.refusal(bytes) {
            return SendOutcome::Dropped(self.books.drop(reason, bytes, packet));
        }
        self.books.waiting.put(bytes);
        let idle = self.in_service.is_none();
        let item = Item { entered: self.now, bytes, packet };
        if idle && self.queue.is_transparent() {
            self.serve_item(self.now, 0, item);
            return SendOutcome::Queued;
        }
        let outcome = self.queue.enqueue(item, idle, &mut self.books);
        if idle {
            self.serve_next(self.now, 0);
        }
        outcome.map_or_else(SendOutcome::Dropped, |()| SendOutcome::Queued)
    }

    /// Takes the next packet that has arrived by `now`; call until `None`.
    pub fn poll(&mut self, now: Timestamp) -> Option<P> {
        self.poll_sized(now).map(|(_, packet)| packet)
    }

    /// The same, with the size that the packet was sent with, in bytes.
    pub fn poll_sized(&mut self, now: Timestamp) -> Option<(u32, P)> {
        self.advance(now);
        let (bytes, packet) = self.line.pop(self.now)?;
        self.books.propagating.take(bytes);
        self.books.delivered.put(bytes);
        Some((bytes, packet))
    }

    /// When to call [`poll`](Self::poll) next: no packet arrives earlier. `None` while nothing
    /// can arrive. A packet that is then lost, or jitter, can make that call come back empty.
    pub fn next_event(&self) -> Option<Timestamp> {
        let due = self.line.next_due();
        if due.is_some() && !self.config.reorder {
            return due;
        }
        let least = self.config.delay.saturating_sub(self.config.jitter);
        due.into_iter().chain(self.due.map(|at| at + least)).min()
    }

    /// Keeps dropped packets from now on: [`take_dropped`](Self::take_dropped) gives them back.
    pub fn keep_dropped(&mut self) {
        self.books.keep_dropped();
    }

    /// The next packet that was dropped, in order, if they are kept. Every call that passes the
    /// time can drop some.
    pub fn take_dropped(&mut self) -> Option<(P, DropReason)> {
        self.books.take_dropped()
    }

    /// Switches the link off, silently as in a [`Blackout`](crate::Blackout) that starts now, or
    /// on again. Scripted outages hold in any case.
    pub fn set_down(&mut self, now: Timestamp, down: bool) {
        self.advance(now);
        if down && !self.is_down() {
            self.lose_everything(self.now);
        }
        self.switched_off = down;
    }

    /// Changes the rate; the packet in service keeps its progress.
    ///
    /// # Errors
    /// What [`LinkConfig::check`] finds; the link is then unchanged.
    pub fn set_rate(&mut self, now: Timestamp, rate: impl Into<Rate>) -> Result<(), ConfigError> {
        let rate = rate.into();
        self.set_config(now, LinkConfig { rate, ..self.config.clone() })
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
        let old = mem::replace(&mut self.config, config);
        if self.config.blackouts != old.blackouts {
            self.replace_outages(Outages::new(&self.config.blackouts));
        }
        if self.in_service.is_some() {
            let Service { start, work, .. } = self.service;
            let work = work.saturating_sub(old.rate.service_between(start, self.now));
            let completion = exact_completion(&self.config.rate, self.now, work, 0);
            self.begin(self.now, work, completion);
        }
        match self.config.queue == old.queue {
            true => self.queue.fit(&self.config),
            false => self.replace_queue(),
        }
        Ok(())
    }

    /// The settings.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Whether the link is down, as of the last call that passed it the time.
    pub fn is_down(&self) -> bool {
        self.switched_off || self.outages.is_down()
    }

    /// The books, as of the last call that passed the link the time.
    pub fn counters(&self) -> Counters {
        *self.books
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

    /// Why a packet may not enter, if so.
    fn refusal(&self, bytes: u32) -> Option<DropReason> {
        if self.is_down() {
            return Some(DropReason::Blackout);
        }
        if self.config.mtu.is_some_and(|mtu| bytes > mtu) {
            return Some(DropReason::Mtu);
        }
        None
    }

    /// Lets happen what happens until `now`, in order of time.
    fn advance(&mut self, now: Timestamp) {
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
        let edge = self.outages.next().filter(|edge| edge.at <= now);
        let before = |at: &Timestamp| *at <= now && edge.is_none_or(|edge| *at < edge.at);
        match self.due.filter(before) {
            Some(at) => Some(Event::Server(at)),
            None => edge.map(Event::Outage),
        }
    }

    /// The server has done its work, or the queue lets a packet go.
    fn serve(&mut self, at: Timestamp) {
        let surplus = match self.in_service.take() {
            Some(item) => {
                self.depart(at, item);
                self.service.surplus
            }
            None => 0,
        };
        self.serve_next(at, surplus);
    }

    /// A packet has been served.
    fn depart(&mut self, at: Timestamp, item: Item<P>) {
        let bytes = item.bytes;
        self.books.waiting.take(bytes);
        if self.loss.lose(&self.config.loss) {
            self.books.drop(DropReason::Loss, bytes, item.packet);
        } else {
            let due = self.arrival(at);
            self.books.propagating.put(bytes);
            self.line.push(due, bytes, item.packet);
        }
    }

    /// When a packet that departs at `departure` arrives.
    fn arrival(&mut self, departure: Timestamp) -> Timestamp {
        let LinkConfig { delay, jitter, reorder, .. } = self.config;
        let due = match jitter.is_zero() {
            true => departure + delay,
            false => {
                let least = delay.saturating_sub(jitter);
                departure + least + self.jitter.up_to(delay.saturating_add(jitter) - least)
            }
        };
        if reorder { due } else { self.line.latest().map_or(due, |latest| due.max(latest)) }
    }

    /// The server is free at `start` with `surplus` service that belongs to that time.
    fn serve_next(&mut self, start: Timestamp, surplus: Work) {
        match self.queue.dequeue(start, &mut self.books) {
            Some(item) => self.serve_item(start, surplus, item),
            None => self.due = self.queue.release(),
        }
    }

    fn serve_item(&mut self, start: Timestamp, surplus: Work, item: Item<P>) {
        let completion = self.pace.completion(&self.config.rate, start, item.bytes, surplus);
        let work = work_of(item.bytes).saturating_sub(surplus);
        self.in_service = Some(item);
        self.begin(start, work, completion);
    }

    fn begin(&mut self, start: Timestamp, work: Work, completion: Option<Completion>) {
        let surplus = completion.map_or(0, |done| done.surplus);
        self.service = Service { start, work, surplus };
        self.due = completion.map(|done| done.at);
    }

    /// Moves what waits to a queue as the settings say.
    fn replace_queue(&mut self) {
        let mut items = Vec::new();
        self.queue.drain(&mut |item| items.push(item));
        items.sort_by_key(|item| item.entered);
        self.queue = Queue::new(&self.config, self.now, &mut self.random);
        items.into_iter().for_each(|item| self.queue.adopt(item));
        if self.in_service.is_none() {
            self.serve_next(self.now, 0);
        }
    }

    fn pass_edge(&mut self, edge: Edge) {
        if edge.down {
            self.lose_everything(edge.at);
        }
        self.outages.pass();
    }

    /// Takes over other outages; those of their edges that have passed do not happen again.
    fn replace_outages(&mut self, mut outages: Outages) {
        let was_down = self.is_down();
        while outages.next().is_some_and(|edge| edge.at <= self.now) {
            outages.pass();
        }
        self.outages = outages;
        if self.is_down() && !was_down {
            self.lose_everything(self.now);
        }
    }

    /// Drops the queue, and what would arrive at `from` or later.
    fn lose_everything(&mut self, from: Timestamp) {
        let books = &mut self.books;
        if let Some(item) = self.in_service.take() {
            books.drop_waiting(DropReason::Blackout, item);
        }
        self.queue.drain(&mut |item| {
            books.drop_waiting(DropReason::Blackout, item);
        });
        for (bytes, packet) in self.line.cut(from) {
            books.propagating.take(bytes);
            books.drop(DropReason::Blackout, bytes, packet);
        }
        // The queue learns that it is empty.
        self.serve_next(from, 0);
    }
}

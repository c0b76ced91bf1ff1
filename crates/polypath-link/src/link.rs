//! The link itself.

use crate::blackout::{Edge, Outages};
use crate::config::{ConfigError, LinkConfig, Room};
use crate::counters::{Counters, DropReason};
use crate::loss::LossProcess;
use crate::propagation::Propagation;
use crate::rate::{Completion, Rate, Work, work_of};
use crate::rng::Random;
use polypath_units::Timestamp;
use std::collections::VecDeque;

/// What became of a packet on entry. Random loss and outages can still take a queued one.
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
/// Each operation costs O(1) amortised, O(log n) with a trace, a schedule or reordering jitter.
#[derive(Clone, Debug)]
pub struct Link<P> {
    config: LinkConfig,
    room: Room,
    now: Timestamp,
    /// Switched off with [`Link::set_down`].
    switched_off: bool,
    outages: Outages,
    queue: VecDeque<(u32, P)>,
    /// The service of the head of the queue; `None` exactly when the queue is empty.
    service: Option<Service>,
    line: Propagation<P>,
    loss: LossProcess,
    jitter: Random,
    counters: Counters,
}

/// The packet in service.
#[derive(Clone, Copy, Debug)]
struct Service {
    start: Timestamp,
    work: Work,
    /// `None` when the rate never lets it finish.
    completion: Option<Completion>,
}

impl Service {
    /// Serves `work` from `start` on; `surplus` of it is already done.
    fn begin(rate: &Rate, start: Timestamp, work: Work, surplus: Work) -> Self {
        let completion = match surplus.checked_sub(work) {
            Some(surplus) => Some(Completion { at: start, surplus }),
            None => rate.completion(start, work - surplus),
        };
        Self { start, work: work.saturating_sub(surplus), completion }
    }
}

impl<P> Link<P> {
    /// A link that is empty and starts at time zero; equal seeds give equal losses and jitter.
    ///
    /// # Errors
    /// What [`LinkConfig::check`] finds.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.check()?;
        let [loss, jitter] = Random::streams(seed);
        Ok(Self {
            room: Room::of(&config),
            now: Timestamp::ZERO,
            switched_off: false,
            outages: Outages::new(&config.blackouts),
            queue: VecDeque::new(),
            service: None,
            line: Propagation::new(),
            loss: LossProcess::new(loss),
            jitter,
            counters: Counters::default(),
            config,
        })
    }

    /// Gives the link a packet of `bytes` bytes.
    pub fn send(&mut self, now: Timestamp, bytes: u32, packet: P) -> SendOutcome {
        self.advance(now);
        self.counters.entered.put(bytes);
        if let Some(reason) = self.refusal(bytes) {
            self.counters.dropped.add(reason, bytes);
            return SendOutcome::Dropped(reason);
        }
        self.counters.waiting.put(bytes);
        self.queue.push_back((bytes, packet));
        if self.service.is_none() {
            self.serve_head(self.now, 0);
        }
        SendOutcome::Queued
    }

    /// Takes the next packet that has arrived by `now`; call until `None`.
    pub fn poll(&mut self, now: Timestamp) -> Option<P> {
        self.advance(now);
        let (bytes, packet) = self.line.pop(self.now)?;
        self.counters.propagating.take(bytes);
        self.counters.delivered.put(bytes);
        Some(packet)
    }

    /// When to call [`poll`](Self::poll) next: no packet arrives earlier. `None` while nothing
    /// can arrive. A packet that is then lost, or jitter, can make that call come back empty.
    pub fn next_event(&self) -> Option<Timestamp> {
        let due = self.line.next_due();
        if due.is_some() && !self.config.reorder {
            return due;
        }
        let least = self.config.delay.saturating_sub(self.config.jitter);
        let head = self.service.and_then(|service| service.completion);
        due.into_iter().chain(head.map(|done| done.at + least)).min()
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
    /// or MTU; packets on the line keep their arrival times; new ones never overtake them unless
    /// reordering is allowed.
    ///
    /// # Errors
    /// What [`LinkConfig::check`] finds; the link is then unchanged.
    pub fn set_config(&mut self, now: Timestamp, config: LinkConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.advance(now);
        let remaining = self.service.map(|service| {
            service.work.saturating_sub(self.config.rate.service_between(service.start, self.now))
        });
        if config.blackouts != self.config.blackouts {
            self.replace_outages(Outages::new(&config.blackouts));
        }
        self.room = Room::of(&config);
        self.config = config;
        if let (Some(work), Some(_)) = (remaining, self.service) {
            self.service = Some(Service::begin(&self.config.rate, self.now, work, 0));
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
        self.counters
    }

    /// Why a packet may not enter, if so.
    fn refusal(&self, bytes: u32) -> Option<DropReason> {
        if self.is_down() {
            return Some(DropReason::Blackout);
        }
        if self.config.mtu.is_some_and(|mtu| bytes > mtu) {
            return Some(DropReason::Mtu);
        }
        let &(in_service, _) = self.queue.front()?;
        let waiting = self.counters.waiting;
        let full = waiting.bytes - u64::from(in_service) + u64::from(bytes) > self.room.bytes
            || waiting.packets > self.room.packets;
        full.then_some(DropReason::QueueFull)
    }

    /// Lets happen what happens until `now`, in order of time.
    fn advance(&mut self, now: Timestamp) {
        let now = now.max(self.now);
        loop {
            let done = self.service.and_then(|s| s.completion).filter(|done| done.at <= now);
            let edge = self.outages.next().filter(|edge| edge.at <= now);
            match (done, edge) {
                (Some(done), edge) if edge.is_none_or(|edge| done.at < edge.at) => {
                    self.depart(done);
                }
                (_, Some(edge)) => self.pass_edge(edge),
                _ => break,
            }
        }
        self.now = now;
    }

    /// The head of the queue has been served.
    fn depart(&mut self, done: Completion) {
        if let Some((bytes, packet)) = self.queue.pop_front() {
            self.counters.waiting.take(bytes);
            if self.loss.lose(&self.config.loss) {
                self.counters.dropped.add(DropReason::Loss, bytes);
            } else {
                let due = self.arrival(done.at);
                self.counters.propagating.put(bytes);
                self.line.push(due, bytes, packet);
            }
        }
        self.serve_head(done.at, done.surplus);
    }

    /// When a packet that departs at `departure` arrives.
    fn arrival(&mut self, departure: Timestamp) -> Timestamp {
        let LinkConfig { delay, jitter, reorder, .. } = self.config;
        let least = delay.saturating_sub(jitter);
        let due = match jitter.is_zero() {
            true => departure + delay,
            false => departure + least + self.jitter.up_to(delay.saturating_add(jitter) - least),
        };
        if reorder { due } else { self.line.latest().map_or(due, |latest| due.max(latest)) }
    }

    fn serve_head(&mut self, start: Timestamp, surplus: Work) {
        self.service = self
            .queue
            .front()
            .map(|&(bytes, _)| Service::begin(&self.config.rate, start, work_of(bytes), surplus));
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
        let Counters { dropped, waiting, propagating, .. } = &mut self.counters;
        for (bytes, _) in self.queue.drain(..) {
            waiting.take(bytes);
            dropped.add(DropReason::Blackout, bytes);
        }
        self.line.cut(from, |bytes| {
            propagating.take(bytes);
            dropped.add(DropReason::Blackout, bytes);
        });
        self.service = None;
    }
}

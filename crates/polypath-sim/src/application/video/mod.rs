//! Video in chunks.

mod playback;
mod rate;

use super::{Application, FlowReport, Observations, Placement, Streams, VideoReport};
use crate::fabric::EndpointId;
use crate::scenario;
use playback::Playback;
use polypath_units::{Bandwidth, Timestamp};
use rate::RateRule;
use std::time::Duration;

/// Bytes of a player's request for a chunk [A].
const REQUEST: u64 = 200;

/// A player that loads chunks ahead, one at a time, over one persistent connection: the video goes
/// in the flow's direction, the requests in the other. It asks for the next chunk when the last
/// has come and the buffer has room for it. The video has no end; at a stop the player is closed.
///
/// Its bit rate is the highest that takes at most 0.9 of the throughput of the last chunks and
/// whose chunk comes, at that, before the buffer is empty: the ThroughputRule and the
/// InsufficientBufferRule of dash.js. Without such a rate, and at first, it is the lowest.
#[derive(Clone, Debug)]
pub struct Video {
    flow: scenario::Video,
    server: EndpointId,
    player: EndpointId,
    start: Timestamp,
    stop: Timestamp,
    /// When the next chunk is asked for.
    next: Timestamp,
    /// The chunk that was asked for.
    loading: Option<Loading>,
    /// Bytes of all requests, and of all chunks asked for.
    requested: u64,
    promised: u64,
    rule: RateRule,
    playback: Playback,
    seen: Seen,
    finished: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug)]
struct Loading {
    asked: Timestamp,
    bit_rate: Bandwidth,
    bytes: u64,
    is_answered: bool,
}

/// What is known of the chunks that came.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    startup_delay: Option<Duration>,
    chunks: u64,
    /// Of all chunks, in bit/s.
    bit_rates: u128,
    last: Option<Bandwidth>,
    switches: u32,
}

impl Seen {
    fn add(&mut self, bit_rate: Bandwidth) {
        self.switches += u32::from(self.last.is_some_and(|last| last != bit_rate));
        self.last = Some(bit_rate);
        self.chunks += 1;
        self.bit_rates += u128::from(bit_rate.bits_per_sec());
    }

    fn mean(&self) -> Option<Bandwidth> {
        let mean = self.bit_rates.checked_div(self.chunks.into())?;
        Some(Bandwidth::from_bits_per_sec(u64::try_from(mean).unwrap_or(u64::MAX)))
    }
}

impl Video {
    /// What `flow` says.
    pub fn new(flow: &scenario::Video, placement: Placement) -> Self {
        let Placement { from, to, start, stop } = placement;
        Self {
            flow: flow.clone(),
            server: from,
            player: to,
            start,
            stop,
            next: start.min(stop),
            loading: None,
            requested: 0,
            promised: 0,
            rule: RateRule::default(),
            playback: Playback::new(start),
            seen: Seen::default(),
            finished: None,
        }
    }

    /// Asks for the next chunk.
    fn ask(&mut self, streams: &mut Streams<'_>) {
        let now = streams.now();
        self.playback.advance(now);
        let scenario::Video { chunk, bit_rates, .. } = &self.flow;
        let bit_rate = self.rule.choose(bit_rates, *chunk, self.playback.level());
        let bytes = bit_rate.bytes_in(*chunk).max(1);
        self.loading = Some(Loading { asked: now, bit_rate, bytes, is_answered: false });
        self.requested += REQUEST;
        self.promised = self.promised.saturating_add(bytes);
        if let Some(stream) = streams.get(self.player) {
            stream.write(REQUEST);
        }
        self.next = self.stop;
    }

    /// The server sends what it was asked for, once the whole request is there.
    fn answer(&mut self, streams: &mut Streams<'_>) {
        let Some(loading) = self.loading.as_mut().filter(|loading| !loading.is_answered) else {
            return;
        };
        if streams.watch(self.server, self.requested) {
            loading.is_answered = true;
            let bytes = loading.bytes;
            if let Some(stream) = streams.get(self.server) {
                stream.write(bytes);
            }
        }
    }

    /// The player takes the chunk, once it is whole.
    fn collect(&mut self, streams: &mut Streams<'_>) {
        let Some(loading) = self.loading else { return };
        if !streams.watch(self.player, self.promised) {
            return;
        }
        let now = streams.now();
        self.loading = None;
        self.rule.add(loading.bytes as f64 * 8.0, now - loading.asked);
        self.seen.add(loading.bit_rate);
        if self.playback.add(self.flow.chunk, now) {
            self.seen.startup_delay = Some(now - self.start);
        }
        let wait = (self.playback.level() + self.flow.chunk).saturating_sub(self.flow.buffer);
        self.next = (now + wait).min(self.stop);
    }

    /// The viewer has had enough.
    fn close(&mut self, streams: &mut Streams<'_>) {
        self.next = Timestamp::MAX;
        self.playback.advance(self.stop);
        self.loading = None;
        self.finished = Some(streams.now());
        for end in [self.player, self.server] {
            if let Some(stream) = streams.get(end) {
                stream.withdraw();
                stream.close();
            }
        }
    }
}

impl Application for Video {
    fn on_due(&mut self, streams: &mut Streams<'_>) {
        if streams.now() >= self.stop {
            return self.close(streams);
        }
        if self.requested == 0 {
            streams.set_no_delay([self.player, self.server]);
        }
        self.ask(streams);
        self.answer(streams);
        self.collect(streams);
    }

    fn on_progress(&mut self, endpoint: EndpointId, streams: &mut Streams<'_>) {
        if endpoint == self.server {
            self.answer(streams);
        } else {
            self.collect(streams);
        }
    }

    fn next_due(&self) -> Timestamp {
        self.next
    }

    fn finished(&self) -> Option<Timestamp> {
        self.finished
    }

    fn report(&self, now: Timestamp) -> FlowReport {
        let mut playback = self.playback.clone();
        playback.advance(now.min(self.stop));
        let (stalls, stall_time) = playback.stalls();
        let video = VideoReport {
            startup_delay: self.seen.startup_delay,
            stalls,
            stall_time,
            played: playback.played(),
            chunks: self.seen.chunks,
            mean_bit_rate: self.seen.mean(),
            last_bit_rate: self.seen.last,
            switches: self.seen.switches,
        };
        FlowReport {
            start: self.start,
            finished: self.finished,
            observations: Observations::Video(video),
        }
    }
}

//! Requests and responses.

use super::{Application, FlowReport, Observations, Placement, Request, RequestReport, Streams};
use crate::fabric::EndpointId;
use crate::scenario::{self, NextRequest};
use crate::traffic::Random;
use polypath_units::Timestamp;
use std::collections::VecDeque;

/// One user of one persistent connection: requests one way, each answered with a response the
/// other way as soon as all of it is there; responses come in the order of their requests.
///
/// In a closed loop the next request follows a response, in an open loop requests are made
/// whether or not there was one. The first is made at the start. After a stop no more are made;
/// those under way are completed.
#[derive(Clone, Debug)]
pub struct RequestResponse {
    flow: scenario::RequestResponse,
    client: EndpointId,
    server: EndpointId,
    start: Timestamp,
    stop: Timestamp,
    random: Random,
    /// When the next request is made.
    next: Timestamp,
    made: u64,
    /// No more will be made.
    is_over: bool,
    /// Bytes of all requests and of all their responses.
    requested: u64,
    promised: u64,
    outstanding: VecDeque<Outstanding>,
    /// How many of these the server has answered.
    answered: usize,
    completed: Vec<Request>,
    finished: Option<Timestamp>,
}

/// A request without its whole response; ends count from the beginning of the streams.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    start: Timestamp,
    request_end: u64,
    response: u64,
    response_end: u64,
}

impl RequestResponse {
    /// What `flow` says, from the end that makes the requests; sizes and times are drawn from
    /// `seed`.
    pub fn new(flow: &scenario::RequestResponse, placement: Placement, seed: u64) -> Self {
        let Placement { from, to, start, stop } = placement;
        Self {
            flow: flow.clone(),
            client: from,
            server: to,
            start,
            stop,
            random: Random::new(seed),
            next: start,
            made: 0,
            is_over: false,
            requested: 0,
            promised: 0,
            outstanding: VecDeque::new(),
            answered: 0,
            completed: Vec::new(),
            finished: None,
        }
    }

    /// Makes the requests that are due.
    fn make_requests(&mut self, streams: &mut Streams<'_>) {
        let now = streams.now();
        self.is_over |= now >= self.stop;
        while self.next <= now && !self.is_over {
            self.make_request(streams);
            self.is_over = self.flow.requests.is_some_and(|limit| self.made >= limit.into());
        }
    }

    fn make_request(&mut self, streams: &mut Streams<'_>) {
        let (start, response) = (self.next, self.flow.response.draw(&mut self.random));
        let request = self.flow.request.get();
        self.made += 1;
        self.requested = self.requested.saturating_add(request);
        self.promised = self.promised.saturating_add(response);
        self.outstanding.push_back(Outstanding {
            start,
            request_end: self.requested,
            response,
            response_end: self.promised,
        });
        self.next = match self.flow.next {
            NextRequest::AfterRequest(mean) => start + self.flow.times.draw(mean, &mut self.random),
            NextRequest::AfterResponse(_) => Timestamp::MAX,
        };
        if let Some(stream) = streams.get(self.client) {
            stream.write(request);
        }
    }

    /// The server answers the requests that have come.
    fn answer(&mut self, streams: &mut Streams<'_>) {
        while let Some(request) = self.outstanding.get(self.answered) {
            if !streams.watch(self.server, request.request_end) {
                return;
            }
            self.answered += 1;
            if let Some(stream) = streams.get(self.server) {
                stream.write(request.response);
            }
        }
    }

    /// The client takes the responses that have come.
    fn collect(&mut self, streams: &mut Streams<'_>) {
        let completed = streams.now();
        while let Some(&Outstanding { start, response, response_end, .. }) =
            self.outstanding.front()
        {
            if !streams.watch(self.client, response_end) {
                return;
            }
            self.outstanding.pop_front();
            self.answered -= 1;
            self.completed.push(Request { start, completed, response });
            if let NextRequest::AfterResponse(think) = self.flow.next {
                self.next = completed + self.flow.times.draw(think, &mut self.random);
            }
        }
    }

    /// Closes both ends once everything is done.
    fn finish(&mut self, streams: &mut Streams<'_>) {
        if self.is_over && self.outstanding.is_empty() && self.finished.is_none() {
            self.finished = Some(streams.now());
            for end in [self.client, self.server] {
                if let Some(stream) = streams.get(end) {
                    stream.close();
                }
            }
        }
    }
}

impl Application for RequestResponse {
    fn on_due(&mut self, streams: &mut Streams<'_>) {
        if self.made == 0 {
            streams.set_no_delay([self.client, self.server]);
        }
        self.make_requests(streams);
        self.answer(streams);
        self.collect(streams);
        self.finish(streams);
    }

    fn on_progress(&mut self, endpoint: EndpointId, streams: &mut Streams<'_>) {
        if endpoint == self.server {
            return self.answer(streams);
        }
        self.collect(streams);
        self.finish(streams);
    }

    fn next_due(&self) -> Timestamp {
        if self.is_over { Timestamp::MAX } else { self.next.min(self.stop) }
    }

    fn finished(&self) -> Option<Timestamp> {
        self.finished
    }

    fn report(&self, _now: Timestamp) -> FlowReport {
        let requests = RequestReport {
            completed: self.completed.clone(),
            outstanding: self.outstanding.len() as u64,
        };
        FlowReport {
            start: self.start,
            finished: self.finished,
            observations: Observations::Requests(requests),
        }
    }
}

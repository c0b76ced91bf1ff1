use super::world::{HEADERS, TRANSPORTS, Transport, World, link, ms, observed, run, time};
use polypath_sim::Direction;
use polypath_sim::application::{Placement, Request, RequestReport, for_flow};
use polypath_sim::scenario::{
    ExponentialSizes, FlowKind, NextRequest, OnOff, RequestResponse, SizeDistribution, Sizes,
    Spread,
};
use polypath_units::{ByteCount, Timestamp};
use std::time::Duration;

const THINK: Duration = Duration::from_millis(100);
const REQUEST: u64 = 200;
const RESPONSE: u64 = 10_000;
const MBIT_S: f64 = 100.0;

fn flow(next: NextRequest, requests: Option<u32>) -> RequestResponse {
    RequestResponse {
        request: ByteCount::new(REQUEST),
        response: Sizes::Constant(ByteCount::new(RESPONSE)),
        next,
        times: Spread::Constant,
        requests,
    }
}

/// A round trip of 20 ms, a request of one segment, a response of seven, which the initial window
/// of ten admits at once. Nothing else is on the links.
fn alone() -> Duration {
    let sent = REQUEST + HEADERS + RESPONSE + 7 * HEADERS;
    Duration::from_millis(20) + time(sent, MBIT_S)
}

/// The requests of a flow from 1 s to 4 s.
fn seen(flow: RequestResponse) -> RequestReport {
    let kind = FlowKind::RequestResponse(flow);
    let report = run(&link(MBIT_S, 10), &kind, ms(4_000), ms(10_000));
    observed!(report, Requests)
}

#[test]
fn a_closed_loop_takes_a_round_trip_and_the_transmission() {
    let requests = seen(flow(NextRequest::AfterResponse(THINK), None)).completed;
    // The request may be acknowledged before its response is written.
    let acknowledged = alone() + time(HEADERS, MBIT_S);
    let mut start = ms(1_000);
    for request in &requests {
        let took = request.completion_time();
        assert!(took == alone() || took == acknowledged, "{took:?} of {:?}", alone());
        assert_eq!(request.start, start);
        start = request.completed + THINK;
    }
    assert_eq!(requests.len() as u128, 3_000_000_000 / (alone() + THINK).as_nanos() + 1);
    assert!(start >= ms(4_000), "none was made after the stop");
}

/// The same with the sizes exchanged: the last byte of the request counts.
#[test]
fn a_request_is_answered_when_all_of_it_is_there() {
    let (request, response) = (ByteCount::new(RESPONSE), ByteCount::new(REQUEST));
    let flow = flow(NextRequest::AfterResponse(THINK), None);
    let flow = RequestResponse { request, response: Sizes::Constant(response), ..flow };
    let requests = seen(flow).completed;
    assert_eq!(requests.len(), 25);
    for took in requests.iter().map(Request::completion_time) {
        let acknowledged = alone() + time(HEADERS, MBIT_S);
        assert!(took == alone() || took == acknowledged, "{took:?} of {:?}", alone());
    }
}

/// A request every 5 ms, so that four are under way: beside a request only the acknowledgements of
/// a response travel, at most one for each of its seven segments, beside a response that of the
/// request.
#[test]
fn an_open_loop_does_not_wait() {
    let interarrival = Duration::from_millis(5);
    let requests = seen(flow(NextRequest::AfterRequest(interarrival), None)).completed;
    assert_eq!(requests.len(), 600, "of 3 s, those under way at the stop included");
    let longest = alone() + time(8 * HEADERS, MBIT_S);
    for (request, n) in requests.iter().zip(0..) {
        assert_eq!(request.start, ms(1_000) + interarrival * n);
        let took = request.completion_time();
        // At first the window has room for less than two responses.
        let most = if n < 100 { Duration::from_millis(60) } else { longest };
        assert!((alone()..=most).contains(&took), "{n}: {took:?} of {:?}", alone());
    }
}

/// At twice what the link carries, responses wait for each other: in order, the last until all
/// have passed.
#[test]
fn an_overloaded_open_loop_queues_in_order() {
    let transmission = time(RESPONSE + 7 * HEADERS, MBIT_S);
    let flow = flow(NextRequest::AfterRequest(transmission / 2), Some(500));
    let RequestReport { completed, outstanding } = seen(flow);
    assert_eq!((completed.len(), outstanding), (500, 0));
    assert!(completed.is_sorted_by_key(|request| request.completed));
    let last = completed[499].completion_time();
    // 500 responses, at full segments at the least, less the 499 distances until it was asked for.
    let all = |segments: f64| time(1, MBIT_S).mul_f64(500.0 * (1e4 + segments * HEADERS as f64));
    let least = Duration::from_millis(20) + all(1e4 / 1_448.0) - transmission / 2 * 499;
    // Slow start takes less than ten round trips to a window that fills the link.
    let most = Duration::from_millis(20 * 11) + all(7.0) - transmission / 2 * 499;
    assert!((least..=most).contains(&last), "{least:?} {last:?} {most:?}");
}

fn total(requests: &[Request]) -> u64 {
    requests.iter().map(|request| request.response).sum()
}

/// Every transport, either way, carries drawn sizes whole; both sides know the end.
#[test]
fn so_many_requests_end() {
    let mean = ByteCount::new(50_000);
    let response = Sizes::Drawn(SizeDistribution::Exponential(ExponentialSizes { mean }));
    let flow = flow(NextRequest::AfterResponse(THINK), Some(40));
    let kind =
        FlowKind::RequestResponse(RequestResponse { response, times: Spread::Exponential, ..flow });
    let mut sizes: Vec<Vec<u64>> = Vec::new();
    for transport in TRANSPORTS {
        for (direction, back) in
            [(Direction::Up, Direction::Down), (Direction::Down, Direction::Up)]
        {
            let mut world = World::new(transport, &link(MBIT_S, 10));
            let id = world.flow(&kind, direction, (ms(0), Timestamp::MAX));
            world.simulator.run_until(ms(60_000));
            let report = world.simulator.flow_report(id);
            let requests = observed!(report, Requests);
            assert_eq!((requests.completed.len(), requests.outstanding), (40, 0));
            assert_eq!(report.finished, requests.completed.last().map(|last| last.completed));
            assert_eq!(world.delivered(direction), 40 * REQUEST, "{transport:?} {direction:?}");
            assert_eq!(world.delivered(back), total(&requests.completed));
            sizes.push(requests.completed.iter().map(|request| request.response).collect());
        }
    }
    assert!(sizes.iter().all(|drawn| *drawn == sizes[0]), "one seed, one draw");
    assert!(sizes[0].iter().any(|&size| size != sizes[0][0]));
}

#[test]
fn an_unanswered_request_is_outstanding() {
    let mut world = World::new(Transport::Tcp, &link(MBIT_S, 10));
    let kind = FlowKind::RequestResponse(flow(NextRequest::AfterResponse(THINK), Some(1)));
    let id = world.flow(&kind, Direction::Up, (ms(1_000), Timestamp::MAX));
    world.simulator.run_until(ms(1_015));
    let requests = observed!(world.simulator.flow_report(id), Requests);
    assert_eq!((requests.completed.len(), requests.outstanding), (0, 1));
}

/// What is drawn comes from the seed of the flow: on-times, sizes, distances.
#[test]
fn seeds_decide_the_draws() {
    let mean = ByteCount::new(50_000);
    let response = Sizes::Drawn(SizeDistribution::Exponential(ExponentialSizes { mean }));
    let next = NextRequest::AfterRequest(THINK);
    let requests = RequestResponse { response, times: Spread::Exponential, ..flow(next, None) };
    let (on, durations) = (THINK, Spread::Exponential);
    let on_off = OnOff { on, off: THINK, durations, rate: None };
    for kind in [FlowKind::RequestResponse(requests), FlowKind::OnOff(on_off)] {
        let [first, again, other] = [1, 1, 2].map(|seed| {
            let mut world = World::new(Transport::Tcp, &link(MBIT_S, 10));
            let (from, to) = world.ends;
            let placement = Placement { from, to, start: ms(0), stop: ms(2_000) };
            let id = world.simulator.add_application(for_flow(&kind, placement, seed));
            world.simulator.run_until(ms(5_000));
            world.simulator.flow_report(id)
        });
        assert_eq!(first, again);
        assert_ne!(first.observations, other.observations);
    }
}

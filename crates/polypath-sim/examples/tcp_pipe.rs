//! How fast two TCP endpoints are: segments delivered for each second of CPU, over a pipe of
//! constant delay that loses nothing, or every so many data segments one.
//!
//! `cargo run --release -p polypath-sim --example tcp_pipe [segments] [window] [lose every]
//! [congestion control]`
#![allow(clippy::print_stdout, reason = "it prints its result")]
#![allow(clippy::disallowed_methods, reason = "it measures the time that it takes")]

use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_sim::tcp::{ReceiveBuffer, Segment, TcpConfig, TcpConnection};
use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// One-way delay of the pipe.
const DELAY: Duration = Duration::from_millis(10);
/// Time that a data segment takes to leave: the rate of the pipe.
const SPACING: Duration = Duration::from_nanos(1_200);

/// One direction: what is under way, in order.
#[derive(Default)]
struct Pipe {
    under_way: VecDeque<(Timestamp, Segment)>,
    free_at: Timestamp,
    data_sent: u64,
    lose_every: u64,
}

impl Pipe {
    fn send(&mut self, now: Timestamp, segment: Segment) {
        let is_data = segment.len > 0;
        self.free_at = self.free_at.max(now) + if is_data { SPACING } else { Duration::ZERO };
        self.data_sent += u64::from(is_data);
        if is_data && self.lose_every > 0 && self.data_sent.is_multiple_of(self.lose_every) {
            return;
        }
        self.under_way.push_back((self.free_at + DELAY, segment));
    }

    fn next(&self) -> Timestamp {
        self.under_way.front().map_or(Timestamp::MAX, |entry| entry.0)
    }
}

fn run(segments: u64, window: u64, lose_every: u64, avoidance: CongestionKind) -> (u64, Timestamp) {
    let congestion =
        CongestionConfig { avoidance: avoidance.into(), seed: 1, ..CongestionConfig::default() };
    let receive_buffer = ReceiveBuffer::Auto { initial: 65_536, max: window * 1_448 };
    let config = TcpConfig { receive_buffer, ..TcpConfig::LINUX };
    let mut ends = [
        TcpConnection::connect(config, congestion.clone()),
        TcpConnection::listen(config, congestion),
    ];
    let mut pipes = [Pipe { lose_every, ..Pipe::default() }, Pipe::default()];
    let mut now = Timestamp::ZERO;
    ends[0].write(segments * 1_448);
    ends[0].close();
    loop {
        for side in 0..2 {
            while let Some(segment) = ends[side].poll_transmit(now) {
                pipes[side].send(now, segment);
            }
        }
        let timers = [ends[0].next_timeout(), ends[1].next_timeout()];
        let arrivals = [pipes[0].next(), pipes[1].next()];
        let next = timers.into_iter().chain(arrivals).min().unwrap_or(Timestamp::MAX);
        if ends[1].endpoint().peer_finished() || next == Timestamp::MAX {
            return (ends[1].endpoint().delivered(), now);
        }
        now = next;
        for side in 0..2 {
            if pipes[side].next() <= now
                && let Some((_, segment)) = pipes[side].under_way.pop_front()
            {
                ends[1 - side].on_segment(now, &segment, false);
            } else if ends[side].next_timeout() <= now {
                ends[side].on_timeout(now);
            }
        }
    }
}

/// CPU time of this process in seconds, as Linux counts it; elsewhere the time since `began`.
fn cpu_seconds(began: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|field| field.parse::<f64>().ok());
    nanos.map_or_else(|| began.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

fn main() {
    let mut arguments =
        std::env::args().skip(1).take(3).filter_map(|argument| argument.parse().ok());
    let avoidance = std::env::args().nth(4).map_or(Ok(CongestionKind::Cubic), |name| name.parse());
    let segments: u64 = arguments.next().unwrap_or(5_000_000);
    let window: u64 = arguments.next().unwrap_or(10_000);
    let lose_every: u64 = arguments.next().unwrap_or(0);
    let avoidance = avoidance.expect("the name of a congestion control");
    let began = Instant::now();
    let (delivered, ended_at) = run(segments, window, lose_every, avoidance);
    let took = cpu_seconds(began);
    let count = delivered / 1_448;
    println!(
        "{count} segments in {took:.3} s: {:.2} million/s, {:.0} ns each ({ended_at} simulated)",
        count as f64 / took / 1e6,
        took * 1e9 / count as f64,
    );
}

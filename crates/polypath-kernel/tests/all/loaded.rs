//! The algorithms in the kernel at hand, as congestion control of two subflows. Needs root.

use crate::network::{Network, connect, subflows};
use crate::own_bpffs::with_own_bpffs;
use polypath_core::slow_start::SlowStartKind;
use polypath_kernel::{CONGESTION, KernelConfig, Loaded, RunTimeCount, SLOW_STARTS};
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

/// What each side sends: of 2,760 packets, of which one in 200 is lost, none is lost in one of
/// a million transfers.
const BYTES: usize = 4_000_000;
/// Sends to the server and back by an algorithm, and gives what `ss` tells of the subflows of
/// both hosts afterwards.
fn transfer(network: &Network, name: &str) -> [Vec<String>; 2] {
    let (mut client, mut server) = connect(network, name);
    let echo = thread::spawn(move || {
        let mut received = vec![0_u8; BYTES];
        server.read_exact(&mut received).unwrap();
        server.write_all(&received).unwrap();
        server
    });
    let sent: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
    client.write_all(&sent).unwrap();
    let mut received = vec![0_u8; BYTES];
    client.read_exact(&mut received).unwrap();
    assert!(received == sent, "{name}: other bytes arrived");
    let told = [&network.client, &network.server].map(|host| subflows(host, |_| true));
    drop((client, echo.join().unwrap()));
    told
}

/// The number behind a key in a line of `ss`.
fn number(line: &str, key: &str) -> Option<u64> {
    let (_, rest) = line.split_once(&format!(" {key}:"))?;
    rest.split([' ', '/', ',']).next()?.parse().ok()
}

fn run(network: &Network, config: KernelConfig) {
    let loaded = Loaded::new(config).unwrap_or_else(|error| panic!("{config:?}: {error}"));
    for lines in transfer(network, loaded.kernel_name()) {
        assert_eq!(lines.len(), 2, "{config:?}: {lines:#?}");
        for line in &lines {
            assert!(line.contains(loaded.kernel_name()), "{config:?}: {line}");
            assert!(number(line, "bytes_acked") > Some(100_000), "{config:?}: {line}");
            assert!(number(line, "cwnd") >= Some(1), "{config:?}: {line}");
        }
        let sent_again = lines.iter().any(|line| number(line, "bytes_retrans") > Some(0));
        assert!(sent_again, "{config:?}: nothing was lost: {lines:#?}");
    }
    subflows(&network.client, |_| loaded.connections() == 0);
    assert_eq!(loaded.connections(), 0, "{config:?}: state of connections that are gone");
}

#[test]
fn the_kernel_takes_each_algorithm_and_two_subflows_carry_data_by_it() {
    let test = "the_kernel_takes_each_algorithm_and_two_subflows_carry_data_by_it";
    with_own_bpffs(test, || {
        let Some(network) = Network::new(test) else { return };
        let slow_starts = SLOW_STARTS.iter().map(|row| row.0).cycle();
        for (row, slow_start) in CONGESTION.iter().zip(slow_starts) {
            for coupled in [true, false] {
                run(&network, KernelConfig { congestion: row.kind, slow_start, coupled });
            }
        }
    });
}

/// Each acknowledgement is a call, so that there are more than one for each hundred segments.
#[test]
fn run_time_is_counted_when_it_is_asked_for() {
    let test = "run_time_is_counted_when_it_is_asked_for";
    with_own_bpffs(test, || {
        let Some(network) = Network::new(test) else { return };
        let (congestion, slow_start) = (CONGESTION[0].kind, SlowStartKind::Standard);
        let loaded = Loaded::new(KernelConfig { congestion, slow_start, coupled: true }).unwrap();
        let counted = || {
            transfer(&network, loaded.kernel_name());
            loaded.run_time().unwrap()
        };
        let first = RunTimeCount::start().map(|_count| counted()).unwrap();
        assert!(first.calls > (BYTES / 1_460 / 100) as u64, "{first:?}");
        assert!(!first.time.is_zero() && first.time < Duration::from_secs(60), "{first:?}");
        assert_eq!(counted(), first, "it was counted behind the end");
    });
}

#[test]
fn what_the_kernel_lacks_is_said() {
    let config = KernelConfig {
        congestion: polypath_core::congestion::CongestionKind::Bbr,
        slow_start: SlowStartKind::Standard,
        coupled: true,
    };
    let error = Loaded::new(config).unwrap_err().to_string();
    assert!(error.contains("congestion control bbr is not"), "{error}");
}

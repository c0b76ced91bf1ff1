//! Goodput of one bulk stream over several links, start-up included, with the default settings: of
//! one run. The [experiment](crate::experiments::goodput) has medians.

use crate::common::{Link, goodput, link, median, parallel, world};
use crate::world::Transfer;
use polypath_bond::BondConfig;
use polypath_units::Timestamp;

const BYTES: u64 = 200_000_000;
const LIMIT: Timestamp = Timestamp::from_millis(60_000);

/// Share of a link's rate that carries stream bytes, at most.
///
/// MTU discovery ends at UDP payloads of 1452 bytes; IPv4 and UDP add 28. Off the payload go
///
/// - the QUIC short header: 1 byte, our connection id of 8, and 4 that are kept for the packet
///   number (RFC 9000 section 17.3);
/// - the AEAD tag: 16 (RFC 9001 section 5.3);
/// - the DATAGRAM frame's type and length: 1 and 8 that are kept for it (RFC 9221 section 4);
/// - the bond's STREAM header: type 1, DSN 4, stream 1, offset 4 (docs/protocol.md; varints of
///   4 bytes reach to 1 GiB).
const CEILING: f64 =
    (1452 - (1 + 8 + 4) - 16 - (1 + 8) - (1 + 4 + 1 + 4)) as f64 / (1452 + 28) as f64;

pub(crate) fn bond(receive_buffer: u64) -> BondConfig {
    BondConfig { receive_buffer, ..BondConfig::default() }
}

/// The median goodput of so many runs, in Mbit/s.
pub(crate) fn measure(links: &[Link], bond: &BondConfig, runs: u64) -> f64 {
    let runs: Vec<u64> = (0..runs).collect();
    median(parallel(&runs, |&run| goodput(links, bond, BYTES, LIMIT, run)))
}

/// Links, and what they give together at least of what they could.
pub(crate) type Marked = (&'static [Link], f64);

pub(crate) const EQUAL: Marked = (&[link(100.0, 20.0), link(100.0, 20.0)], 0.97);
/// The links of scenarios/demo.toml.
pub(crate) const LOSSY_THIRD: Marked =
    (&[link(500.0, 5.0), link(80.0, 30.0), Link { loss_percent: 0.5, ..link(60.0, 15.0) }], 0.92);

/// Asserts that the links together reach their mark in the median of so many runs.
pub(crate) fn assert_aggregates((links, mark): Marked, runs: u64) {
    let possible = links.iter().map(|link| link.mbit_s).sum::<f64>() * CEILING;
    let share = measure(links, &BondConfig::default(), runs) / possible;
    assert!(share >= mark, "{share:.4} of {possible:.1} Mbit/s over {links:?}");
    assert!(share <= 1.01, "{share:.4}: the ceiling is wrong");
}

#[test]
fn two_equal_links_add_up() {
    assert_aggregates(EQUAL, 1);
}

#[test]
fn a_lossy_third_link_adds_up() {
    assert_aggregates(LOSSY_THIRD, 1);
}

/// In-order bytes after so many milliseconds.
fn delivered(links: &[Link], bond: &BondConfig, ms: u64) -> u64 {
    let mut world = world(links, bond, 0);
    let mut transfer = Transfer::start(&mut world, BYTES);
    let _ = transfer.run(&mut world, Timestamp::from_millis(ms));
    transfer.delivered()
}

/// Until its first acknowledgement nothing but the set-up of its connection tells that the second
/// path is slow. Ten segments sent there for a trial arrive 50 ms later, and everything waits.
#[test]
fn a_slow_path_that_joins_does_not_hold_up_a_small_receive_buffer() {
    let (fast, slow) = (link(50.0, 10.0), link(50.0, 50.0));
    let bond = bond(300_000);
    for ms in [150, 200, 300] {
        let (alone, together) =
            (delivered(&[fast], &bond, ms), delivered(&[fast, slow], &bond, ms));
        assert!(together >= alone, "{ms} ms: {together} bytes together, {alone} alone");
    }
}

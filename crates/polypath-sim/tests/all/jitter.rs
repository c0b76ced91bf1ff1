//! Paths whose packets overtake each other, by as much as they take. A bond over one of them is
//! held against a TCP, which learns by SACK and timestamps what has come late.

use crate::common::goodput_of;

/// The line's rate in Mbit/s.
const RATE: f64 = 20.0;

/// The goodput in Mbit/s of a download over a path with this delay one way, in 20 s.
fn goodput(delay_ms: u32, jitter_ms: u32, connection: &str) -> f64 {
    goodput_of(&format!(
        "duration = \"20 s\"\n\
         [[path]]\nname = \"one\"\nrate = \"{RATE} Mbit/s\"\nqueue = \"2 bdp\"\n\
         delay = \"{delay_ms} ms\"\njitter = \"{jitter_ms} ms\"\nreorder = true\n\
         [[connection]]\nname = \"c\"\n{connection}\n\
         [[flow]]\nconnection = \"c\"\nkind = \"bulk\"\ndirection = \"down\"\n"
    ))
}

fn bond(carrier: &str) -> String {
    format!("transport = \"bond\"\ncarrier = \"{carrier}\"")
}

/// 30 ms spread the packets of a path of 40 ms over more than half of its RTT.
#[test]
fn a_bond_takes_reordering_for_loss_no_more_than_a_tcp() {
    for jitter in [3, 10, 30] {
        let tcp = goodput(40, jitter, "transport = \"tcp\"\ncongestion = \"cubic\"");
        for carrier in ["light", "quic"] {
            let bond = goodput(40, jitter, &bond(carrier));
            assert!(bond >= 0.95 * tcp, "{carrier}, {jitter} ms: {bond} of {tcp} Mbit/s");
        }
    }
}

/// The fastest packets take next to no time, so that neither the minimum RTT nor the RTT samples
/// say what is on its way. Of the rate 5 % are headers, and of 20 s a tenth is what start-up takes
/// here.
#[test]
fn a_jitter_as_long_as_the_delay_starves_no_path() {
    let bond = goodput(20, 20, &bond("light"));
    assert!(bond >= 0.95 * 0.9 * RATE, "{bond} Mbit/s");
}

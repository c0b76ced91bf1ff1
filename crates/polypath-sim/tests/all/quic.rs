//! QUIC of hosts over one path.

use polypath_sim::run::{ConnectionReport, Keep, Observed, Plan};
use polypath_sim::scenario::Scenario;
use std::io;
use std::path::Path;

/// A download of 10 s over a path of 40 Mbit/s and this delay, with these lines in it, by a
/// connection with these.
fn download(delay: &str, path: &str, connection: &str) -> ConnectionReport {
    let text = format!(
        "duration = \"11 s\"\nwarm_up = \"3 s\"\n[[path]]\nname = \"a\"\nrate = \"40 Mbit/s\"\n\
         delay = \"{delay}\"\n{path}\n[[connection]]\ntransport = \"quic\"\n{connection}\n[[flow]]\n\
         kind = \"bulk\"\ndirection = \"down\"\nstart = \"1 s\"\n"
    );
    let open = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let plan = Plan::new(Scenario::parse(&text, Path::new("s"), open).unwrap()).unwrap();
    let report = plan.run(1, Keep::default(), &mut |_| {}).unwrap().report;
    report.connections[0].clone()
}

/// Of 1,378 bytes of a full packet 39 are headers of QUIC and 28 of UDP and IP: 95.1 % of the rate.
#[test]
fn one_connection_fills_a_link() {
    let report = download("20 ms", "queue = \"1 bdp\"", "");
    assert!((37.0..=38.1).contains(&report.goodput_mbit_s), "{report:?}");
}

/// Jitter of 5 ms at 3,600 packets a second lets more than three overtake: what does not adapt
/// takes that for loss, and what waits for 200 does not. It is less than the eighth of the round
/// trip of 200 ms that is waited for by time.
#[test]
fn a_threshold_of_three_takes_reordering_for_loss() {
    let path = "queue = \"1 bdp\"\njitter = \"5 ms\"\nreorder = true";
    let [three, many] = ["packet_threshold = 3", "packet_threshold = 200"]
        .map(|line| download("100 ms", path, line));
    assert!(three.goodput_mbit_s < 0.5 * many.goodput_mbit_s, "{three:?} {many:?}");
}

/// Every byte comes although 10 % of packets are lost both ways, the handshake's among them.
#[test]
fn lost_packets_are_sent_again() {
    for seed in 1..=20 {
        let text = "duration = \"60 s\"\n[[path]]\nname = \"a\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                    loss = 0.1\n[[connection]]\ntransport = \"quic\"\n[[flow]]\nkind = \"request_response\"\n\
                    response = \"20 kB\"\nrequests = 5\n";
        let open = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
        let plan = Plan::new(Scenario::parse(text, Path::new("s"), open).unwrap()).unwrap();
        let report = plan.run(seed, Keep::default(), &mut |_| {}).unwrap().report;
        let Observed::Requests { completed, response_bytes, .. } =
            report.connections[0].flows[0].observed
        else {
            panic!("{report:?}")
        };
        assert_eq!((completed, response_bytes), (5, 100_000), "seed {seed}");
        assert!(report.connections[0].flows[0].finished_s.is_some(), "seed {seed}");
    }
}

//! What every bandwidth estimator makes of a recorded trace of acknowledgements, to plot.
//!
//! ```text
//! cargo run -p polypath-core --example bandwidth < acks.csv > estimates.csv
//! ```
//!
//! Input: a heading, then `seconds,acked_bytes,rtt_seconds` in the order of time; the RTT may be
//! empty. Output: seconds, and the estimates in bytes/s, empty before the first sample.

use polypath_core::estimator::bandwidth::{
    AckRecord, AdaptiveEstimator, BandwidthEstimator, BandwidthFilter, WestwoodEstimator,
    WestwoodPlusEstimator, WestwoodPlusFilter,
};
use polypath_units::Timestamp;
use std::error::Error;
use std::io::{BufRead, BufWriter, Write, stdin, stdout};
use std::time::Duration;

fn estimators() -> [(&'static str, Box<dyn BandwidthEstimator>); 5] {
    let westwood = |filter| Box::new(WestwoodEstimator::new(filter));
    [
        ("westwood", westwood(BandwidthFilter::WESTWOOD)),
        ("tustin", westwood(BandwidthFilter::TUSTIN)),
        ("tustin_ns3", westwood(BandwidthFilter::TUSTIN_NS3)),
        ("westwood_plus", Box::new(WestwoodPlusEstimator::new(WestwoodPlusFilter::DEFAULT))),
        ("cabe", Box::new(AdaptiveEstimator::default())),
    ]
}

/// A line of the trace; `None` if it is not of the form above.
fn record(line: &str) -> Option<AckRecord> {
    let mut fields = line.split(',').map(str::trim);
    let (at, acked_bytes, rtt) = (fields.next()?, fields.next()?, fields.next()?);
    let secs = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?).ok();
    Some(AckRecord {
        at: Timestamp::ZERO + secs(at)?,
        acked_bytes: acked_bytes.parse().ok()?,
        rtt: if rtt.is_empty() { None } else { Some(secs(rtt)?) },
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut estimators = estimators();
    let mut out = BufWriter::new(stdout().lock());
    let names = estimators.each_ref().map(|(name, _)| *name);
    writeln!(out, "seconds,{}", names.join(","))?;
    for (number, line) in (1..).zip(stdin().lock().lines()).skip(1) {
        let line = line?;
        let ack = record(&line).ok_or_else(|| {
            format!("line {number}: {line:?} is not seconds,acked_bytes,rtt_seconds")
        })?;
        write!(out, "{}", ack.at.as_secs_f64())?;
        for (_, estimator) in &mut estimators {
            estimator.on_ack(&ack);
            let value =
                estimator.bytes_per_sec().map_or(String::new(), |rate| format!("{rate:.0}"));
            write!(out, ",{value}")?;
        }
        writeln!(out)?;
    }
    out.flush()?;
    Ok(())
}

//! What is looked at of a transfer with an end.

use crate::experiment::observation::Observation;
use crate::experiment::papers::free_share;
use crate::experiment::seen::Seen;
use polypath_model::metrics::mean;
use polypath_sim::scenario::Scenario;

/// How long the transfer took, in s; how many packets the links dropped; how much of the receive
/// buffer was taken until the end, in the mean and at most, as shares of its largest size.
pub(super) fn observe(scenario: &Scenario, seen: &impl Seen) -> Observation {
    let completion_s = seen.completion().map(|time| time.as_secs_f64());
    let free = free_share(scenario, seen.recording()).unwrap_or_default();
    let under_way = |at: f64| completion_s.is_none_or(|end| at <= end);
    let taken: Vec<f64> =
        free.iter().filter(|(at, _)| under_way(*at)).map(|(_, free)| 1.0 - free).collect();
    Observation::default()
        .with("completion_s", completion_s)
        .with("dropped_packets", seen.dropped_packets() as f64)
        .with("mean_taken", mean(&taken))
        .with("most_taken", taken.into_iter().reduce(f64::max))
}

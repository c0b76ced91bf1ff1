//! Westwood with the filter of its paper: the bilinear approximation of a low-pass, whose pole
//! depends on the time between ACKs, and which decays while none arrive.
//!
//! Source: Mascolo et al., Mobicom 2001, section 2.1 (filter) and 2.2 (window). Everything but the
//! filter is [`Westwood`], its deviation included. The paper leaves the time constant to the
//! implementation; half a second is assumed.

use super::measured::{START_SHARE, START_SHARE_PURPOSE};
use super::westwood::PER_ROUND_PURPOSE;
use super::{CongestionAvoidance, Westwood};
use crate::estimator::BandwidthFilter;
use crate::registry::{Description, Kind, Values, parameters};

parameters! {
    /// The parameters of [`Tustin`].
    pub struct TustinParameters {
        /// The time constant `tau` of the filter in seconds.
        pub cutoff_secs: f64 = BandwidthFilter::CUTOFF_SECS, "cutoff", "s",
            "time constant tau of the filter", 0.001 to 1000.0;
        /// `m`; 0: silence is no sample.
        pub silence_divisor: f64 = BandwidthFilter::SILENCE_DIVISOR, "silence_divisor", "",
            "m: every tau/m without an ACK counts as a sample of zero", 0.0 to 1000.0;
        /// Whether there is a sample for each round trip and not for each ACK.
        pub per_round: bool = false, "per_round", "", PER_ROUND_PURPOSE;
        /// Weight of the filter's start in the estimate down to which a loss leaves at least half.
        pub start_share: f64 = START_SHARE, "start_share", "", START_SHARE_PURPOSE, 0.0 to 1.0;
    }
}

/// The registry's name for [`Westwood`] with [`BandwidthFilter::TUSTIN`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tustin;

impl Tustin {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "tustin",
        purpose: "Westwood with the bilinear filter of its paper, which silence lowers",
        source: "Mascolo et al., TCP Westwood, Mobicom 2001, sections 2.1 and 2.2",
        parameters: TustinParameters::PARAMETERS,
    };

    /// An instance for the registry; nothing is drawn at random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        let TustinParameters { cutoff_secs, silence_divisor, per_round, start_share } =
            TustinParameters::of(values);
        let filter = BandwidthFilter::Tustin { cutoff_secs, silence_divisor };
        Box::new(Westwood::with_filter(filter, per_round, start_share))
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::testing::{ack, loss, path, subflows};
    use crate::congestion::{Ack, CongestionKind};
    use polypath_units::Timestamp;

    /// 1 MB/s for 10 s, then nothing. A loss is judged by a filter that has decayed by 0.6 for each
    /// quarter of a second, less half a sample for the first: a + (1 - a) / 2 = 0.8. Zeros weigh
    /// 1 - 0.6^2 = 0.64 of it by then, so that half of what is in flight is the least.
    #[test]
    fn silence_before_a_loss_lowers_the_threshold() {
        let threshold = |silence: u64, in_flight| {
            let mut tustin = CongestionKind::Tustin.build(0);
            let mut flows = subflows(1_000, &[(200_000.0, 100)]);
            for n in 0..5_000 {
                let now = Timestamp::from_millis(2 * n);
                tustin.on_delivery(path(0), &Ack { now, ..ack(2_000, 1_000) }, &flows);
            }
            let now = Timestamp::from_millis(9_998 + silence);
            let loss = crate::congestion::Loss { now, ..loss(in_flight, 1_000) };
            tustin.on_loss(path(0), &loss, &mut flows);
            flows.get(path(0)).unwrap().ssthresh
        };
        let close = |value: f64, expected: f64| (value - expected).abs() < 1.0;
        assert!(close(threshold(100, 200_000), 100_000.0), "{}", threshold(100, 200_000));
        assert!(close(threshold(600, 2_000), 48_000.0), "{}", threshold(600, 2_000));
        assert!(close(threshold(600, 200_000), 100_000.0), "{}", threshold(600, 200_000));
    }
}

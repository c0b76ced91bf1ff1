//! A call under a policy, while each path in turn dies without a word and comes back.

use super::datagrams::{Conversation, Stream};
use super::error::GatewayError;
use super::figure::Figure;
use super::outages::Outages;
use super::profile::GatewayProfile;
use super::reception::{Arrival, Reception};
use super::rig::Rig;
use super::settings::GatewaySettings;
use super::site::Site;
use polypath_model::metrics::quantile;
use polypath_sim::Direction;
use polypath_units::millis;
use std::time::Duration;

/// 50 packets a second of 160 bytes: 20 ms of speech in G.711 each (RFC 3551).
const CALL: (Duration, usize) = (Duration::from_millis(20), 160);

/// Both directions at once, in this steering mode.
pub(super) fn run(
    mode: &str,
    profile: &GatewayProfile,
    settings: &GatewaySettings,
    seed: u64,
) -> Result<Vec<Figure>, GatewayError> {
    let policy = format!("[[rule]]\nname = \"measured\"\nprotocol = \"udp\"\nmode = \"{mode}\"\n");
    let rig = Rig::start(profile, settings, seed, Some(&policy))?;
    let site = rig.site();
    let conversation = Conversation::open(site)?;
    let (outages, stream) = call(site, settings);
    let begin = |direction| conversation.stream(direction, stream, site.clock());
    let streams = [begin(Direction::Down)?, begin(Direction::Up)?];
    outages.play(site, settings, |_| {})?;
    settings.interrupt.wait(site.clock(), streams[0].over_at())?;
    let mut figures = Vec::new();
    for (streaming, direction) in streams.into_iter().zip([Direction::Down, Direction::Up]) {
        let streamed = streaming.stop(outages.begin())?;
        let above = above_the_best(streamed.counted(), &outages, &profile.delays(direction));
        figures.extend(figures_of(direction, &streamed.reception(), above));
    }
    figures.push(rig.stop()?);
    Ok(figures)
}

/// A call that begins now and lasts while the paths of the site die in turn, the first of them
/// after the warm-up.
pub(super) fn call(site: &Site, settings: &GatewaySettings) -> (Outages, Stream) {
    let start = site.clock().now();
    let outages = Outages::after(start + settings.warm_up, site.paths().len());
    let (interval, bytes) = CALL;
    (outages, Stream { interval, bytes, start, end: outages.end() })
}

/// By how much datagrams came later than the best path that was alive would have brought them, at
/// the 99th percentile in ms. A path counts as alive again once the time has passed in which it is
/// to be found again, and one that died does not from its own delay before that on: what was on
/// its way is lost.
fn above_the_best<'a>(
    arrivals: impl Iterator<Item = &'a Arrival>,
    outages: &Outages,
    delays: &[Duration],
) -> Option<f64> {
    let above = |arrival: &Arrival| {
        let usable =
            |&(path, &delay): &(usize, &Duration)| !outages.is_dead(path, arrival.sent, delay);
        let best = delays.iter().enumerate().filter(usable).map(|(_, &delay)| delay).min()?;
        Some(millis(arrival.delay()) - millis(best))
    };
    quantile(&mut arrivals.filter_map(above).collect::<Vec<_>>(), 0.99)
}

fn figures_of(direction: Direction, seen: &Reception, above: Option<f64>) -> Vec<Figure> {
    let name = |what: &str| format!("{}, {what}", direction.name());
    vec![
        Figure::new(name("sent"), "packets", seen.sent as f64),
        Figure::new(name("lost"), "packets", seen.lost() as f64),
        Figure::new(name("out of order"), "packets", seen.out_of_order as f64),
        Figure::maybe(name("delay p99"), "ms", seen.delay_p99_ms),
        Figure::maybe(name("delay p99 above the best path's"), "ms", above),
        Figure::new(name("longest gap"), "ms", millis(seen.longest_gap)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_units::Timestamp;

    /// The first path dies 2 s after the beginning, for 3 s.
    #[test]
    fn delays_are_held_against_the_best_path_alive() {
        let ms = Timestamp::from_millis;
        let outages = Outages::after(ms(0), 2);
        let delays = [10, 30].map(Duration::from_millis);
        let above = |sent_ms: u64, delay_ms: u64| {
            let at = ms(sent_ms + delay_ms);
            let arrival = Arrival { number: 0, sent: ms(sent_ms), at };
            above_the_best([arrival].iter(), &outages, &delays)
        };
        assert_eq!(above(1_000, 11), Some(1.0));
        assert_eq!(above(1_995, 31), Some(1.0), "it would have been lost on the first path");
        assert_eq!(above(3_000, 31), Some(1.0));
        assert_eq!(above(5_400, 31), Some(1.0), "the first path is not found yet");
        assert_eq!(above(5_600, 31), Some(21.0));
    }
}

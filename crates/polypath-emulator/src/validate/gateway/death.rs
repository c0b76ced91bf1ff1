//! Twenty downloads, five calls and echo requests, while each path in turn dies and comes back.

use super::datagrams::Conversation;
use super::error::GatewayError;
use super::figure::Figure;
use super::outages::Outages;
use super::ping::Pinging;
use super::profile::GatewayProfile;
use super::reception::Reception;
use super::rig::Rig;
use super::settings::GatewaySettings;
use super::site::Site;
use super::steered::call;
use super::tcp::Downloads;
use crate::kernel::Timeline;
use crate::realtime::rest;
use polypath_sim::Direction;
use polypath_units::{Timestamp, millis};
use std::time::Duration;

const DOWNLOADS: usize = 20;
const CALLS: usize = 5;
/// How often links are looked at for the first packets of a path that has come back.
const LOOK: Duration = Duration::from_millis(2);
/// Packets that show that a path carries data: more than probes and single repetitions, as
/// `validate death` has it.
const IN_USE: u64 = 20;
/// For how long is looked: less than the life before the next death.
const WATCHED: Duration = Duration::from_millis(1_900);

pub(super) fn run(
    profile: &GatewayProfile,
    settings: &GatewaySettings,
    seed: u64,
) -> Result<Vec<Figure>, GatewayError> {
    let rig = Rig::start(profile, settings, seed, None)?;
    let site = rig.site();
    let downloads = Downloads::start(site, Direction::Down, DOWNLOADS)?;
    let calls: Vec<_> = (0..CALLS).map(|_| Conversation::open(site)).collect::<Result<_, _>>()?;
    let pinging = Pinging::start(site)?;
    let (outages, stream) = call(site, settings);
    let both = [Direction::Down, Direction::Up];
    let begun = calls.iter().flat_map(|call| both.map(|way| (call, way)));
    let streams = begun.map(|(call, way)| call.stream(way, stream, site.clock()));
    let streams: Vec<_> = streams.collect::<Result<_, _>>()?;
    let mut reused = Vec::new();
    outages.play(site, settings, |path| reused.push(reuse(site, path)))?;
    let ended = downloads.ended();
    let timelines = downloads.stop()?;
    settings.interrupt.wait(site.clock(), stream.end + super::datagrams::UNDER_WAY)?;
    let echoes = pinging.stop()?.between(outages.begin(), outages.end());
    let calls: Vec<_> = streams
        .into_iter()
        .map(|streaming| Ok::<_, GatewayError>(streaming.stop(outages.begin())?.reception()))
        .collect::<Result<_, _>>()?;
    let late = rig.stop()?;
    let mut figures = vec![
        Figure::new("downloads that ended", "", ended as f64),
        Figure::new("downloads, longest gap", "ms", longest_gap(&timelines, &outages)),
        Figure::new("downloads together, longest gap", "ms", gap_of_all(&timelines, &outages)),
        Figure::new("calls, lost", "%", loss(&calls) * 100.0),
        Figure::new("calls, longest gap", "ms", longest_of_calls(&calls)),
        Figure::new("echo requests, lost", "", echoes.lost() as f64),
        Figure::new("echo requests, longest gap", "ms", millis(echoes.longest_gap())),
    ];
    for (path, reused) in profile.links().iter().zip(reused) {
        let name = format!("{} carries data again after", path.name);
        figures.push(Figure::maybe(name, "ms", reused.map(millis)));
    }
    figures.push(late);
    Ok(figures)
}

/// How long it takes from now on until a path carries data downwards.
fn reuse(site: &Site, path: usize) -> Option<Duration> {
    let (clock, wire) = (site.clock(), &site.network().wires()[path]);
    let delivered = || wire.report().down.link.delivered.packets;
    let (returned, before) = (clock.now(), delivered());
    while clock.now() < returned + WATCHED {
        if delivered() >= before + IN_USE {
            return Some(clock.now().since(returned));
        }
        rest(LOOK);
    }
    None
}

/// The longest time in which one of the downloads got nothing, in ms.
fn longest_gap(downloads: &[Timeline], outages: &Outages) -> f64 {
    let gap = |timeline: &Timeline| gap(timeline.times(), outages);
    millis(downloads.iter().map(gap).max().unwrap_or_default())
}

/// The longest time in which none of them got anything, in ms.
fn gap_of_all(downloads: &[Timeline], outages: &Outages) -> f64 {
    let mut times: Vec<_> = downloads.iter().flat_map(Timeline::times).collect();
    times.sort();
    millis(gap(times.into_iter(), outages))
}

fn gap(times: impl Iterator<Item = Timestamp>, outages: &Outages) -> Duration {
    let (begin, end) = (outages.begin(), outages.end());
    let counted = times.filter(|&at| at > begin && at < end);
    let bounds = [begin].into_iter().chain(counted).chain([end]).collect::<Vec<_>>();
    bounds.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap_or_default()
}

fn loss(calls: &[Reception]) -> f64 {
    let count = |what: fn(&Reception) -> u64| calls.iter().map(what).sum::<u64>() as f64;
    count(Reception::lost) / count(|call| call.sent).max(1.0)
}

fn longest_of_calls(calls: &[Reception]) -> f64 {
    millis(calls.iter().map(|call| call.longest_gap).max().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_of_each_download_and_of_all() {
        let ms = Timestamp::from_millis;
        // From 0 to 7 s.
        let outages = Outages::after(ms(0), 1);
        let timeline = |times: &[u64]| {
            let mut timeline = Timeline::default();
            times.iter().for_each(|&at| timeline.add(ms(at), 1));
            timeline
        };
        let downloads = [timeline(&[1_000, 3_000, 5_000, 6_500]), timeline(&[2_000, 4_500])];
        assert_eq!(longest_gap(&downloads, &outages), 2_500.0, "to the end");
        assert_eq!(gap_of_all(&downloads, &outages), 1_500.0);
    }
}

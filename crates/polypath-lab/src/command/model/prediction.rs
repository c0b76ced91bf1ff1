//! The predictions for links alone and together.

use polypath_model::{
    ModelError, ModelPath, MultipathOptions, SchedulerFamily, TunnelLink, TunnelTransfer,
    multipath_rate, path_rate, tunnel_throughput,
};
use polypath_units::ByteCount;
use serde::{Serialize, Serializer};

use super::link::ModelLink;
use polypath::config::UsageError;
use polypath::output;

/// Of up to so many links all sets are looked at, of more the best ones.
const ALL_SETS: usize = 4;
/// Of a transfer through a tunnel so many segments are followed, which takes some milliseconds;
/// what comes after them goes on as they did. A transfer that is cut off earlier, as it repairs
/// what slow start has lost, is taken for much slower than it is.
const MOST_SEGMENTS: u64 = 100_000;
/// Bytes of a full segment in a tunnel.
const SEGMENT: u32 = 1_460;
/// Bytes of a full packet in a tunnel, headers included.
const PACKET: f64 = 1_532.0;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Question {
    pub(super) links: Vec<ModelLink>,
    #[serde(rename = "receive_buffer_bytes", serialize_with = "bytes")]
    pub(super) receive_buffer: ByteCount,
    /// Of the transfer through a tunnel.
    #[serde(rename = "transfer_bytes", serialize_with = "bytes")]
    pub(super) bytes: ByteCount,
}

fn bytes<S: Serializer>(count: &ByteCount, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(count.get())
}

/// What is to be expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Outlook {
    #[serde(flatten)]
    question: Question,
    /// For each set of links, those of one first.
    sets: Vec<LinkSet>,
}

/// Some of the links.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct LinkSet {
    /// By their positions in what was given, from 1.
    links: Vec<usize>,
    /// A bond with each kind of scheduler; the one kind that there is with one link.
    bond: Vec<Prediction>,
    /// TCP without SACK through a tunnel that deals its packets over the links.
    tunnel: Prediction,
}

/// A throughput.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Prediction {
    kind: &'static str,
    mbit_s: f64,
    /// Between these lay eight of ten simulations of other links, at most what the links can carry;
    /// none if nothing was simulated.
    from_mbit_s: Option<f64>,
    to_mbit_s: Option<f64>,
    /// What keeps it from being faster.
    limit: &'static str,
    /// The links that carry it.
    uses: Vec<usize>,
}

impl Outlook {
    /// # Errors
    /// Numbers that cannot be, with the link that has them.
    pub(super) fn of(question: Question) -> Result<Self, UsageError> {
        let options = MultipathOptions {
            receive_buffer: question.receive_buffer.get(),
            ..MultipathOptions::BOND
        };
        let mut paths = Vec::new();
        for link in &question.links {
            let path = link.path();
            let alone = path_rate(&path, &options);
            alone.map_err(|error| UsageError::new(format!("{}: {error}", link.name)))?;
            paths.push(path);
        }
        let sets = link_sets(&paths, &options, question.bytes.get());
        let sets = sets.map_err(|error| UsageError::new(error.to_string()))?;
        Ok(Self { question, sets })
    }

    pub(super) fn table(&self) -> String {
        let mut text = "Links:\n".to_owned();
        for (number, link) in (1..).zip(&self.question.links) {
            text += &format!("  {number}  {}\n", link.describe());
        }
        text += "\nMbit/s, with the 10th to the 90th percentile of simulations, and what limits:\n";
        let head = ["links", "kind", "Mbit/s", "from", "to", "limit", "uses"].map(str::to_owned);
        let rows: Vec<_> =
            [head].into_iter().chain(self.sets.iter().flat_map(LinkSet::rows)).collect();
        text + &output::columns(&rows, 2)
    }
}

fn link_sets(
    paths: &[ModelPath],
    options: &MultipathOptions,
    bytes: u64,
) -> Result<Vec<LinkSet>, ModelError> {
    let sets = sets_of_interest(paths, options)?.into_iter();
    sets.map(|links| LinkSet::of(&links, paths, options, bytes)).collect()
}

/// Each link; of a few links all sets, of many the best one, the best two and so on.
fn sets_of_interest(
    paths: &[ModelPath],
    options: &MultipathOptions,
) -> Result<Vec<Vec<usize>>, ModelError> {
    let count = paths.len();
    if count <= ALL_SETS {
        let members = |set: u32| (0..count).filter(|&link| set & (1 << link) != 0).collect();
        let mut sets: Vec<Vec<usize>> = (1..1_u32 << count).map(members).collect();
        sets.sort_by_key(Vec::len);
        return Ok(sets);
    }
    let alone = paths.iter().map(|path| Ok(path_rate(path, options)?.bytes_per_sec));
    let alone = alone.collect::<Result<Vec<f64>, ModelError>>()?;
    let mut ranked: Vec<usize> = (0..count).collect();
    ranked.sort_by(|&a, &b| alone[b].total_cmp(&alone[a]));
    let best = (2..=count).map(|number| ranked[..number].to_vec());
    Ok((0..count).map(|link| vec![link]).chain(best).collect())
}

impl LinkSet {
    fn of(
        links: &[usize],
        paths: &[ModelPath],
        options: &MultipathOptions,
        bytes: u64,
    ) -> Result<Self, ModelError> {
        let chosen: Vec<_> = links.iter().map(|&link| paths[link]).collect();
        let families =
            if links.len() == 1 { &SchedulerFamily::ALL[..1] } else { &SchedulerFamily::ALL };
        let bond = families.iter().map(|&family| bond(links, &chosen, options, family));
        let bond = bond.collect::<Result<_, _>>()?;
        let tunnel = tunnel(links, &chosen, options.receive_buffer, bytes)?;
        Ok(Self { bond, tunnel, links: numbers(links) })
    }

    fn rows(&self) -> Vec<[String; 7]> {
        let list =
            |links: &[usize]| links.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
        let row = |prediction: &Prediction| {
            let Prediction { kind, mbit_s, from_mbit_s, to_mbit_s, limit, uses } = prediction;
            let rate = |value: &f64| format!("{value:.2}");
            let bound = |value: &Option<f64>| value.as_ref().map_or("-".to_owned(), rate);
            [
                list(&self.links),
                (*kind).to_owned(),
                rate(mbit_s),
                bound(from_mbit_s),
                bound(to_mbit_s),
                (*limit).to_owned(),
                list(uses),
            ]
        };
        self.bond.iter().chain([&self.tunnel]).map(row).collect()
    }
}

/// As people count.
fn numbers(links: &[usize]) -> Vec<usize> {
    links.iter().map(|link| link + 1).collect()
}

/// What was predicted times what was measured over it, at most what the links can carry.
fn interval(mbit_s: f64, measured: Option<[f64; 2]>, most: f64) -> [Option<f64>; 2] {
    [0, 1].map(|end| Some((mbit_s * measured?[end]).min(most)))
}

/// What these links could carry of payload in Mbit/s.
fn most(paths: &[ModelPath], options: &MultipathOptions) -> f64 {
    paths.iter().map(|path| options.payload_of(path.rate) * 8e-6).sum()
}

fn bond(
    links: &[usize],
    paths: &[ModelPath],
    options: &MultipathOptions,
    family: SchedulerFamily,
) -> Result<Prediction, ModelError> {
    let (found, kind) = match paths {
        [alone] => (path_rate(alone, options)?, "alone"),
        _ => (multipath_rate(paths, options, family)?, family.name()),
    };
    let mut uses: Vec<_> = found.paths.iter().map(|&path| links[path]).collect();
    uses.sort_unstable();
    let mbit_s = found.bytes_per_sec * 8e-6;
    let cramped = options.least_of_cramped(paths.iter().copied());
    let measured = family.measured().map(|[from, to]| [from * cramped, to]);
    let [from_mbit_s, to_mbit_s] = interval(mbit_s, measured, most(paths, options));
    let (limit, uses) = (found.limit.name(), numbers(&uses));
    Ok(Prediction { kind, mbit_s, from_mbit_s, to_mbit_s, limit, uses })
}

fn tunnel(
    links: &[usize],
    paths: &[ModelPath],
    receive_buffer: u64,
    bytes: u64,
) -> Result<Prediction, ModelError> {
    let link = |path: &ModelPath| TunnelLink {
        rate: path.rate,
        rtt: path.rtt,
        loss: path.loss,
        queue_packets: (path.queue_bytes / PACKET).max(1.0) as u32,
    };
    let chosen: Vec<_> = paths.iter().map(link).collect();
    let transfer = TunnelTransfer {
        bytes,
        segment_bytes: SEGMENT,
        initial_window_segments: 10,
        receive_buffer,
        horizon_segments: bytes.div_ceil(SEGMENT.into()).min(MOST_SEGMENTS) as u32,
        ..TunnelTransfer::default()
    };
    let found = tunnel_throughput(&chosen, &transfer)?;
    let mbit_s = found.bytes_per_sec * 8e-6;
    let packets = MultipathOptions {
        segment_bytes: transfer.segment_bytes,
        header_bytes: transfer.header_bytes,
        ..MultipathOptions::MPTCP
    };
    let measured = (bytes <= TunnelTransfer::MEASURED_BYTES).then_some(TunnelTransfer::MEASURED);
    let [from_mbit_s, to_mbit_s] = interval(mbit_s, measured, most(paths, &packets));
    let (kind, limit, uses) = ("tunnel", found.limit.name(), numbers(links));
    Ok(Prediction { kind, mbit_s, from_mbit_s, to_mbit_s, limit, uses })
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_units::Bandwidth;
    use std::time::Duration;

    fn outlook(links: &[&str]) -> Outlook {
        let links = links.iter().map(|link| link.parse().unwrap()).collect();
        let [receive_buffer, bytes] = [300_000, 10_000_000].map(ByteCount::new);
        Outlook::of(Question { links, receive_buffer, bytes }).unwrap()
    }

    #[test]
    fn a_slow_path_is_left_out_by_those_that_select() {
        let outlook = outlook(&["90Mbit/s,10ms", "30Mbit/s,100ms,0.5%"]);
        let sets: Vec<_> = outlook.sets.iter().map(|set| set.links.clone()).collect();
        assert_eq!(sets, [vec![1], vec![2], vec![1, 2]]);
        let both = &outlook.sets[2].bond;
        assert_eq!((both[0].kind, &both[0].uses), ("ahead", &vec![1]));
        assert_eq!((both[1].kind, &both[1].uses), ("selective", &vec![1]));
        assert_eq!((both[2].limit, &both[2].uses), ("receive_buffer", &vec![1, 2]));
        assert!(both[1].mbit_s > 3.0 * both[2].mbit_s);
        assert!(both[0].from_mbit_s < both[0].to_mbit_s);
        assert_eq!(
            (both[3].kind, both[3].from_mbit_s, both[3].to_mbit_s),
            ("redundant", None, None)
        );
        let alone = &outlook.sets[0].bond[0];
        assert_eq!(alone.to_mbit_s, Some(90.0 * 1_400.0 / 1_472.0), "not 1.1 times that");
        let table = outlook.table();
        assert!(table.contains("1+2") && table.contains("receive_buffer"), "{table}");
    }

    #[test]
    fn of_many_links_the_best_sets_are_shown() {
        let links =
            ["1Mbit/s,10ms", "5Mbit/s,10ms", "3Mbit/s,10ms", "2Mbit/s,10ms", "4Mbit/s,10ms"];
        let sets: Vec<_> = outlook(&links).sets.into_iter().map(|set| set.links).collect();
        assert_eq!(sets.len(), 9);
        assert_eq!(sets[5..7], [vec![2, 5], vec![2, 5, 3]]);
        assert_eq!(sets[8].len(), 5);
    }

    #[test]
    fn impossible_numbers_are_named() {
        let link = ModelLink::measured("lte".to_owned(), Bandwidth::ZERO, Duration::ZERO, 0.0);
        let [receive_buffer, bytes] = [1 << 20, 1].map(ByteCount::new);
        let error = Outlook::of(Question { links: vec![link], receive_buffer, bytes }).unwrap_err();
        assert!(
            error.to_string().starts_with("lte: the rate of a link in bytes/s is 0"),
            "{error}"
        );
    }
}

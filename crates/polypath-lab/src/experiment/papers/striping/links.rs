//! Links with a given asymmetry of delays and rates.

use polypath_link::RunSeed;
use polypath_model::{ModelPath, StripedLink, TunnelLink};
use polypath_sim::scenario::declare::{choices, keys};
use polypath_units::Bandwidth;
use std::time::Duration;

choices! {
    /// Where values lie whose mean difference is given.
    pub(in crate::experiment::papers) enum Spacing {
        /// As far from each other as from the next.
        Even = "even",
        /// All but one at the least.
        OneApart = "one_apart",
    }
}

choices! {
    /// Which link has which delay.
    pub(in crate::experiment::papers) enum Order {
        /// The first one the least.
        Ascending = "ascending",
        /// Any, by the seed.
        Random = "random",
    }
}

choices! {
    /// What stays while rates are spread.
    pub(in crate::experiment::papers) enum Spread {
        /// Their mean.
        Mean = "mean",
        /// The lowest of them.
        Least = "least",
    }
}

keys! {
    /// Links by their Average Delay Asymmetry and Average Bandwidth Asymmetry (S1 equations 22,
    /// 23).
    #[derive(Debug)]
    pub(in crate::experiment::papers) struct LinkKeys {
        /// How many.
        links: u32 = 4 where 1 to 64;
        /// Rates of the links, one after the other; if none, `rate` spread by `rate_asymmetry`.
        rates: Vec<Bandwidth> = [];
        /// The mean or the least rate.
        rate: Bandwidth = "100 kbit/s" where "1 kbit/s" to "100 Gbit/s";
        /// The mean difference between any two rates.
        rate_asymmetry: Bandwidth = "0 kbit/s";
        /// What `rate` is.
        rate_spread: Spread = "mean";
        /// The least round trip.
        least_delay: Duration = "5 ms";
        /// The mean difference between any two round trips.
        delay_asymmetry: Duration = "0 ms";
        /// Where the round trips lie.
        delay_spacing: Spacing = "even";
        /// Which link has which.
        order: Order = "ascending";
    }
}

/// A link: its rate, and its round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::experiment::papers) struct Link {
    pub(in crate::experiment::papers) rate: Bandwidth,
    pub(in crate::experiment::papers) rtt: Duration,
}

impl LinkKeys {
    /// The links that a seed gives.
    pub(super) fn drawn(&self, seed: u32) -> Vec<Link> {
        let mut rtts = self.rtts();
        if self.order == Order::Random {
            shuffle(&mut rtts, RunSeed::new(seed.into(), self.delay_asymmetry.as_nanos() as u64));
        }
        self.rates().into_iter().zip(rtts).map(|(rate, rtt)| Link { rate, rtt }).collect()
    }

    /// Of `n` evenly spaced values any two differ by (n + 1) / 3 spaces in the mean; if one of them
    /// is apart, by 2 / n of how far.
    fn rtts(&self) -> Vec<Duration> {
        let (n, asymmetry) = (f64::from(self.links), self.delay_asymmetry.as_secs_f64());
        let further = |nth: u32| match self.delay_spacing {
            Spacing::Even => f64::from(nth) * 3.0 / (n + 1.0),
            Spacing::OneApart if nth + 1 == self.links && nth > 0 => n / 2.0,
            Spacing::OneApart => 0.0,
        };
        let rtt = |nth| self.least_delay + Duration::from_secs_f64(asymmetry * further(nth));
        (0..self.links).map(rtt).collect()
    }

    fn rates(&self) -> Vec<Bandwidth> {
        if !self.rates.is_empty() {
            return self.rates.iter().copied().cycle().take(self.links as usize).collect();
        }
        let n = f64::from(self.links);
        let space = self.rate_asymmetry.mbit_per_sec() * 3.0 / (n + 1.0);
        let below = match self.rate_spread {
            Spread::Mean => (n - 1.0) / 2.0,
            Spread::Least => 0.0,
        };
        let rate = |nth: u32| {
            let mbit_s = self.rate.mbit_per_sec() + (f64::from(nth) - below) * space;
            Bandwidth::from_mbit_per_sec(mbit_s)
        };
        (0..self.links).map(rate).collect()
    }
}

/// Fisher and Yates.
fn shuffle<T>(values: &mut [T], seed: RunSeed) {
    for last in (1..values.len()).rev() {
        values.swap(last, (seed.stream(last as u64) % (last as u64 + 1)) as usize);
    }
}

impl Link {
    pub(in crate::experiment::papers) const fn striped(&self) -> StripedLink {
        StripedLink { rate: self.rate, delay: self.rtt }
    }

    /// With a queue of 100 packets.
    pub(in crate::experiment::papers) const fn tunnelled(&self) -> TunnelLink {
        TunnelLink { rate: self.rate, rtt: self.rtt, loss: 0.0, queue_packets: 100 }
    }

    /// With a queue of a bandwidth-delay product.
    pub(in crate::experiment::papers) fn path(&self) -> ModelPath {
        let queue_bytes = self.rate.bytes_per_sec() * self.rtt.as_secs_f64();
        ModelPath { rate: self.rate, rtt: self.rtt, loss: 0.0, queue_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_model::mean_difference;
    use polypath_sim::scenario::read_overridden;
    use polypath_units::millis;
    use std::path::Path;

    fn links(settings: &[&str], seed: u32) -> Vec<Link> {
        let settings: Vec<_> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let keys = read_overridden::<LinkKeys>("", &settings, Path::new("links.toml"), "links");
        keys.unwrap().value.drawn(seed)
    }

    fn asymmetries(links: &[Link]) -> [f64; 2] {
        let of = |value: &dyn Fn(&Link) -> f64| {
            mean_difference(&links.iter().map(value).collect::<Vec<_>>())
        };
        [of(&|l| millis(l.rtt)), of(&|l| l.rate.mbit_per_sec() * 1e3)]
    }

    #[test]
    fn links_have_the_asymmetry_that_is_asked_for() {
        for n in 2..=8 {
            for spacing in ["even", "one_apart"] {
                let drawn = links(
                    &[
                        &format!("links={n}"),
                        "delay_asymmetry=30 ms",
                        &format!("delay_spacing={spacing}"),
                        "rate=2 Mbit/s",
                        "rate_asymmetry=700 kbit/s",
                    ],
                    1,
                );
                let [delays, rates] = asymmetries(&drawn);
                assert!((delays - 30.0).abs() < 1e-3 && (rates - 700.0).abs() < 1e-2, "{drawn:?}");
                let mean: f64 = drawn.iter().map(|l| l.rate.mbit_per_sec()).sum::<f64>() / n as f64;
                assert!((mean - 2.0).abs() < 1e-3);
                assert_eq!(drawn.iter().map(|l| l.rtt).min(), Some(Duration::from_millis(5)));
            }
        }
        let least = links(&["rate_spread=least", "rate_asymmetry=50 kbit/s"], 1);
        assert_eq!(least[0].rate, Bandwidth::from_bits_per_sec(100_000));
        assert_eq!(links(&["links=1", "delay_asymmetry=30 ms"], 1)[0].rtt.as_millis(), 5);
    }

    #[test]
    fn the_order_is_the_seeds() {
        let of = |seed| links(&["links=8", "delay_asymmetry=30 ms", "order=random"], seed);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        let sorted = |mut links: Vec<Link>| {
            links.sort_by_key(|link| link.rtt);
            links.into_iter().map(|link| link.rtt).collect::<Vec<_>>()
        };
        assert_eq!(sorted(of(1)), sorted(of(2)));
    }
}

//! The links that a prediction is for, as the user writes them or as a scenario has them.

use core::str::FromStr;
use std::time::Duration;

use polypath_link::{LeafQueue, LinkConfig, Loss, QueueConfig, QueueLimit};
use polypath_model::ModelPath;
use polypath_sim::Direction;
use polypath_sim::run::Plan;
use polypath_sim::topology::{Edge, Route, Topology};
use polypath_units::{Bandwidth, millis, parse_duration};
use serde::Serialize;

/// A link: `RATE,DELAY[,LOSS]`, for example `35.9Mbit/s,40ms,0.1%`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelLink {
    /// What it is called in results.
    pub name: String,
    #[serde(rename = "rate_mbit_s", serialize_with = "mbit_s")]
    rate: Bandwidth,
    /// Half of the way there and back.
    #[serde(rename = "delay_s", serialize_with = "seconds")]
    delay: Duration,
    /// From 0 to below 1.
    loss: f64,
    /// What may wait; none for a bandwidth-delay product.
    queue_bytes: Option<f64>,
}

fn mbit_s<S: serde::Serializer>(rate: &Bandwidth, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rate.mbit_per_sec())
}

fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// A text that is not a link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?}: {reason}; allowed: RATE,DELAY[,LOSS], such as 35.9Mbit/s,40ms,0.1%")]
pub struct ParseModelLinkError {
    given: String,
    reason: String,
}

impl FromStr for ModelLink {
    type Err = ParseModelLinkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map_err(|reason| ParseModelLinkError { given: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> Result<ModelLink, String> {
    let parts: Vec<_> = text.split(',').map(str::trim).collect();
    let (rate, delay, loss) = match parts[..] {
        [rate, delay] => (rate, delay, "0%"),
        [rate, delay, loss] => (rate, delay, loss),
        _ => return Err(format!("it has {} parts, not 2 or 3", parts.len())),
    };
    let link = ModelLink {
        name: text.to_owned(),
        rate: rate.parse().map_err(|error| format!("the rate {error}"))?,
        delay: parse_duration(delay).map_err(|error| format!("the delay {error}"))?,
        loss: parse_loss(loss)?,
        queue_bytes: None,
    };
    match link.rate {
        Bandwidth::ZERO => Err(format!("the rate {rate:?} is 0; it must be above 0")),
        _ => Ok(link),
    }
}

/// `0.1%`, or the share itself: `0.001`.
fn parse_loss(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent, 0.01),
        None => (text, 1.0),
    };
    let loss = number.trim().parse::<f64>().map(|number| number * unit).ok();
    loss.filter(|loss| (0.0..1.0).contains(loss))
        .ok_or_else(|| format!("the loss {text:?} is not a share from 0 to below 1 or 100 %"))
}

impl ModelLink {
    /// As it was measured: its smallest RTT, and the share of packets that it loses.
    pub(in crate::command) fn measured(
        name: String,
        rate: Bandwidth,
        min_rtt: Duration,
        loss: f64,
    ) -> Self {
        Self { name, rate, delay: min_rtt / 2, loss, queue_bytes: None }
    }

    /// As one direction of an emulated link.
    pub(in crate::command) fn config(&self) -> LinkConfig {
        let loss = if self.loss > 0.0 { Loss::Bernoulli(self.loss) } else { Loss::None };
        let config = LinkConfig { loss, ..LinkConfig::new(self.rate, self.delay) };
        match self.queue_bytes {
            Some(bytes) => LinkConfig { queue: QueueLimit::Bytes(bytes as u64).into(), ..config },
            None => config,
        }
    }

    /// In a line.
    pub(in crate::command) fn describe(&self) -> String {
        let delay = millis(self.delay);
        let loss = self.loss * 100.0;
        format!("{}: {}, {delay} ms one way, {loss:.3} % lost", self.name, self.rate)
    }

    /// For the models, which count delays there and back.
    pub(in crate::command) fn path(&self) -> ModelPath {
        let rtt = self.delay * 2;
        let bdp = self.rate.bytes_per_sec() * rtt.as_secs_f64();
        let queue_bytes = self.queue_bytes.unwrap_or(bdp);
        ModelPath { rate: self.rate, rtt, loss: self.loss, queue_bytes }
    }

    /// The paths of a scenario's first connection, in the direction of its first flow: links may be
    /// another way up than down.
    pub(in crate::command) fn of_scenario(plan: &Plan) -> Vec<Self> {
        let Some(planned) = plan.connections().first() else { return Vec::new() };
        let flow = plan.flows_of(planned).next();
        let direction = flow.map_or(Direction::Up, |(_, flow)| flow.direction);
        let routes = planned.routes.iter();
        routes.map(|route| Self::of_route(route, direction, plan.topology())).collect()
    }

    /// A path over these links and back: the slowest one that data takes is its rate and its queue.
    fn of_route(route: &Route, direction: Direction, topology: &Topology) -> Self {
        let back = topology.back(route);
        let edges = |way: &Route| way.0.iter().map(|&link| topology.edge(link)).collect::<Vec<_>>();
        let delay = |way: &Route| edges(way).iter().map(|edge| edge.config.delay).sum::<Duration>();
        let data = edges(if direction == Direction::Up { route } else { &back });
        let rate_of = |edge: &Edge| edge.config.rate.reference();
        let slowest = data.iter().copied().min_by_key(|edge| rate_of(edge));
        let arrives: f64 = data.iter().map(|edge| 1.0 - edge.config.loss.mean()).product();
        Self {
            name: topology.name_of(route),
            rate: slowest.map_or(Bandwidth::ZERO, rate_of),
            delay: (delay(route) + delay(&back)) / 2,
            loss: 1.0 - arrives,
            queue_bytes: slowest.and_then(|edge| queue_bytes(&edge.config)),
        }
    }
}

/// What may wait for a link with one plain queue; `None` for what is said in BDPs or otherwise.
fn queue_bytes(config: &LinkConfig) -> Option<f64> {
    /// What packets are counted as.
    const PACKET: f64 = 1_500.0;
    let QueueConfig::Leaf(LeafQueue::DropTail(limit)) = &config.queue else {
        return None;
    };
    match *limit {
        QueueLimit::Bytes(bytes) => Some(bytes as f64),
        QueueLimit::Packets(packets) => Some(packets as f64 * PACKET),
        QueueLimit::Bdp { multiple, rtt } => {
            let rtt = rtt.unwrap_or(config.delay * 2).as_secs_f64();
            Some(multiple * config.rate.reference().bytes_per_sec() * rtt)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_rates_delays_and_losses() {
        let path = "35.9Mbit/s,40ms,0.1%".parse::<ModelLink>().unwrap().path();
        assert_eq!(path.rate, Bandwidth::from_mbit_per_sec(35.9));
        assert_eq!((path.rtt, path.loss), (Duration::from_millis(80), 0.001));
        assert!((path.queue_bytes - 359_000.0).abs() < 1e-6, "one BDP");
        assert_eq!("1 Gbit/s, 5 ms".parse::<ModelLink>().unwrap().loss, 0.0);
        assert_eq!("1 Gbit/s, 5 ms, 0.02".parse::<ModelLink>().unwrap().loss, 0.02);
    }

    /// 0.0914 s times 1,000 is 91.39999999999999 in floating point.
    #[test]
    fn delays_are_told_without_the_digits_of_floating_point() {
        let link = "8 Mbit/s, 91.4ms".parse::<ModelLink>().unwrap();
        assert!(link.describe().contains(": 8 Mbit/s, 91.4 ms one way,"), "{}", link.describe());
    }

    #[test]
    fn what_cannot_be_is_named_with_what_is_allowed() {
        let wrong = [
            ("0Mbit/s,40ms", "the rate \"0Mbit/s\" is 0"),
            ("-5Mbit/s,40ms", "\"-5Mbit/s\" is not a rate"),
            ("5Mbit/s,-40ms", "\"-40ms\" is not a time"),
            ("5Mbit/s,40ms,200%", "the loss \"200%\" is not a share"),
            ("5Mbit/s,40ms,NaN", "the loss \"NaN\" is not a share"),
            ("5Mbit/s", "it has 1 parts"),
        ];
        for (text, message) in wrong {
            let error = text.parse::<ModelLink>().unwrap_err().to_string();
            assert!(error.contains(message) && error.contains("allowed: RATE,DELAY"), "{error}");
        }
    }
}

//! The kinds of flow.

use super::Sizes;
use crate::scenario::declare::{Located, Refine, choices, keys, tagged};
use crate::traffic::Random;
use polypath_config::{DocumentError, Table};
use polypath_units::{Bandwidth, ByteCount};
use std::time::Duration;

tagged! {
    /// What a flow is.
    #[derive(Clone, Debug, PartialEq)]
    pub enum FlowKind by "kind" {
        /// A transfer as fast as the network allows.
        Bulk(Bulk) = "bulk",
        /// Times of sending and times of silence.
        OnOff(OnOff) = "on_off",
        /// Requests in the flow's direction and responses in the other.
        RequestResponse(RequestResponse) = "request_response",
        /// Packets of one size at equal distances.
        ConstantRate(ConstantRate) = "constant_rate",
        /// Video in chunks, of which the player chooses the bit rate; it goes in the flow's
        /// direction.
        Video(Video) = "video",
    }
}

/// A flow has no rate of its own, which one of datagrams needs: they have no window that would tell
/// how fast to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} has no rate of its own, which a flow of datagrams needs; \
     allowed are \"constant_rate\", and \"on_off\" with a `rate`"
)]
pub struct NoRate(
    /// The kind of the flow.
    pub &'static str,
);

impl FlowKind {
    /// The rate that it keeps by itself.
    ///
    /// # Errors
    /// When it has none.
    pub fn rate(&self) -> Result<Bandwidth, NoRate> {
        match self {
            Self::ConstantRate(flow) => Ok(flow.rate),
            Self::OnOff(OnOff { rate: Some(rate), .. }) => Ok(*rate),
            _ => Err(NoRate(self.name())),
        }
    }
}

keys! {
    /// A transfer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Bulk {
        /// Its size; if not given, it is endless.
        bytes: Option<ByteCount>;
    }
}

keys! {
    /// Times of sending and times of silence.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OnOff {
        /// How long it sends, or the mean of it.
        on: Duration where "1 us" to "24 h";
        /// How long it is silent, or the mean of it.
        off: Duration where "0 s" to "24 h";
        /// How the times are spread.
        durations: Spread = "exponential";
        /// How fast it sends; if not given, as fast as the network allows.
        rate: Option<Bandwidth> where "1 bit/s" to "1000000 Gbit/s";
    }
}

choices! {
    /// How times are spread around their mean.
    pub enum Spread {
        /// They are all equal.
        Constant = "constant",
        /// Exponentially, as between the events of a Poisson process.
        Exponential = "exponential",
    }
}

impl Spread {
    /// A time with this mean.
    pub fn draw(self, mean: Duration, random: &mut Random) -> Duration {
        match self {
            Self::Constant => mean,
            Self::Exponential => mean.mul_f64(random.exponential()),
        }
    }
}

keys! {
    /// Requests and responses.
    pub(in crate::scenario) struct RequestKeys {
        /// The size of a request.
        request: ByteCount = "200 B" where "1 B" to "1000 GB";
        /// The size of a response.
        response: Sizes;
        /// The time between a response and the next request: a closed loop of one user.
        think: Option<Duration> where "0 s" to "24 h";
        /// The time between two requests, whether or not there was a response: an open loop.
        interarrival: Option<Located<Duration>> where "1 us" to "24 h";
        /// How these times are spread around their mean.
        times: Spread = "exponential";
        /// After so many requests the flow ends.
        requests: Option<u32> where 1 to 4294967295;
    }
}

/// Requests and responses.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResponse {
    /// The size of a request.
    pub request: ByteCount,
    /// The size of a response.
    pub response: Sizes,
    /// When the next request is made.
    pub next: NextRequest,
    /// How its times are spread around their mean.
    pub times: Spread,
    /// After so many requests the flow ends.
    pub requests: Option<u32>,
}

/// When the next request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRequest {
    /// This long after the response: a closed loop.
    AfterResponse(Duration),
    /// This long after the request before it: an open loop.
    AfterRequest(Duration),
}

impl Refine for RequestResponse {
    type Raw = RequestKeys;

    fn refine(keys: RequestKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        let RequestKeys { request, response, think, interarrival, times, requests } = keys;
        let next = match (think, interarrival) {
            (Some(_), Some(interarrival)) => {
                let problem = "requests come after a `think` time (a closed loop) or at an \
                               `interarrival` time (an open loop), not both";
                return Err(interarrival.wrong(problem));
            }
            (None, Some(interarrival)) => NextRequest::AfterRequest(interarrival.value),
            (think, None) => NextRequest::AfterResponse(think.unwrap_or_default()),
        };
        Ok(Self { request, response, next, times, requests })
    }
}

keys! {
    /// Packets of one size at equal distances.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ConstantRate {
        /// The rate of the payload.
        rate: Bandwidth where "1 bit/s" to "1000000 Gbit/s";
        /// The size of each packet's payload.
        packet: ByteCount = "1200 B" where "1 B" to "65507 B";
        /// How long a packet may take to be of use; results then tell how many took no longer.
        deadline: Option<Duration> where "1 us" to "1 h";
    }
}

keys! {
    /// Video in chunks.
    pub(in crate::scenario) struct VideoKeys {
        /// How much time a chunk plays.
        chunk: Duration = "4 s" where "10 ms" to "1 min";
        /// The bit rates in which each chunk is to be had, in ascending order.
        bit_rates: Located<Vec<Bandwidth>>;
        /// How much the player loads ahead.
        buffer: Located<Duration> = "30 s" where "10 ms" to "1 h";
    }
}

/// Video in chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Video {
    /// How much time a chunk plays.
    pub chunk: Duration,
    /// The bit rates in which each chunk is to be had, in ascending order, at least one.
    pub bit_rates: Vec<Bandwidth>,
    /// How much the player loads ahead, at least a chunk.
    pub buffer: Duration,
}

impl Refine for Video {
    type Raw = VideoKeys;

    fn refine(keys: VideoKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        let VideoKeys { chunk, bit_rates, buffer } = keys;
        let rates = &bit_rates.value;
        if rates.first().is_none_or(|&lowest| lowest == Bandwidth::ZERO) {
            return Err(bit_rates.wrong("at least one rate above zero is needed"));
        }
        if let Some(pair) = rates.windows(2).find(|pair| pair[1] <= pair[0]) {
            let (low, high) = (pair[0], pair[1]);
            return Err(bit_rates.wrong(format_args!("{high} after {low}; rates must ascend")));
        }
        if buffer.value < chunk {
            return Err(buffer.wrong("must hold at least one `chunk`"));
        }
        Ok(Self { chunk, bit_rates: bit_rates.value, buffer: buffer.value })
    }
}

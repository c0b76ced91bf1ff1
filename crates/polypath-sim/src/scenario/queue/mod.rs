//! The keys that describe a queue.

mod classful;
mod leaf;
mod limit;

pub(super) use limit::Bytes;

use super::declare::{Readable, Shape, tagged};
use leaf::DropTailKeys;
use polypath_config::{DocumentError, Value};
use polypath_link::{
    CoDelConfig, FqCoDelConfig, HtbConfig, LeafQueue, PriorityConfig, QueueConfig, QueueLimit,
    RedConfig, TokenBucketConfig,
};

tagged! {
    /// A queue discipline.
    enum QueueKeys by "kind" {
        /// First in, first out; what does not fit is dropped.
        DropTail(DropTailKeys) = "drop_tail",
        /// Random early detection: drops at random, the more the longer the average queue.
        Red(RedConfig) = "red",
        /// Controlled delay: drops while the delay has stayed above a target for an interval.
        CoDel(CoDelConfig) = "codel",
        /// Flow queues in deficit round robin, each under CoDel; sparse flows first.
        FqCoDel(FqCoDelConfig) = "fq_codel",
        /// Bands, of which one sends only while all before it are empty.
        Priority(PriorityConfig) = "priority",
        /// A shaper before the rate of the link.
        TokenBucket(TokenBucketConfig) = "token_bucket",
        /// A tree of classes with a rate each, which lend each other what they do not use.
        Htb(HtbConfig) = "htb",
    }
}

tagged! {
    /// A queue inside another one.
    enum LeafKeys by "kind" {
        /// First in, first out; what does not fit is dropped.
        DropTail(DropTailKeys) = "drop_tail",
        /// Random early detection.
        Red(RedConfig) = "red",
        /// Controlled delay.
        CoDel(CoDelConfig) = "codel",
        /// Flow queues with controlled delay.
        FqCoDel(FqCoDelConfig) = "fq_codel",
    }
}

impl Readable for QueueConfig {
    fn shape() -> Shape {
        Shape::OneOf(vec![QueueLimit::shape(), QueueKeys::shape()])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        let queue: Self = match value.is_table() {
            true => QueueKeys::read(value)?.into(),
            false => QueueLimit::read(value)?.into(),
        };
        queue.check().map_err(|problem| value.wrong(problem))?;
        Ok(queue)
    }
}

impl From<QueueKeys> for QueueConfig {
    fn from(keys: QueueKeys) -> Self {
        match keys {
            QueueKeys::DropTail(keys) => keys.limit.into(),
            QueueKeys::Red(config) => config.into(),
            QueueKeys::CoDel(config) => config.into(),
            QueueKeys::FqCoDel(config) => config.into(),
            QueueKeys::Priority(config) => config.into(),
            QueueKeys::TokenBucket(config) => config.into(),
            QueueKeys::Htb(config) => config.into(),
        }
    }
}

impl Readable for LeafQueue {
    fn shape() -> Shape {
        Shape::OneOf(vec![QueueLimit::shape(), LeafKeys::shape()])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        if !value.is_table() {
            return QueueLimit::read(value).map(Self::DropTail);
        }
        Ok(match LeafKeys::read(value)? {
            LeafKeys::DropTail(keys) => keys.limit.into(),
            LeafKeys::Red(config) => config.into(),
            LeafKeys::CoDel(config) => config.into(),
            LeafKeys::FqCoDel(config) => config.into(),
        })
    }
}

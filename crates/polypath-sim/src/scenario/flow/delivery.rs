//! Whether a flow goes through the stream of its connection, or as datagrams beside it.

use super::FlowKind;
use crate::endpoint::NUMBER_BYTES;
use crate::scenario::connection::Transport;
use crate::scenario::declare::{Located, choices, keys};
use polypath_bond::{FlowConfig, FlowMode};
use polypath_config::DocumentError;
use std::time::Duration;

choices! {
    /// How a flow is carried.
    pub(in crate::scenario) enum Delivery {
        /// In the stream of the connection: whole, and in order.
        Stream = "stream",
        /// As datagrams of a bond, beside its stream: none is sent again.
        Datagram = "datagram",
    }
}

choices! { for FlowMode {
    /// Spread over all paths, for rate.
    Aggregate = "aggregate",
    /// Each on every path, for certainty.
    Redundant = "redundant",
    /// All on the best path, for delay.
    Best = "best",
    /// Each on the path of smallest delay when it is sent.
    SmallestDelay = "smallest_delay",
    /// Spread over all paths in proportion to what they carry.
    LoadBalancing = "load_balancing",
} }

keys! {
    /// How a flow is carried.
    pub(in crate::scenario) struct DeliveryKeys {
        /// How it is carried. Over UDP a flow consists of datagrams without being told.
        delivery: Delivery = "stream";
        /// Which paths its datagrams take; if not given, `aggregate`.
        mode: Option<Located<FlowMode>>;
        /// How long a datagram waits for those before it; if not given, as long as
        /// datagrams come late.
        resequence: Option<Located<Duration>> where "0 s" to "1 min";
    }
}

impl DeliveryKeys {
    /// How the datagrams of the flow are carried; `None` if it goes through the stream.
    pub(super) fn datagrams<T>(
        &self,
        kind: &FlowKind,
        transport: &Transport,
        table: &Located<T>,
    ) -> Result<Option<FlowConfig>, DocumentError> {
        let Self { delivery, mode, resequence } = self;
        if *delivery == Delivery::Stream {
            const PROBLEM: &str = "is for flows with `delivery = \"datagram\"`";
            let given = mode.as_ref().map(|mode| mode.wrong(PROBLEM));
            let given = given.or_else(|| resequence.as_ref().map(|wait| wait.wrong(PROBLEM)));
            return given.map_or(Ok(None), Err);
        }
        if !matches!(transport, Transport::Bond(_)) {
            let name = transport.name();
            return Err(table.wrong(format_args!(
                "`delivery = \"datagram\"` is for a connection by \"bond\"; this one is by {name:?}"
            )));
        }
        kind.rate().map_err(|problem| table.wrong(problem))?;
        if let FlowKind::ConstantRate(flow) = kind
            && flow.packet.get() < NUMBER_BYTES
        {
            return Err(table.wrong(format_args!(
                "a `packet` has its number in it: at least {NUMBER_BYTES} B with \
                 `delivery = \"datagram\"`"
            )));
        }
        let mode = mode.as_ref().map_or(FlowMode::default(), |mode| mode.value);
        let resequence = resequence.as_ref().map(|wait| wait.value);
        Ok(Some(FlowConfig { resequence, ..FlowConfig::of(mode) }))
    }
}

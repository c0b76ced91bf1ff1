//! What advice is for.

/// What is wanted most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The highest goodput of a long transfer.
    #[default]
    Throughput,
    /// The least time until data is delivered in order, in the 99th percentile.
    Latency,
    /// The highest goodput that is left when the most important link dies.
    Reliability,
    /// The least cost per GB.
    Cost,
}

polypath_units::named!(Goal, "is no goal of advice", {
    Throughput => "throughput",
    Latency => "latency",
    Reliability => "reliability",
    Cost => "cost",
});

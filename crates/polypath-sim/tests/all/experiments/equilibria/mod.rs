//! Where congestion controls settle, against theory (docs/algorithms/equilibria.md).
//!
//! The networks are those of `scenarios/equilibria`. Each figure is a median over seeds, and
//! golden: after a change on purpose, `UPDATE_GOLDEN=1 cargo test -p polypath-sim --test all
//! experiments::equilibria` writes them anew.

mod congested;
mod disjoint;
pub(crate) mod round_trips;
mod runs;
pub(crate) mod shared;
pub(crate) mod short_queues;
mod table;

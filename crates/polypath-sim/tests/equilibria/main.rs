//! Where congestion controls settle, against theory (docs/algorithms/equilibria.md).
//!
//! The networks are those of `scenarios/equilibria`. Each figure is a median over seeds, and
//! golden: after a change on purpose, `UPDATE_GOLDEN=1 cargo test -p polypath-sim --test
//! equilibria` writes them anew.

#[path = "../common/mod.rs"]
mod common;

mod congested;
mod disjoint;
mod round_trips;
mod runs;
mod shared;
mod short_queues;
mod table;

//! The laboratory: simulations, models, comparisons, experiments and emulated links on one command
//! line, `polypath-lab`, which `polypath` runs for the commands that are not its own.
//!
//! - [`compare`]: combinations of algorithms against each other over a fixed suite of scenarios,
//!   and against TCP and Multipath TCP over scenarios that a seed draws.
//! - [`experiment`]: the experiments of papers, and what becomes of their claims.
//! - [`trial`]: a bond over a few links, as advice sees them.
//! - [`store`]: results of many runs on disk.
//! - [`mod@bench`]: what the simulator costs.
//! - [`demo`]: a real file over emulated links.
//! - [`report`]: results as pages with charts.
#![forbid(unsafe_code)]

pub mod bench;
pub mod command;
pub mod compare;
mod cpu;
pub mod demo;
pub mod experiment;
pub mod fec;
mod network;
pub mod report;
pub mod store;
pub mod trial;

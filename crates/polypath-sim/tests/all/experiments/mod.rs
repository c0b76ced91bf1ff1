//! Measurements: whole tables, medians over seeds, every case of a sweep, many random runs. A small
//! case of each is among the tests, mostly by the same name, and fails first when something breaks.

mod bond_switches;
mod busy_hosts;
mod demo;
pub(crate) mod equilibria;
mod failure;
mod gateway;
mod goodput;
pub(crate) mod grid;
mod hostile;
mod light_bond;
mod longer_path;
mod mptcp;
mod random_scripts;
mod runs;
pub(crate) mod short_transfers;
pub(crate) mod theory;

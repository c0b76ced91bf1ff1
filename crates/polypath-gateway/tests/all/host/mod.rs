//! Plans on hosts of their own.

mod edge;
mod hub;
mod kill_switch;
mod network;
mod removal;

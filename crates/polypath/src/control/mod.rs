//! The control socket: what a running hub or edge says of itself.
//!
//! By default it lies in the first of a few places that will do ([`ControlSocket::open`]), and who
//! asks looks into the same.
//!
//! A Unix-domain socket that only its owner may open. Each connection gets one JSON object, a
//! [`Status`], and is closed; nothing is read from it.

mod client;
mod place;
mod rule_table;
mod server;
mod status;
mod table;

pub use client::ask;
pub use rule_table::{RuleNumber, rule_table};
pub use server::{ControlError, ControlSocket};
pub use status::{BondReport, PathReport, QuotaReport, Role, SameKeyReport, Status};

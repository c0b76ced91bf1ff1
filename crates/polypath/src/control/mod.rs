//! The control socket: what a running hub or edge says of itself.
//!
//! By default it lies in the first of a few places that will do ([`ControlSocket::open`]), and who
//! asks looks into the same.
//!
//! A Unix-domain socket that only its owner may open. Each connection gets one JSON object and is
//! closed. A client may say in one line what it asks for; one that says nothing, or ends what it
//! says, gets a [`Status`].

mod client;
mod conversation_table;
mod place;
mod request;
mod rule_table;
mod server;
mod status;
mod subflow_table;
mod table;

pub use client::{ask, ask_conversations};
pub use conversation_table::conversation_table;
pub use request::Refusal;
pub(crate) use request::{CONVERSATIONS, MOST_CONVERSATIONS};
pub use rule_table::{RuleNumber, rule_table};
pub use server::{ControlError, ControlSocket};
pub use status::{BondReport, PathReport, QuotaReport, Role, SameKeyReport, Status};

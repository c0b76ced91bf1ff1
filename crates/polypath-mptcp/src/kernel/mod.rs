//! What the kernel tells and is told, over netlink.

mod channel;
mod events;
mod path_manager;
mod sockets;

pub use events::Events;
pub use path_manager::PathManager;
pub use sockets::{Sockets, decode_subflow};

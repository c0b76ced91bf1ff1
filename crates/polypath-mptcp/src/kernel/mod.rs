//! What the kernel tells and is told, over netlink.

mod channel;
mod events;
mod path_manager;
mod sockets;
mod tcp_socket;

pub use events::Events;
pub use path_manager::PathManager;
pub use sockets::Sockets;
pub use tcp_socket::{Multipath, TcpSocket, decode_subflow};

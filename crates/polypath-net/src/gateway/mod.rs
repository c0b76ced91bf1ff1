//! Gateways: IP packets of an edge's host, and of networks behind it, through the hub.
//!
//! Packets travel in datagram flows of the bond (docs/tunnel.md, section 6). Those of a
//! conversation stay in one flow, in which they are numbered and put in order again, so that a hole
//! in one conversation does not hold up another.
//!
//! Nothing here touches the host: packets come from, and go to, whoever has the device.

mod counters;
mod edge;
mod edge_conversations;
mod hub;
mod hub_conversations;
mod learnt;
mod leases;
mod message;
mod session;
mod tally;
mod telling;
mod user_space;

pub use counters::{GatewayCounts, PacketFate};
pub use edge::{EdgeGateway, GatewayError, Grant};
pub use hub::{GatewayFailed, HubGateway, HubGatewayOptions};
pub use leases::{Leases, LeasesError};

use std::num::{NonZeroU32, NonZeroUsize};

use polypath_ip::HashKey;
use ring::rand::{SecureRandom, SystemRandom};

/// Conversations that an end of a gateway remembers, for each edge. Of more, the one that was
/// silent for longest is forgotten; it may be put in another flow then, in which its packets can
/// overtake those before.
const MAX_CONVERSATIONS: NonZeroU32 = NonZeroU32::new(16_384).unwrap();

/// Packets between a gateway and the device, in each direction: 1.5 MB of full ones, which take 12
/// ms at 1 Gbit/s. Beyond, those that come from the peer wait in their flows.
pub const PACKET_QUEUE: usize = 1_024;

/// Packets that are taken out of a flow at once.
const BATCH: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// A key that outsiders do not know; `None` when the system has no randomness to give.
fn random_key() -> Option<HashKey> {
    let mut key = HashKey::default();
    SystemRandom::new().fill(&mut key).ok()?;
    Some(key)
}

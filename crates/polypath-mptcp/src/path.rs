//! The paths that subflows are made on.

use std::net::IpAddr;

/// An address of an interface that subflows may begin at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// The name of the interface.
    pub interface: String,
    /// Its index.
    pub index: u32,
    /// The address.
    pub address: IpAddr,
    /// Its address identifier (RFC 8684 section 3.2), not 0.
    pub id: u8,
    /// Whether it is used only while no other works (the active-standby mode of 3GPP TS 23.501
    /// section 5.32.8).
    pub backup: bool,
    /// Paths with the lowest number are used; others only while none of these works (the
    /// priority-based mode, without a measure of congestion).
    pub priority: u8,
}

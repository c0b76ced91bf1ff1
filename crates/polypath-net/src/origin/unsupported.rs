//! Systems of which nobody knows how to ask them.

use std::io;
use std::net::SocketAddr;

use super::{Ends, Known};

/// Nothing is known.
///
/// # Errors
/// None.
pub(crate) fn of_connection(_: Ends) -> io::Result<Known> {
    Ok(Known::default())
}

/// Nothing is known.
///
/// # Errors
/// None.
pub(crate) fn of_packet(_: Ends) -> io::Result<Known> {
    Ok(Known::default())
}

/// Nothing is known.
///
/// # Errors
/// None.
pub(crate) fn source_of_packet(_: Ends) -> io::Result<Option<SocketAddr>> {
    Ok(None)
}

//! What can go wrong with a TUN device.

use std::io;

use crate::InterfaceName;

/// There is no TUN device, or it can no longer be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No right to make one.
    #[error("a TUN device ({name}) needs CAP_NET_ADMIN, and /dev/net/tun to be open to this user")]
    Permission {
        /// Its name.
        name: InterfaceName,
    },
    /// The kernel has no TUN devices.
    #[error("no TUN device {name}: /dev/net/tun is not there; load the kernel module tun")]
    NoDriver {
        /// Its name.
        name: InterfaceName,
    },
    /// The name is taken.
    #[error("there is an interface {name} already; allowed: a name that no interface has")]
    Exists {
        /// The name.
        name: InterfaceName,
    },
    /// The kernel did not make it.
    #[error("TUN device {name}: {error}")]
    Create {
        /// Its name.
        name: InterfaceName,
        /// What the operating system said.
        error: io::Error,
    },
    /// The kernel did not take its addresses or other settings.
    #[error("TUN device {name}: setting {what}: {error}")]
    Configure {
        /// Its name.
        name: InterfaceName,
        /// What was to be set.
        what: String,
        /// What the operating system said.
        error: io::Error,
    },
    /// It is not there any more. Another one can be made.
    #[error("the TUN device {name} is gone: something else has deleted it; make it again")]
    Gone {
        /// Its name.
        name: InterfaceName,
    },
    /// It has been switched off, which takes its routes away. Another one can be made once it is
    /// dropped.
    #[error("the TUN device {name} is down: something else has switched it off; make it again")]
    Down {
        /// Its name.
        name: InterfaceName,
    },
    /// Packets cannot be read or written.
    #[error("TUN device {name}: {error}")]
    Io {
        /// Its name.
        name: InterfaceName,
        /// What the operating system said.
        error: io::Error,
    },
    /// This operating system has no implementation.
    #[error("TUN devices are not supported on {0}; they are on linux")]
    Unsupported(&'static str),
}

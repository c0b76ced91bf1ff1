//! The two ends of a connection.

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The one that opens it.
    Client,
    /// The other one.
    Server,
}

impl End {
    /// Both, in the order of [`Subject::ends`](super::Subject::ends).
    pub const BOTH: [Self; 2] = [Self::Client, Self::Server];

    /// `client` or `server`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    /// The end that it sends to.
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Its place in [`Subject::ends`](super::Subject::ends).
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

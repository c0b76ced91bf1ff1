//! Who opened a stream or a flow, and its number.

use std::fmt;

/// How many flows a side can have open; one counts until its FLOW_CLOSE is acknowledged.
pub(crate) const MAX_FLOWS: u64 = 1024;

/// An end of the bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The multi-homed end: it opens the bond and its paths.
    Edge,
    /// The aggregating end.
    Hub,
}

impl Side {
    /// The other end.
    #[must_use]
    pub const fn peer(self) -> Self {
        match self {
            Self::Edge => Self::Hub,
            Self::Hub => Self::Edge,
        }
    }

    const fn bit(self) -> u64 {
        match self {
            Self::Edge => 0,
            Self::Hub => 1,
        }
    }

    const fn of(number: u64) -> Self {
        if number & 1 == 0 { Self::Edge } else { Self::Hub }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Edge => "edge",
            Self::Hub => "hub",
        })
    }
}

macro_rules! numbered {
    ($name:ident, $what:literal) => {
        #[doc = concat!("The number of a ", $what, ": bit 0 is 0 if the edge opened it, 1 if the hub did;")]
        #[doc = "the bits above count what that side opened, from 0. At most 2^62 - 1."]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl $name {
            #[doc = concat!("The ", $what, " number `index` (from 0, below 2^61) of those that `initiator` opened.")]
            pub const fn new(initiator: Side, index: u64) -> Self {
                Self(index << 1 | initiator.bit())
            }

            /// The side that opened it.
            pub(crate) const fn initiator(self) -> Side {
                Side::of(self.0)
            }

            /// Its position among those that its side opened, from 0.
            pub const fn index(self) -> u64 {
                self.0 >> 1
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($what, " {} of the {}"), self.index(), self.initiator())
            }
        }
    };
}

numbered!(StreamId, "stream");
numbered!(FlowId, "flow");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_0_is_the_side_that_opened() {
        assert_eq!(StreamId::new(Side::Edge, 3), StreamId(6));
        assert_eq!(FlowId::new(Side::Hub, 3), FlowId(7));
        assert_eq!(FlowId(7).initiator(), Side::Hub);
        assert_eq!(StreamId(6).initiator(), Side::Edge.peer().peer());
        assert_eq!(StreamId(7).index(), 3);
        assert_eq!(StreamId(7).to_string(), "stream 3 of the hub");
    }
}
